/* std::jthread: joins by itself, asks to stop; stop callbacks; condition_variable_any with a stop token. */
/* tests: pthread_create pthread_join pthread_cond_wait */
/* ops: THREAD_CREATE THREAD_JOIN COND_WAIT COND_BROADCAST */
/* GCC 12 takes the constructor of std::jthread for a use of an uninitialised object. */
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include "check.h"
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

using namespace std::chrono_literals;

int main()
{
    std::atomic<int> ran = 0;
    {
        std::jthread loop([&](std::stop_token stop) {
            while (!stop.stop_requested())
                std::this_thread::yield();
            ran++;
        });
        std::jthread plain([&] { ran++; });
    } /* asks both to stop, and joins */
    CHECK_EQ(ran.load(), 2);

    std::mutex lock;
    std::condition_variable_any changed;
    bool waiting = false;
    std::jthread waiter([&](std::stop_token stop) {
        std::unique_lock<std::mutex> guard(lock);
        waiting = true;
        changed.notify_all();
        CHECK(!changed.wait(guard, stop, [] { return false; }));
        CHECK(stop.stop_requested());
        CHECK(guard.owns_lock());
        CHECK(!changed.wait_for(guard, stop, 1000s, [] { return false; })); /* stopped: returns at once */
    });
    {
        std::unique_lock<std::mutex> guard(lock);
        changed.wait(guard, [&] { return waiting; });
    }
    int called = 0;
    {
        std::stop_callback callback(waiter.get_stop_token(), [&] { called++; });
        CHECK_EQ(called, 0);
        CHECK(waiter.request_stop());
        CHECK_EQ(called, 1);
        CHECK(!waiter.request_stop());
    }
    waiter.join();

    /* A callback's destructor waits while the callback runs in another thread. */
    for (int i = 0; i < 5; i++) {
        std::stop_source source;
        std::atomic<bool> running = false, finished = false;
        std::thread requester;
        {
            std::stop_callback callback(source.get_token(), [&] {
                running = true;
                std::this_thread::yield();
                finished = true;
            });
            requester = std::thread([&] { source.request_stop(); });
        }
        CHECK(!running.load() || finished.load());
        requester.join();
    }
    return 0;
}
