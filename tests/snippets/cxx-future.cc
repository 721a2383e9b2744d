/* std::async, std::promise, std::packaged_task: values, exceptions, deferred functions, timed waits. */
/* tests: pthread_create syscall pthread_once */
/* ops: THREAD_CREATE FUTEX_WAIT */
#include "check.h"
#include <chrono>
#include <future>
#include <stdexcept>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

int main()
{
    std::vector<std::future<int>> futures;
    for (int i = 0; i < 4; i++)
        futures.push_back(std::async(std::launch::async, [i] {
            std::this_thread::yield();
            return i * i;
        }));
    for (int i = 0; i < 4; i++)
        CHECK_EQ(futures[static_cast<size_t>(i)].get(), i * i);

    auto failing = std::async(std::launch::async, []() -> int { throw std::runtime_error("failed"); });
    bool caught = false;
    try {
        failing.get();
    } catch (const std::runtime_error &) {
        caught = true;
    }
    CHECK(caught);

    auto self = std::this_thread::get_id();
    auto deferred = std::async(std::launch::deferred, [self] { return std::this_thread::get_id() == self; });
    CHECK(deferred.wait_for(0s) == std::future_status::deferred);
    CHECK(deferred.get());

    std::promise<int> promise;
    std::shared_future<int> shared = promise.get_future().share();
    auto steady = std::chrono::steady_clock::now();
    CHECK(shared.wait_for(10ms) == std::future_status::timeout);
    CHECK(std::chrono::steady_clock::now() - steady >= 10ms);
    auto when = std::chrono::system_clock::now() + 10ms;
    CHECK(shared.wait_until(when) == std::future_status::timeout);
    CHECK(std::chrono::system_clock::now() >= when);
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; i++)
        threads.emplace_back([shared] { CHECK_EQ(shared.get(), 42); });
    promise.set_value(42);
    CHECK(shared.wait_for(1000s) == std::future_status::ready);
    for (std::thread &thread : threads)
        thread.join();

    std::packaged_task<int(int)> task([](int value) { return value + 1; });
    auto result = task.get_future();
    std::thread(std::move(task), 6).join();
    CHECK_EQ(result.get(), 7);

    std::promise<void> at_exit;
    auto ended = at_exit.get_future();
    std::thread([&] { at_exit.set_value_at_thread_exit(); }).detach();
    ended.wait();
    return 0;
}
