// A thread pool that notifies a worker only where the queue was empty: of two jobs that come while two workers sleep,
// the second one wakes nobody. The cause names submit(); a lost wake-up was named, falsely.
//
// RUN: pct run -q --state none -n 500 -s 1 -- %p > %t/log 2>&1; [ $? = 120 ] &&
//     grep -A9 '^cause: change without a notice' %t/log > %t/cause && grep -q 'ThreadPool::submit' %t/cause
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

class ThreadPool
{
  public:
    explicit ThreadPool(unsigned workers)
    {
        for (unsigned i = 0; i < workers; i++)
            threads_.emplace_back([this] { run(); });
    }
    ~ThreadPool()
    {
        {
            std::lock_guard<std::mutex> guard(mutex_);
            stopping_ = true;
        }
        work_.notify_all();
        for (auto &t : threads_)
            t.join();
    }
    void submit(std::function<void()> job)
    {
        bool was_empty;
        {
            std::lock_guard<std::mutex> guard(mutex_);
            was_empty = jobs_.empty();
            jobs_.push_back(std::move(job));
            pending_++;
        }
        if (was_empty) // BUG: two jobs pushed while two workers sleep: the second gets no notify
            work_.notify_one();
    }
    void wait_idle()
    {
        std::unique_lock<std::mutex> lock(mutex_);
        idle_.wait(lock, [this] { return pending_ == 0; });
    }

  private:
    void run()
    {
        for (;;) {
            std::function<void()> job;
            {
                std::unique_lock<std::mutex> lock(mutex_);
                work_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
                if (jobs_.empty())
                    return;
                job = std::move(jobs_.front());
                jobs_.pop_front();
            }
            job();
            std::lock_guard<std::mutex> guard(mutex_);
            if (--pending_ == 0)
                idle_.notify_all();
        }
    }
    std::mutex mutex_;
    std::condition_variable work_, idle_;
    std::deque<std::function<void()>> jobs_;
    std::vector<std::thread> threads_;
    unsigned pending_ = 0;
    bool stopping_ = false;
};

// Two jobs that need each other: the first waits for the second (a pipeline stage).
struct Latch {
    std::mutex m;
    std::condition_variable cv;
    bool open = false;
    void wait()
    {
        std::unique_lock<std::mutex> l(m);
        cv.wait(l, [this] { return open; });
    }
    void release()
    {
        std::lock_guard<std::mutex> l(m);
        open = true;
        cv.notify_all();
    }
};

int main(int argc, char **argv)
{
    unsigned rounds = argc > 1 ? std::atoi(argv[1]) : 2;
    ThreadPool pool(3);
    unsigned long sum = 0;
    std::mutex sum_mutex;
    for (unsigned r = 0; r < rounds; r++) {
        auto latch = std::make_shared<Latch>();
        pool.submit([latch, &sum, &sum_mutex] {
            latch->wait();
            std::lock_guard<std::mutex> g(sum_mutex);
            sum += 1;
        });
        pool.submit([latch, &sum, &sum_mutex] {
            {
                std::lock_guard<std::mutex> g(sum_mutex);
                sum += 10;
            }
            latch->release();
        });
        pool.wait_idle();
    }
    if (sum != rounds * 11) {
        std::fprintf(stderr, "wrong sum %lu\n", sum);
        return 1;
    }
    std::printf("sum %lu\n", sum);
    return 0;
}
