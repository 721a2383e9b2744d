// Readers of a configuration wait, with the shared lock, until it is complete; the loader sets its parts under the
// lock, and says at the end that it is complete.
//
// Bug: that it is complete is set, and told, without the lock: a reader that has looked, and does not wait yet, is not
// woken.
// Shows as: a deadlock.
// FIXED: it is set under the lock.
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

class configuration
{
  public:
    void set(const std::string &name, int value)
    {
        std::unique_lock<std::shared_mutex> hold(mutex_);
        values_[name] = value;
    }

    void complete()
    {
#ifdef FIXED
        std::unique_lock<std::shared_mutex> hold(mutex_);
#endif
        complete_ = true;      // culprit
        changed_.notify_all(); // culprit
    }

    int get(const std::string &name)
    {
        std::shared_lock<std::shared_mutex> hold(mutex_); // culprit
        while (!complete_) {                              // culprit
            trace("waits for " + name);
            changed_.wait(hold); // culprit
        }
        auto found = values_.find(name);
        return found == values_.end() ? -1 : found->second;
    }

    std::size_t traced()
    {
        std::lock_guard<std::mutex> hold(trace_mutex_);
        return trace_.size();
    }

  private:
    void trace(const std::string &line)
    {
        std::lock_guard<std::mutex> hold(trace_mutex_); // culprit
        trace_.push_back(line);
    }

    std::shared_mutex mutex_;
    std::condition_variable_any changed_;
    std::map<std::string, int> values_;
    std::atomic<bool> complete_{ false };
    std::mutex trace_mutex_;
    std::vector<std::string> trace_;
};

int main()
{
    configuration config;
    int port = 0, limit = 0;
    std::thread server([&] { port = config.get("port"); });
    std::thread limiter([&] { limit = config.get("limit"); });
    std::thread loader([&] {
        config.set("port", 8080);
        config.set("limit", 10);
        config.complete();
    });
    server.join();
    limiter.join();
    loader.join();
    std::printf("port %d, limit %d, waited %zu times\n", port, limit, config.traced());
    return port == 8080 && limit == 10 ? 0 : 1;
}
