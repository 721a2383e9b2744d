// A thread pool whose destructor finishes what is queued.
//
// Bug: the flag that ends it is set without the mutex, so that a worker which has just looked misses the notice.
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

class ThreadPool
{
  public:
    explicit ThreadPool(int workers)
    {
        for (int i = 0; i < workers; i++)
            threads_.emplace_back([this] { run(); });
    }

    ~ThreadPool()
    {
        shutdown();
    }

    void submit(std::function<void()> task)
    {
        {
            std::lock_guard<std::mutex> guard(mutex_);
            tasks_.push_back(std::move(task));
        }
        wake_.notify_one();
    }

    void shutdown()
    {
#ifdef FIXED
        std::unique_lock<std::mutex> lock(mutex_);
#endif
        if (stopping_.exchange(true))
            return;
#ifdef FIXED
        lock.unlock();
#endif
        wake_.notify_all(); // culprit
        for (auto &t : threads_)
            t.join();
    }

    int executed() const
    {
        return executed_.load();
    }

  private:
    bool next(std::function<void()> &task)
    {
        std::unique_lock<std::mutex> lock(mutex_);                                // culprit
        wake_.wait(lock, [this] { return stopping_.load() || !tasks_.empty(); }); // culprit
        if (tasks_.empty())
            return false;
        task = std::move(tasks_.front());
        tasks_.pop_front();
        return true;
    }

    void run()
    {
        std::function<void()> task;
        while (next(task)) {
            task();
            executed_++;
        }
    }

    std::mutex mutex_;
    std::condition_variable wake_;
    std::deque<std::function<void()>> tasks_;
    std::vector<std::thread> threads_;
    std::atomic<bool> stopping_{ false };
    std::atomic<int> executed_{ 0 };
};

static std::mutex total_mutex;
static long total;

static void add_square(int n)
{
    std::lock_guard<std::mutex> guard(total_mutex);
    total += static_cast<long>(n) * n;
}

int main()
{
    int executed;
    {
        ThreadPool pool(2);
        for (int i = 1; i <= 3; i++)
            pool.submit([i] { add_square(i); });
        pool.shutdown();
        executed = pool.executed();
    }
    if (executed != 3 || total != 14)
        std::abort();
    std::printf("%d tasks, sum %ld\n", executed, total);
    return 0;
}
