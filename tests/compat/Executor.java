/* A Java program with executors: a fixed pool, a fork-join pool with a parallel stream, futures that depend on each
 * other, a scheduled task, a blocking queue. What it prints does not depend on the order in which its threads run. */

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;

public class Executor {
    static long collatz(long n) {
        long length = 1;
        for (; n != 1; length++)
            n = n % 2 == 0 ? n / 2 : 3 * n + 1;
        return length;
    }

    static long pool(ExecutorService executor) throws Exception {
        List<Future<Long>> results = new ArrayList<>();
        for (int i = 1; i <= 50; i++) {
            final int n = i;
            results.add(executor.submit(() -> collatz(n)));
        }
        long sum = 0;
        for (Future<Long> result : results)
            sum += result.get();
        return sum;
    }

    static long queue(ExecutorService executor) throws Exception {
        BlockingQueue<Integer> queue = new ArrayBlockingQueue<>(3);
        LongAdder sum = new LongAdder();
        CountDownLatch done = new CountDownLatch(2);
        for (int i = 0; i < 2; i++)
            executor.submit(() -> {
                for (int n = queue.take(); n != 0; n = queue.take())
                    sum.add(n);
                done.countDown();
                return null;
            });
        for (int n = 1; n <= 100; n++)
            queue.put(n);
        queue.put(0);
        queue.put(0);
        done.await();
        return sum.sum();
    }

    public static void main(String[] arguments) throws Exception {
        ExecutorService executor = Executors.newFixedThreadPool(4);
        System.out.println("pool " + pool(executor));
        System.out.println("queue " + queue(executor));
        System.out.println("future " + CompletableFuture.supplyAsync(() -> 6, executor)
            .thenCombine(CompletableFuture.supplyAsync(() -> 7, executor), (a, b) -> a * b).get());
        System.out.println("stream " + IntStream.rangeClosed(1, 2000).parallel().mapToLong(Executor::collatz).sum());
        ScheduledExecutorService timer = Executors.newScheduledThreadPool(1);
        System.out.println("timer " + timer.schedule(() -> "fired", 20, TimeUnit.MILLISECONDS).get());
        timer.shutdown();
        executor.shutdown();
        System.out.println("ended " + executor.awaitTermination(60, TimeUnit.SECONDS)
            + " " + timer.awaitTermination(60, TimeUnit.SECONDS));
    }
}
