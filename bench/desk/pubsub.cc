// A publisher and subscribers that come and go.
//
// Bug: publish() copies the list of subscribers under the lock and calls them without it. One that unsubscribes in
//   between is deleted and then called.
// Shows as: a failed assertion in the subscriber, or a crash.
// FIXED: the list holds shared pointers.
#include <algorithm>
#include <cassert>
#include <cstdio>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

class Subscriber
{
  public:
    ~Subscriber()
    {
        alive_ = 0;
    }

    void notify(int value)
    {
        std::lock_guard<std::mutex> guard(mutex_);
        assert(alive_ == 0x5afe);
        last_ = value;
    }

  private:
    int padding_[8] = {};
    volatile int alive_ = 0x5afe;
    std::mutex mutex_;
    int last_ = 0;
};

#ifdef FIXED
using Pointer = std::shared_ptr<Subscriber>;
#else
using Pointer = Subscriber *;
#endif

class Publisher
{
  public:
    void subscribe(Pointer subscriber)
    {
        std::lock_guard<std::mutex> guard(mutex_);
        subscribers_.push_back(subscriber);
    }

    void unsubscribe(Pointer subscriber)
    {
        std::lock_guard<std::mutex> guard(mutex_); /* culprit */
        subscribers_.erase(std::find(subscribers_.begin(), subscribers_.end(), subscriber));
    }

    void publish(int value)
    {
        std::vector<Pointer> now;
        {
            std::lock_guard<std::mutex> guard(mutex_);
            now = subscribers_;
        }
        for (auto &subscriber : now)
            subscriber->notify(value); /* culprit */
    }

  private:
    std::mutex mutex_;
    std::vector<Pointer> subscribers_;
};

static void visit(Publisher &publisher)
{
#ifdef FIXED
    auto subscriber = std::make_shared<Subscriber>();
#else
    auto subscriber = new Subscriber;
#endif
    publisher.subscribe(subscriber);
    publisher.publish(1);
    publisher.unsubscribe(subscriber);
#ifndef FIXED
    delete subscriber; /* culprit */
#endif
}

int main()
{
    Publisher publisher;
    std::thread first([&] { visit(publisher); });
    std::thread second([&] { visit(publisher); });
    publisher.publish(2);
    first.join();
    second.join();
    std::printf("done\n");
    return 0;
}
