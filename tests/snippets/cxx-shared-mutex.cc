/* std::shared_mutex, std::shared_timed_mutex: readers share, writers do not; timed forms on both clocks. */
/* tests: pthread_rwlock_rdlock pthread_rwlock_wrlock pthread_rwlock_tryrdlock pthread_rwlock_trywrlock */
/* tests: pthread_rwlock_clockrdlock pthread_rwlock_clockwrlock pthread_rwlock_timedrdlock pthread_rwlock_unlock */
/* ops: RWLOCK_RDLOCK RWLOCK_WRLOCK RWLOCK_TRYRDLOCK RWLOCK_TRYWRLOCK RWLOCK_UNLOCK */
#include "check.h"
#include <chrono>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

namespace
{
std::shared_mutex shared;
int value[2];

template <typename Function> void in_threads(int count, Function function)
{
    std::vector<std::thread> threads;
    for (int i = 0; i < count; i++)
        threads.emplace_back(function, i);
    for (std::thread &thread : threads)
        thread.join();
}

void test_timed()
{
    std::shared_timed_mutex timed;
    CHECK(timed.try_lock_for(0s));
    in_threads(1, [&](int) {
        auto steady = std::chrono::steady_clock::now();
        CHECK(!timed.try_lock_for(5ms));
        CHECK(!timed.try_lock_shared_for(5ms));
        CHECK(std::chrono::steady_clock::now() - steady >= 10ms);
        auto when = std::chrono::system_clock::now() + 5ms;
        CHECK(!timed.try_lock_shared_until(when));
        CHECK(!timed.try_lock_until(when));
        CHECK(std::chrono::system_clock::now() >= when);
    });
    timed.unlock();
    CHECK(timed.try_lock_shared_for(1000s));
    in_threads(2, [&](int) {
        CHECK(timed.try_lock_shared_until(std::chrono::steady_clock::now() + 1000s));
        timed.unlock_shared();
        CHECK(!timed.try_lock_for(1ms));
    });
    timed.unlock_shared();
}
} // namespace

int main()
{
    in_threads(5, [](int me) {
        for (int i = 0; i < 8; i++) {
            if (me < 2) {
                std::unique_lock<std::shared_mutex> guard(shared);
                value[0]++;
                std::this_thread::yield();
                value[1]++;
            } else {
                std::shared_lock<std::shared_mutex> guard(shared);
                int seen = value[0];
                std::this_thread::yield();
                CHECK_EQ(value[1], seen);
            }
        }
    });
    CHECK_EQ(value[0], 16);

    shared.lock_shared();
    in_threads(1, [](int) {
        CHECK(shared.try_lock_shared()); /* beside another reader */
        shared.unlock_shared();
        CHECK(!shared.try_lock());
    });
    shared.unlock_shared();
    CHECK(shared.try_lock());
    in_threads(1, [](int) {
        CHECK(!shared.try_lock_shared());
        CHECK(!shared.try_lock());
    });
    shared.unlock();
    test_timed();
    return 0;
}
