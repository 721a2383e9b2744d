// A queue of timers and the thread that calls them when they are due. Two clients set timers and wait for them.
//
// Bug: add() wakes the thread only if the new timer comes before the first; of an empty queue there is no first, and
// the thread, which waits for any, is not woken.
// Shows as: a deadlock.
// FIXED: it also does where the queue was empty.
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

using clock_type = std::chrono::steady_clock;
using std::chrono::milliseconds;

class timers
{
  public:
    timers() : thread_([this] { run(); })
    {
    }

    ~timers()
    {
        {
            std::lock_guard<std::mutex> hold(mutex_);
            stop_ = true;
        }
        wake_.notify_all();
        thread_.join();
    }

    void add(milliseconds delay, std::function<void()> call)
    {
        auto due = clock_type::now() + delay;
        std::lock_guard<std::mutex> hold(mutex_); // culprit
#ifdef FIXED
        bool earlier = queue_.empty() || due < queue_.begin()->first;
#else
        bool earlier = !queue_.empty() && due < queue_.begin()->first;
#endif
        queue_.emplace(due, std::move(call));
        if (earlier)
            wake_.notify_one();
    }

  private:
    void run()
    {
        std::unique_lock<std::mutex> hold(mutex_);
        while (!stop_) {
            if (queue_.empty()) {
                wake_.wait(hold); // culprit
                continue;
            }
            auto first = queue_.begin();
            if (first->first > clock_type::now()) {
                auto until = first->first;
                wake_.wait_until(hold, until);
                continue;
            }
            auto call = std::move(first->second);
            queue_.erase(first);
            hold.unlock();
            call();
            hold.lock();
        }
    }

    std::mutex mutex_;
    std::condition_variable wake_;
    std::multimap<clock_type::time_point, std::function<void()>> queue_;
    bool stop_ = false;
    std::thread thread_;
};

class event
{
  public:
    void set()
    {
        std::lock_guard<std::mutex> hold(mutex_);
        set_ = true;
        changed_.notify_all();
    }

    void wait()
    {
        std::unique_lock<std::mutex> hold(mutex_);
        changed_.wait(hold, [this] { return set_; });
    }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool set_ = false;
};

int main()
{
    timers all;
    std::vector<std::thread> clients;
    for (int i = 0; i < 2; i++)
        clients.emplace_back([&all, i] {
            for (int round = 0; round < 1; round++) {
                event fired;
                all.add(milliseconds(5 + 3 * i), [&fired] { fired.set(); });
                fired.wait();
            }
        });
    for (auto &client : clients)
        client.join();
    std::puts("all fired");
}
