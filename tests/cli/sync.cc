/* Threads that share data in all the ways that C++ has for it, each of them right: nothing here is a race. For
 * memory.bats. */
#include <atomic>
#include <barrier>
#include <cassert>
#include <condition_variable>
#include <future>
#include <latch>
#include <map>
#include <memory>
#include <mutex>
#include <queue>
#include <semaphore>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

namespace
{
void run(int count, const auto &body)
{
    std::vector<std::thread> threads;
    for (int i = 0; i < count; i++)
        threads.emplace_back([&body, i] { body(i); });
    for (auto &thread : threads)
        thread.join();
}

void queue()
{
    std::mutex mutex;
    std::condition_variable changed;
    std::queue<std::string> items;
    size_t sum = 0;
    int left = 20;
    run(3, [&](int self) {
        std::unique_lock lock(mutex);
        for (int i = 0; !self && i < 20; i++) {
            items.push(std::string(40, 'x'));
            changed.notify_one();
        }
        while (self && left) {
            changed.wait(lock, [&] { return !left || !items.empty(); });
            if (items.empty())
                continue;
            std::string item = items.front();
            items.pop();
            if (!--left)
                changed.notify_all();
            lock.unlock();
            std::vector<char> copy(item.begin(), item.end());
            lock.lock();
            sum += copy.size();
        }
    });
    assert(sum == 800);
}

struct lazy {
    int value;
    lazy() : value(0)
    {
        value = 7;
    }
};

lazy &instance()
{
    static lazy one;
    return one;
}

std::once_flag once;
int once_value;

void readers_and_writers()
{
    std::shared_mutex mutex;
    std::map<int, int> map;
    run(3, [&](int self) {
        for (int i = 0; i < 6; i++) {
            if (i % 3) {
                std::shared_lock lock(mutex);
                auto found = map.find(i);
                assert(found == map.end() || found->second == i);
            } else {
                std::unique_lock lock(mutex);
                map[i + 10 * self] = i + 10 * self;
            }
        }
        std::call_once(once, [] { once_value = 5; });
        int value = once_value, other = instance().value;
        assert(value == 5 && other == 7);
    });
}

void hand_over()
{
    auto result = std::async(std::launch::async, [] { return std::make_unique<int>(4); });
    auto value = result.get();
    assert(*value == 4);
    auto text = std::make_shared<std::string>("shared");
    run(3, [text](int) {
        auto own = text;
        assert(own->size() == 6);
    });
    std::counting_semaphore<4> semaphore(0);
    std::latch latch(2);
    int by_semaphore = 0, by_latch = 0;
    run(2, [&](int self) {
        if (self) {
            by_semaphore = 9;
            semaphore.release();
            by_latch = 4;
            latch.count_down();
        } else {
            semaphore.acquire();
            int got = by_semaphore;
            latch.arrive_and_wait();
            got += by_latch;
            assert(got == 13);
        }
    });
}

void rounds()
{
    std::barrier barrier(3);
    int done[3] = {};
    run(3, [&](int self) {
        for (int round = 1; round < 4; round++) {
            done[self] = round;
            barrier.arrive_and_wait();
            int neighbour = done[(self + 1) % 3];
            assert(neighbour == round);
            barrier.arrive_and_wait();
        }
    });
}

void atomics()
{
    std::atomic<int *> published{ nullptr };
    std::atomic<int> flag{ 0 };
    int payload = 0, fenced = 0;
    run(2, [&](int self) {
        if (self) {
            payload = 42;
            published.store(&payload, std::memory_order_release);
            fenced = 1;
            std::atomic_thread_fence(std::memory_order_release);
            flag.store(1, std::memory_order_relaxed);
            return;
        }
        int *found;
        while (!(found = published.load(std::memory_order_acquire)))
            continue;
        int got = *found;
        while (!flag.load(std::memory_order_relaxed))
            continue;
        std::atomic_thread_fence(std::memory_order_acquire);
        got += fenced;
        assert(got == 43);
    });
}

/* Memory and stacks that go from one thread to the next. */
void used_again()
{
    for (int i = 0; i < 10; i++) {
        std::thread([] {
            std::vector<int> numbers(100, 1);
            numbers[3] = 2;
        }).detach();
        run(1, [](int) {
            std::vector<int> numbers(100, 1);
            numbers[3] = 2;
        });
    }
}
} // namespace

int main()
{
    queue();
    readers_and_writers();
    hand_over();
    rounds();
    atomics();
    used_again();
    return 0;
}
