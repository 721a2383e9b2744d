// An event loop in a thread of its own: tasks are posted to it, until it is stopped.
//
// Bug: whether it still runs is looked at in one section, and the task is added in another: none runs it any more.
// Shows as: a deadlock: who waits for the task's result waits for ever.
// FIXED: both in one section.
#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <thread>

class Loop
{
  public:
    Loop() : thread([this] { run(); })
    {
    }
    bool post(std::function<void()> task)
    {
        {
            std::lock_guard guard(lock); // culprit
            if (stopped)
                return false;
#ifdef FIXED
            tasks.push_back(std::move(task));
#endif
        }
#ifndef FIXED
        {
            std::lock_guard guard(lock); // culprit
            tasks.push_back(std::move(task));
        }
#endif
        changed.notify_one();
        return true;
    }
    void stop()
    {
        {
            std::lock_guard guard(lock); // culprit
            stopped = true;
        }
        changed.notify_one();
        thread.join();
    }

  private:
    void run()
    {
        std::unique_lock guard(lock);
        for (;;) {
            changed.wait(guard, [this] { return stopped || !tasks.empty(); });
            if (tasks.empty())
                return; // what was posted before the stop has been done
            auto task = std::move(tasks.front());
            tasks.pop_front();
            guard.unlock();
            task();
            guard.lock(); // culprit
        }
    }
    std::mutex lock;
    std::condition_variable changed;
    std::deque<std::function<void()>> tasks;
    bool stopped = false;
    std::thread thread;
};

int main()
{
    Loop loop;
    std::thread client([&loop] {
        std::promise<int> promise;
        auto result = promise.get_future();
        if (loop.post([&promise] { promise.set_value(1); }))
            result.get();
    });
    loop.stop();
    client.join();
}
