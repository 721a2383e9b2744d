// A pool of threads that adds up numbers; wait_idle() returns when nothing is queued and no thread is busy.
//
// Bug: a thread that has taken a task counts itself as busy behind the lock; between, the pool looks idle.
// Shows as: an exit status of 1: the sum lacks a number.
// FIXED: it counts itself while it has the lock.
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

class thread_pool
{
  public:
    explicit thread_pool(int count)
    {
        for (int i = 0; i < count; i++)
            threads_.emplace_back([this] { work(); });
    }

    ~thread_pool()
    {
        {
            std::lock_guard<std::mutex> hold(mutex_);
            stop_ = true;
        }
        available_.notify_all();
        for (auto &thread : threads_)
            thread.join();
    }

    void submit(std::function<void()> task)
    {
        {
            std::lock_guard<std::mutex> hold(mutex_);
            tasks_.push_back(std::move(task));
        }
        available_.notify_one();
    }

    void wait_idle()
    {
        std::unique_lock<std::mutex> hold(mutex_);                         // culprit
        idle_.wait(hold, [this] { return tasks_.empty() && busy_ == 0; }); // culprit
    }

  private:
    void work()
    {
        for (;;) {
            std::unique_lock<std::mutex> hold(mutex_);                          // culprit
            available_.wait(hold, [this] { return stop_ || !tasks_.empty(); }); // culprit
            if (tasks_.empty())
                return;
            auto task = std::move(tasks_.front());
            tasks_.pop_front();
#ifdef FIXED
            ++busy_;
            hold.unlock();
#else
            hold.unlock(); // culprit
            ++busy_;       // culprit
#endif
            task();
            hold.lock();
            --busy_;
            if (tasks_.empty() && busy_ == 0)
                idle_.notify_all();
        }
    }

    std::mutex mutex_;
    std::condition_variable available_, idle_;
    std::deque<std::function<void()>> tasks_;
    std::atomic<int> busy_{ 0 };
    bool stop_ = false;
    std::vector<std::thread> threads_;
};

class total
{
  public:
    void add(int value)
    {
        std::lock_guard<std::mutex> hold(mutex_);
        value_ += value;
    }

    int get()
    {
        std::lock_guard<std::mutex> hold(mutex_);
        return value_;
    }

  private:
    std::mutex mutex_;
    int value_ = 0;
};

int main()
{
    total sum;
    thread_pool pool(2);
    for (int i = 1; i <= 4; i++)
        pool.submit([&sum, i] { sum.add(i); });
    pool.wait_idle();
    int got = sum.get();
    std::printf("%d\n", got);
    return got == 10 ? 0 : 1;
}
