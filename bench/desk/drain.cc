// A queue of jobs with a worker, and an end that is to wait for all jobs.
//
// Bug: the worker looks whether it is to stop before it looks whether there is work: jobs are left behind.
// Shows as: a failed assertion.
// FIXED: it stops when there is no work.
#include <cassert>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace
{

class Queue
{
  public:
    explicit Queue(int workers)
    {
        for (int i = 0; i < workers; i++)
            workers_.emplace_back([this] { work(); });
    }

    void post(std::function<void()> job)
    {
        {
            std::lock_guard<std::mutex> guard(mutex_);
            jobs_.push_back(std::move(job));
        }
        changed_.notify_one();
    }

    void finish()
    {
        {
            std::lock_guard<std::mutex> guard(mutex_); /* culprit */
            stopping_ = true;
        }
        changed_.notify_all();
        for (auto &worker : workers_)
            worker.join();
    }

  private:
    void work()
    {
        for (;;) {
            std::function<void()> job;
            {
                std::unique_lock<std::mutex> lock(mutex_);                           /* culprit */
                changed_.wait(lock, [this] { return stopping_ || !jobs_.empty(); }); /* culprit */
#ifdef FIXED
                if (jobs_.empty())
                    return;
#else
                if (stopping_)
                    return;
#endif
                job = std::move(jobs_.front());
                jobs_.pop_front();
            }
            job();
        }
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::function<void()>> jobs_;
    bool stopping_ = false;
    std::vector<std::thread> workers_;
};

} // namespace

int main()
{
    std::mutex mutex;
    int done = 0;
    Queue queue(2);
    for (int i = 0; i < 3; i++)
        queue.post([&] {
            std::lock_guard<std::mutex> guard(mutex);
            done++;
        });
    queue.finish();
    assert(done == 3);
    return 0;
}
