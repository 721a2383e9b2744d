/* std::timed_mutex, std::recursive_timed_mutex: try_lock_for and try_lock_until, on both clocks. */
/* tests: pthread_mutex_clocklock pthread_mutex_timedlock */
/* ops: MUTEX_LOCK MUTEX_UNLOCK MUTEX_TRYLOCK */
#include "check.h"
#include <chrono>
#include <mutex>
#include <thread>

using namespace std::chrono_literals;

namespace
{
template <typename Mutex> void test()
{
    Mutex mutex;
    CHECK(mutex.try_lock_for(0s));
    std::thread([&] {
        auto steady = std::chrono::steady_clock::now();
        CHECK(!mutex.try_lock_for(10ms));
        CHECK(std::chrono::steady_clock::now() - steady >= 10ms);
        auto when = std::chrono::system_clock::now() + 10ms;
        CHECK(!mutex.try_lock_until(when));
        CHECK(std::chrono::system_clock::now() >= when);
        CHECK(!mutex.try_lock_until(steady)); /* in the past */
        CHECK(!mutex.try_lock());
    }).join();
    std::thread waiting([&] {
        CHECK(mutex.try_lock_for(1000s));
        mutex.unlock();
        CHECK(mutex.try_lock_until(std::chrono::system_clock::now() + 1000s));
        mutex.unlock();
    });
    mutex.unlock();
    waiting.join();
}
} // namespace

int main()
{
    test<std::timed_mutex>();
    test<std::recursive_timed_mutex>();
    std::recursive_timed_mutex mutex;
    CHECK(mutex.try_lock_for(1ms));
    CHECK(mutex.try_lock_for(1ms));
    CHECK(mutex.try_lock());
    for (int i = 0; i < 3; i++)
        mutex.unlock();
    return 0;
}
