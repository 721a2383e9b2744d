/* std::condition_variable, _any: wait, wait_for, wait_until on both clocks, with predicates and with a stop token. */
/* tests: pthread_cond_wait pthread_cond_timedwait pthread_cond_clockwait pthread_cond_signal pthread_cond_broadcast */
/* ops: COND_WAIT COND_WAKE COND_SIGNAL COND_BROADCAST */
#include "check.h"
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <shared_mutex>
#include <stop_token>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

namespace
{
std::mutex lock;
std::condition_variable changed;
std::condition_variable_any any;
int turn;
bool ready;

void take_turns(int me)
{
    std::unique_lock<std::mutex> guard(lock);
    for (int i = 0; i < 10; i++) {
        changed.wait(guard, [me] { return turn % 2 == me; });
        CHECK(guard.owns_lock());
        turn++;
        changed.notify_one();
    }
}

template <typename Cond, typename Mutex> void test_times(Cond &cond, Mutex &mutex)
{
    std::unique_lock<Mutex> guard(mutex);
    auto steady = std::chrono::steady_clock::now();
    CHECK(!cond.wait_for(guard, 10ms, [] { return false; }));
    CHECK(std::chrono::steady_clock::now() - steady >= 10ms);
    auto when = std::chrono::system_clock::now() + 10ms;
    while (cond.wait_until(guard, when) == std::cv_status::no_timeout)
        ; /* may return early */
    CHECK(std::chrono::system_clock::now() >= when);
    CHECK(cond.wait_until(guard, steady) == std::cv_status::timeout || std::chrono::steady_clock::now() >= steady);
    CHECK(guard.owns_lock());

    ready = false;
    std::thread setter([&] {
        std::lock_guard<Mutex> set(mutex);
        ready = true;
        cond.notify_all();
    });
    CHECK(cond.wait_for(guard, 1000s, [] { return ready; }));
    ready = false;
    guard.unlock();
    setter.join();
}
} // namespace

int main()
{
    std::thread a(take_turns, 0), b(take_turns, 1);
    a.join();
    b.join();
    CHECK_EQ(turn, 20);

    test_times(changed, lock);
    test_times(any, lock);
    std::shared_timed_mutex shared;
    test_times(any, shared);

    std::vector<std::thread> waiters;
    int through = 0;
    for (int i = 0; i < 4; i++)
        waiters.emplace_back([&] {
            std::unique_lock<std::mutex> guard(lock);
            any.wait(guard, [] { return ready; });
            through++;
        });
    {
        std::lock_guard<std::mutex> guard(lock);
        CHECK_EQ(through, 0);
        ready = true;
        any.notify_all();
    }
    for (std::thread &waiter : waiters)
        waiter.join();
    CHECK_EQ(through, 4);

    /* Notified when the thread has ended, its thread_local objects destroyed. */
    ready = false;
    std::thread last([] {
        std::unique_lock<std::mutex> guard(lock);
        ready = true;
        std::notify_all_at_thread_exit(changed, std::move(guard));
    });
    std::unique_lock<std::mutex> guard(lock);
    changed.wait(guard, [] { return ready; });
    guard.unlock();
    last.join();
    return 0;
}
