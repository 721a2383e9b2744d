// A worker that does something now and then, until it is stopped.
//
// Bug: stop() sets the flag without the mutex: the worker may have looked and not wait yet.
// Shows as: a deadlock.
// FIXED: it sets it under the mutex.
#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

class Worker
{
  public:
    Worker() : thread_([this] { run(); })
    {
    }

    ~Worker()
    {
        stop();
        thread_.join();
    }

    void post(std::function<void()> job)
    {
        {
            std::lock_guard<std::mutex> guard(mutex_);
            jobs_.push_back(std::move(job));
        }
        wake_.notify_one();
    }

  private:
    void stop()
    {
#ifdef FIXED
        std::lock_guard<std::mutex> guard(mutex_);
#endif
        stopped_ = true;
        wake_.notify_one(); /* culprit */
    }

    void run()
    {
        while (true) {
            std::function<void()> job;
            {
                std::unique_lock<std::mutex> guard(mutex_); /* culprit */
                while (jobs_.empty() && !stopped_)
                    wake_.wait(guard); /* culprit */
                if (jobs_.empty())
                    return;
                job = std::move(jobs_.front());
                jobs_.pop_front();
            }
            job();
        }
    }

    std::mutex mutex_;
    std::condition_variable wake_;
    std::deque<std::function<void()>> jobs_;
    std::atomic<bool> stopped_{ false };
    std::thread thread_;
};

int main()
{
    std::mutex mutex;
    int sum = 0;
    {
        Worker worker;
        for (int i = 1; i <= 2; i++)
            worker.post([&, i] {
                std::lock_guard<std::mutex> guard(mutex);
                sum += i;
            });
    }
    return sum != 3;
}
