// A sender with a thread that sends heartbeats, and others that send data.
//
// Bug: stop() ends the heartbeats and takes the connection down; those who send data may still use it.
// Shows as: a failed assertion, or a crash, in Connection::send().
// FIXED: who sends shares the connection.
#include <cassert>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

class Connection
{
  public:
    ~Connection()
    {
        std::lock_guard<std::mutex> guard(mutex_);
        state_ = 0;
    }

    void send(int value)
    {
        std::lock_guard<std::mutex> guard(mutex_); /* culprit */
        assert(state_ == 0x0c0ffee);
        sent_.push_back(value);
    }

  private:
    long padding_[8] = {};
    volatile int state_ = 0x0c0ffee;
    std::mutex mutex_;
    std::vector<int> sent_;
};

class Uplink
{
  public:
    Uplink() : connection_(std::make_shared<Connection>()), beats_([this] { beat(); })
    {
    }

    bool send(int value)
    {
        auto connection = current();
        if (!connection)
            return false;
        connection->send(value); /* culprit */
        return true;
    }

    void stop()
    {
        {
            std::lock_guard<std::mutex> guard(mutex_);
            stopped_ = true;
        }
        wake_.notify_all();
        beats_.join();
        std::shared_ptr<Connection> last;
        std::lock_guard<std::mutex> guard(mutex_); /* culprit */
        last.swap(connection_);
    }

  private:
#ifdef FIXED
    std::shared_ptr<Connection> current()
    {
        std::lock_guard<std::mutex> guard(mutex_);
        return connection_;
    }
#else
    Connection *current()
    {
        std::lock_guard<std::mutex> guard(mutex_); /* culprit */
        return connection_.get();
    }
#endif

    void beat()
    {
        std::unique_lock<std::mutex> guard(mutex_);
        while (!stopped_) {
            connection_->send(0);
            wake_.wait(guard, [this] { return stopped_; });
        }
    }

    std::mutex mutex_;
    std::condition_variable wake_;
    bool stopped_ = false;
    std::shared_ptr<Connection> connection_;
    std::thread beats_;
};

int main()
{
    Uplink uplink;
    std::thread first([&] { uplink.send(1) && uplink.send(2); });
    std::thread second([&] { uplink.send(3); });
    uplink.stop();
    first.join();
    second.join();
    return 0;
}
