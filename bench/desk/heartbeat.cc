// A supervisor that starts workers and waits until each says that it is up; one that does not within a second is said
// to have failed to start.
//
// Bug: the supervisor waits for the notice, not for what it tells of: a notice that comes before it waits is lost, and
// it waits its second in vain.
// Shows as: a worker that is up is said not to have started.
// FIXED: it looks whether the worker is up.
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>

namespace
{

class Worker
{
  public:
    explicit Worker(std::string name) : name_(std::move(name)), thread_([this] { run(); })
    {
    }

    ~Worker()
    {
        {
            std::lock_guard<std::mutex> guard(mutex_);
            stop_ = true;
            stopped_.notify_one();
        }
        thread_.join();
    }

    bool wait_until_up()
    {
        std::unique_lock<std::mutex> lock(mutex_);
#ifdef FIXED
        return up_changed_.wait_for(lock, std::chrono::seconds(1), [this] { return up_; });
#else
        return up_changed_.wait_for(lock, std::chrono::seconds(1)) == std::cv_status::no_timeout; // culprit
#endif
    }

    const std::string &name() const
    {
        return name_;
    }

  private:
    void run()
    {
        {
            std::lock_guard<std::mutex> guard(mutex_);
            up_ = true;
            up_changed_.notify_one(); // culprit
        }
        std::unique_lock<std::mutex> lock(mutex_);
        stopped_.wait(lock, [this] { return stop_; });
    }

    std::string name_;
    std::mutex mutex_;
    std::condition_variable up_changed_, stopped_;
    bool up_ = false, stop_ = false;
    std::thread thread_;
};

} // namespace

int main()
{
    Worker reader("reader");
    if (!reader.wait_until_up()) {
        std::printf("%s did not start\n", reader.name().c_str());
        return 1;
    }
    Worker writer("writer");
    if (!writer.wait_until_up()) {
        std::printf("%s did not start\n", writer.name().c_str());
        return 1;
    }
    return 0;
}
