"""Python's threads as programs use them: a queue with workers, a pool, an event, a barrier, a condition, a timer, and
subprocesses that are fed and read by threads. What it prints does not depend on the order in which its threads run."""

import concurrent.futures
import hashlib
import queue
import subprocess
import threading


def queue_of_work(workers, items):
    """Hash the items in threads that take them from one queue and put the results into another."""
    todo, done = queue.Queue(maxsize=4), queue.Queue()

    def work():
        while (item := todo.get()) is not None:
            done.put((item, hashlib.sha256(str(item).encode()).hexdigest()[:8]))
            todo.task_done()

    threads = [threading.Thread(target=work) for _ in range(workers)]
    for thread in threads:
        thread.start()
    for item in range(items):
        todo.put(item)
    todo.join()
    for _ in threads:
        todo.put(None)
    for thread in threads:
        thread.join()
    return sorted(done.get() for _ in range(items))


def pool_of_threads():
    with concurrent.futures.ThreadPoolExecutor(max_workers=4) as pool:
        return list(pool.map(lambda n: n * n, range(40)))


def rendezvous(parties):
    """All wait at a barrier three times; the last one of each round counts."""
    rounds, lock = [0], threading.Lock()
    barrier = threading.Barrier(parties)

    def work():
        for _ in range(3):
            if barrier.wait(timeout=60) == 0:
                with lock:
                    rounds[0] += 1

    threads = [threading.Thread(target=work) for _ in range(parties)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return rounds[0]


def event_and_timer():
    event, fired = threading.Event(), []
    timer = threading.Timer(0.05, lambda: (fired.append(True), event.set()))
    early = event.wait(timeout=0.001)
    timer.start()
    late = event.wait(timeout=60)
    timer.join()
    return early, late, fired


def bounded_buffer():
    """Two producers and two consumers around a condition variable."""
    condition, buffer, taken = threading.Condition(), [], []

    def produce(first):
        for n in range(first, first + 20):
            with condition:
                condition.wait_for(lambda: len(buffer) < 3)
                buffer.append(n)
                condition.notify_all()

    def consume():
        for _ in range(20):
            with condition:
                condition.wait_for(lambda: buffer)
                taken.append(buffer.pop())
                condition.notify_all()

    threads = [threading.Thread(target=produce, args=(n,)) for n in (0, 100)]
    threads += [threading.Thread(target=consume) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sorted(taken)


def subprocesses(count):
    """Each thread runs a filter, and communicate() starts threads or polls."""

    def run(n):
        text = "\n".join(str(i * n % 17) for i in range(50))
        sort = subprocess.run(["sort", "-n"], input=text, capture_output=True, text=True, check=True)
        return n, sort.stdout.split()[-1]

    with concurrent.futures.ThreadPoolExecutor(max_workers=3) as pool:
        return sorted(pool.map(run, range(1, count + 1)))


print("queue", queue_of_work(4, 30))
print("pool", sum(pool_of_threads()))
print("barrier", rendezvous(4))
print("event", event_and_timer())
print("condition", bounded_buffer())
print("subprocesses", subprocesses(6))
