// A metrics service that starts itself when it is first used.
//
// Bug: whether it runs is asked in one section and said in another, behind the start: two clients start it twice, and
//   the samples are sent twice.
// Shows as: a failed assertion on what was sent.
// FIXED: one section asks and says so.
#include <cassert>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

class Metrics
{
  public:
    void record(const std::string &name)
    {
        start();
        std::lock_guard<std::mutex> guard(mutex_);
        samples_.push_back(name);
    }

    void stop()
    {
        for (auto &sender : senders_)
            sender.join();
    }

    int starts() const
    {
        return starts_;
    }

  private:
    bool running()
    {
        std::lock_guard<std::mutex> guard(mutex_); /* culprit */
        return running_;
    }

    void set_running()
    {
        std::lock_guard<std::mutex> guard(mutex_); /* culprit */
        running_ = true;
    }

    void launch()
    {
        std::lock_guard<std::mutex> guard(starting_); /* culprit */
        starts_++;
        senders_.emplace_back([this] { send(); }); /* culprit */
    }

    void start()
    {
#ifdef FIXED
        {
            std::lock_guard<std::mutex> guard(mutex_);
            if (running_)
                return;
            running_ = true;
        }
        launch();
#else
        if (running()) /* culprit */
            return;
        launch();      /* culprit */
        set_running(); /* culprit */
#endif
    }

    void send()
    {
        std::lock_guard<std::mutex> guard(mutex_);
        sent_ += samples_.size();
    }

    std::mutex mutex_, starting_;
    bool running_ = false;
    int starts_ = 0;
    std::vector<std::thread> senders_;
    std::vector<std::string> samples_;
    std::size_t sent_ = 0;
};

int main()
{
    Metrics metrics;
    std::thread reader([&] {
        metrics.record("reads");
        metrics.record("bytes");
    });
    std::thread writer([&] { metrics.record("writes"); });
    reader.join();
    writer.join();
    metrics.stop();
    assert(metrics.starts() == 1);
    std::printf("started once\n");
}
