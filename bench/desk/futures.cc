// A thread pool with futures.
//
// Bug: a task submits another one to the same pool and waits for its future. With all workers in such tasks, nobody is
//   left to make what they wait for.
// Shows as: deadlock.
// FIXED: the task does the second part itself.
#include <condition_variable>
#include <cstdio>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <queue>
#include <thread>
#include <vector>

class Pool
{
  public:
    explicit Pool(int workers)
    {
        for (int i = 0; i < workers; i++)
            threads_.emplace_back([this] { work(); });
    }

    ~Pool()
    {
        {
            std::lock_guard<std::mutex> guard(mutex_);
            stopping_ = true;
        }
        ready_.notify_all();
        for (auto &thread : threads_)
            thread.join();
    }

    std::future<int> submit(std::function<int()> function)
    {
        auto task = std::make_shared<std::packaged_task<int()>>(std::move(function));
        std::future<int> result = task->get_future();
        {
            std::lock_guard<std::mutex> guard(mutex_);
            tasks_.push([task] { (*task)(); });
        }
        ready_.notify_one();
        return result;
    }

  private:
    void work()
    {
        for (;;) {
            std::function<void()> task;
            {
                std::unique_lock<std::mutex> lock(mutex_);
                ready_.wait(lock, [this] { return stopping_ || !tasks_.empty(); });
                if (tasks_.empty())
                    return;
                task = std::move(tasks_.front());
                tasks_.pop();
            }
            task();
        }
    }

    std::mutex mutex_;
    std::condition_variable ready_;
    std::queue<std::function<void()>> tasks_;
    std::vector<std::thread> threads_;
    bool stopping_ = false;
};

static int leaf(int n)
{
    return n * n;
}

static int node(Pool &pool, int n)
{
#ifdef FIXED
    (void)pool;
    return leaf(n) + 1;
#else
    std::future<int> part = pool.submit([n] { return leaf(n); }); /* culprit */
    return part.get() + 1;                                        /* culprit */
#endif
}

int main()
{
    int sum = 0;
    Pool pool(2);
    std::vector<std::future<int>> results;
    for (int i = 0; i < 2; i++)
        results.push_back(pool.submit([&pool, i] { return node(pool, i); }));
    for (auto &result : results)
        sum += result.get();
    std::printf("%d\n", sum);
}
