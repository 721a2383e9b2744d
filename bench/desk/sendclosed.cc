// A peer sends messages over a connection that the supervisor may close at any time. Sending appends to a buffer, which
// closing gives back.
//
// Bug: send() asks whether the connection is open, which takes and releases the lock, and takes the lock again to
// append; it may be closed between the two.
// Shows as: a crash: there is no buffer.
// FIXED: both happen in one section.
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

class connection
{
  public:
    connection() : buffer_(std::make_unique<std::vector<std::string>>())
    {
    }

    bool is_open()
    {
        std::lock_guard<std::mutex> hold(mutex_); // culprit
        return buffer_ != nullptr;
    }

    bool send(const std::string &message)
    {
#ifdef FIXED
        std::lock_guard<std::mutex> hold(mutex_);
        if (!buffer_)
            return false;
#else
        if (!is_open()) // culprit
            return false;
        std::lock_guard<std::mutex> hold(mutex_); // culprit
#endif
        buffer_->push_back(message);
        return true;
    }

    std::size_t close()
    {
        std::lock_guard<std::mutex> hold(mutex_); // culprit
        if (!buffer_)
            return 0;
        std::size_t count = buffer_->size();
        buffer_.reset();
        return count;
    }

  private:
    std::mutex mutex_;
    std::unique_ptr<std::vector<std::string>> buffer_;
};

class statistics
{
  public:
    void sent()
    {
        std::lock_guard<std::mutex> hold(mutex_);
        ++sent_;
    }

    void refused()
    {
        std::lock_guard<std::mutex> hold(mutex_);
        ++refused_;
    }

    void print()
    {
        std::lock_guard<std::mutex> hold(mutex_);
        std::printf("%d sent, %d refused\n", sent_, refused_);
    }

  private:
    std::mutex mutex_;
    int sent_ = 0, refused_ = 0;
};

static void peer(connection &to, statistics &counts, int number)
{
    for (int i = 0; i < 3; i++)
        if (to.send("message " + std::to_string(10 * number + i)))
            counts.sent();
        else
            counts.refused();
}

int main()
{
    connection link;
    statistics counts;
    std::thread one(peer, std::ref(link), std::ref(counts), 1), two(peer, std::ref(link), std::ref(counts), 2);
    std::thread supervisor([&] { std::printf("%zu delivered\n", link.close()); });
    one.join();
    two.join();
    supervisor.join();
    counts.print();
}
