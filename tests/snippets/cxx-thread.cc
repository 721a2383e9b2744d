/* std::thread: arguments and moves, join and detach, thread_local destructors that lock, sleep and yield. */
/* tests: pthread_create pthread_join pthread_detach nanosleep sched_yield */
/* ops: THREAD_CREATE THREAD_JOIN THREAD_DETACH MUTEX_LOCK SLEEP YIELD */
#include "check.h"
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

namespace
{
std::mutex lock;
std::condition_variable changed;
int destroyed, ended;

struct counts_its_end {
    int value = 1;
    ~counts_its_end()
    {
        std::lock_guard<std::mutex> guard(lock);
        destroyed++;
    }
};
thread_local counts_its_end local;

void with_arguments(int number, const std::string &text, std::unique_ptr<int> owned, int &result)
{
    CHECK(text == "text");
    local.value++;
    CHECK_EQ(local.value, 2);
    result = number + *owned;
}
} // namespace

int main()
{
    int results[4] = {};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++)
        threads.emplace_back(with_arguments, i, "text", std::make_unique<int>(10), std::ref(results[i]));
    for (std::thread &thread : threads) {
        CHECK(thread.joinable());
        CHECK(thread.get_id() != std::this_thread::get_id());
        thread.join();
        CHECK(!thread.joinable());
    }
    for (int i = 0; i < 4; i++)
        CHECK_EQ(results[i], i + 10);
    CHECK_EQ(destroyed, 4); /* before the join returned */

    std::thread detached([] {
        std::lock_guard<std::mutex> guard(lock);
        ended = 1;
        changed.notify_one();
    });
    std::thread moved = std::move(detached);
    CHECK(!detached.joinable());
    moved.detach();
    std::unique_lock<std::mutex> guard(lock);
    changed.wait(guard, [] { return ended == 1; });
    guard.unlock();

    std::thread self([] {
        auto before = std::chrono::steady_clock::now();
        std::this_thread::sleep_for(10ms);
        CHECK(std::chrono::steady_clock::now() - before >= 10ms);
        auto when = std::chrono::system_clock::now() + 5ms;
        std::this_thread::sleep_until(when);
        CHECK(std::chrono::system_clock::now() >= when);
        std::this_thread::yield();
    });
    self.join();
    bool refused = false;
    try {
        self.join(); /* joined already */
    } catch (const std::system_error &error) {
        refused = error.code() == std::errc::invalid_argument;
    }
    CHECK(refused);
    CHECK(std::thread::hardware_concurrency() >= 1);
    return 0;
}
