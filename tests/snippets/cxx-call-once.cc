/* std::call_once: once, and with a function that throws: again. */
/* tests: pthread_once */
/* ops: ONCE */
#include "check.h"
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

int main()
{
    std::once_flag flag, throwing;
    int runs = 0, attempts = 0;
    bool complete = false;
    std::vector<std::thread> threads;
    for (int i = 0; i < 5; i++)
        threads.emplace_back([&] {
            std::call_once(flag, [&] {
                runs++;
                std::this_thread::yield();
                complete = true;
            });
            CHECK(complete);
        });
    for (std::thread &thread : threads)
        thread.join();
    CHECK_EQ(runs, 1);

    threads.clear();
    int caught = 0;
    std::mutex lock;
    for (int i = 0; i < 4; i++)
        threads.emplace_back([&] {
            try {
                std::call_once(throwing, [&] {
                    std::this_thread::yield();
                    if (++attempts <= 2)
                        throw std::runtime_error("not yet");
                });
                CHECK_EQ(attempts, 3);
            } catch (const std::runtime_error &) {
                std::lock_guard<std::mutex> guard(lock);
                caught++;
            }
        });
    for (std::thread &thread : threads)
        thread.join();
    /* The first two that ran it failed; of the other two, one ran it, and one found it done. */
    CHECK_EQ(caught, 2);
    CHECK_EQ(attempts, 3);
    return 0;
}
