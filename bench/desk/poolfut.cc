// A thread that computes, and a future by which others get what it has computed.
//
// Bug: get() waits without a look at whether the result is there already.
// Shows as: a deadlock.
// FIXED: it looks.
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

class future
{
  public:
    void set(int value)
    {
        std::lock_guard<std::mutex> hold(lock_);
        value_ = value;
        ready_ = true;
        set_.notify_all(); // culprit
    }

    int get()
    {
        std::unique_lock<std::mutex> hold(lock_); // culprit
#ifdef FIXED
        set_.wait(hold, [this] { return ready_; });
#else
        set_.wait(hold); // culprit
#endif
        return value_;
    }

  private:
    std::mutex lock_;
    std::condition_variable set_;
    int value_ = 0;
    bool ready_ = false;
};

class pool
{
  public:
    pool() : thread_([this] { work(); })
    {
    }

    ~pool()
    {
        submit(nullptr);
        thread_.join();
    }

    void submit(std::function<void()> task)
    {
        std::lock_guard<std::mutex> hold(lock_);
        tasks_.push_back(std::move(task));
        more_.notify_one();
    }

  private:
    void work()
    {
        for (;;) {
            std::unique_lock<std::mutex> hold(lock_);
            more_.wait(hold, [this] { return !tasks_.empty(); });
            auto task = tasks_.front();
            tasks_.pop_front();
            hold.unlock();
            if (!task)
                return;
            task();
        }
    }

    std::mutex lock_;
    std::condition_variable more_;
    std::deque<std::function<void()>> tasks_;
    std::thread thread_;
};

int main()
{
    pool workers;
    future sum;
    workers.submit([&] { sum.set(1 + 2); });
    std::printf("%d\n", sum.get());
    return 0;
}
