// A broker: messages are given to all subscribers of a topic, without the lock of the topic; who unsubscribes waits
// until none is under way, so that it may end.
//
// Bug: it waits first and is taken off the list then: a message that is published in between still goes to it.
// Shows as: an assertion: a message for one that has ended.
// FIXED: it is taken off first.
#include <algorithm>
#include <cassert>
#include <condition_variable>
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

class subscriber
{
  public:
    explicit subscriber(std::string name) : name_(std::move(name))
    {
    }

    void deliver(int message)
    {
        std::lock_guard<std::mutex> hold(lock_);
        assert(open_);
        last_ = message;
        received_++;
    }

    void end()
    {
        std::lock_guard<std::mutex> hold(lock_);
        open_ = false;
    }

    int received() const
    {
        return received_;
    }

  private:
    std::mutex lock_;
    std::string name_;
    bool open_ = true;
    int last_ = 0, received_ = 0;
};

class topic
{
  public:
    void subscribe(subscriber *who)
    {
        std::lock_guard<std::mutex> hold(lock_);
        subscribers_.push_back(who);
    }

    void unsubscribe(subscriber *who)
    {
#ifdef FIXED
        remove(who);
        wait_until_quiet();
#else
        wait_until_quiet(); // culprit
        remove(who);        // culprit
#endif
    }

    void publish(int message)
    {
        std::vector<subscriber *> to;
        {
            std::lock_guard<std::mutex> hold(lock_); // culprit
            to = subscribers_;
            under_way_++;
        }
        for (subscriber *who : to)
            who->deliver(message);
        std::lock_guard<std::mutex> hold(lock_);
        if (--under_way_ == 0)
            quiet_.notify_all();
    }

  private:
    void wait_until_quiet()
    {
        std::unique_lock<std::mutex> hold(lock_); // culprit
        quiet_.wait(hold, [this] { return under_way_ == 0; });
    }

    void remove(subscriber *who)
    {
        std::lock_guard<std::mutex> hold(lock_); // culprit
        subscribers_.erase(std::remove(subscribers_.begin(), subscribers_.end(), who), subscribers_.end());
    }

    std::mutex lock_;
    std::condition_variable quiet_;
    std::vector<subscriber *> subscribers_;
    int under_way_ = 0;
};

class broker
{
  public:
    topic &get(const std::string &name)
    {
        std::lock_guard<std::mutex> hold(lock_);
        return topics_[name];
    }

  private:
    std::mutex lock_;
    std::map<std::string, topic> topics_;
};

int main()
{
    broker mail;
    subscriber archive("archive"), screen("screen");
    mail.get("news").subscribe(&archive);
    mail.get("news").subscribe(&screen);
    std::thread publisher([&] {
        for (int i = 0; i < 3; i++)
            mail.get("news").publish(i);
    });
    std::thread reader([&] {
        mail.get("news").unsubscribe(&screen);
        screen.end();
    });
    publisher.join();
    reader.join();
    std::printf("%d archived, %d seen\n", archive.received(), screen.received());
    return archive.received() == 3 ? 0 : 1;
}
