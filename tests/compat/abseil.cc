/* A queue of 8 places, and a counter that 4 threads contend for, by Abseil's locks, which spin before they sleep.
 * Usage: abseil ITEMS */
#include <absl/synchronization/mutex.h>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <thread>
#include <vector>

int main(int argc, char **argv)
{
    const int items = argc > 1 ? atoi(argv[1]) : 1000;
    absl::Mutex mutex;
    absl::CondVar filled, emptied;
    std::deque<int> queue;
    bool done = false;
    long sum = 0, count = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; i++)
        threads.emplace_back([&] {
            for (;;) {
                absl::MutexLock lock(&mutex);
                while (queue.empty() && !done)
                    filled.Wait(&mutex);
                if (queue.empty())
                    return;
                sum += queue.front();
                queue.pop_front();
                emptied.Signal();
            }
        });
    for (int i = 0; i < items; i++) {
        absl::MutexLock lock(&mutex);
        while (queue.size() >= 8)
            emptied.Wait(&mutex);
        queue.push_back(i);
        filled.Signal();
    }
    {
        absl::MutexLock lock(&mutex);
        done = true;
        filled.SignalAll();
    }
    for (auto &thread : threads)
        thread.join();
    threads.clear();
    for (int i = 0; i < 4; i++)
        threads.emplace_back([&] {
            for (int k = 0; k < items; k++) {
                absl::MutexLock lock(&mutex);
                count++;
            }
        });
    for (auto &thread : threads)
        thread.join();
    printf("%ld %ld\n", sum, count);
    return 0;
}
