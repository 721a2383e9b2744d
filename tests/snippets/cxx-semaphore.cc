/* std::counting_semaphore, std::binary_semaphore: futexes by syscall(); timed forms on both clocks. */
/* tests: syscall */
/* ops: FUTEX_WAIT FUTEX_WAKE */
#include "check.h"
#include <atomic>
#include <chrono>
#include <semaphore>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

int main()
{
    std::counting_semaphore<4> slots(2);
    std::atomic<int> inside = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++)
        threads.emplace_back([&] {
            for (int j = 0; j < 5; j++) {
                slots.acquire();
                CHECK(++inside <= 2);
                std::this_thread::yield();
                inside--;
                slots.release();
            }
        });
    for (std::thread &thread : threads)
        thread.join();

    std::binary_semaphore ping(0), pong(0);
    std::thread other([&] {
        for (int i = 0; i < 10; i++) {
            ping.acquire();
            pong.release();
        }
    });
    for (int i = 0; i < 10; i++) {
        ping.release();
        pong.acquire();
    }
    other.join();

    CHECK(!ping.try_acquire());
    auto steady = std::chrono::steady_clock::now();
    CHECK(!ping.try_acquire_for(10ms));
    CHECK(std::chrono::steady_clock::now() - steady >= 10ms);
    auto when = std::chrono::system_clock::now() + 10ms;
    CHECK(!ping.try_acquire_until(when));
    CHECK(std::chrono::system_clock::now() >= when);
    std::thread releasing([&] { ping.release(); });
    CHECK(ping.try_acquire_for(1000s));
    releasing.join();

    std::thread many([&] {
        for (int i = 0; i < 4; i++)
            slots.acquire();
    });
    slots.release(2);
    many.join();
    CHECK(!slots.try_acquire());
    return 0;
}
