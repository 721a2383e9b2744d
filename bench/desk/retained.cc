// Pub/sub with a retained message: who subscribes gets the last message at once, and all that come later.
//
// Bug: the retained message is taken in one section and the subscriber put on the list in another one; a message that
// is published in between is lost for it.
// Shows as: an exit status of 1: the subscriber has not seen the last message.
// FIXED: one section.
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

class inbox
{
  public:
    void put(int message)
    {
        std::lock_guard<std::mutex> hold(lock_);
        last_ = message;
    }
    int last() const
    {
        return last_;
    }

  private:
    std::mutex lock_;
    int last_ = 0;
};

class topic
{
  public:
    void publish(int message)
    {
        std::lock_guard<std::mutex> hold(lock_); // culprit
        retained_ = message;
        for (inbox *one : list_)
            one->put(message);
    }

    void subscribe(inbox *who)
    {
#ifdef FIXED
        std::lock_guard<std::mutex> hold(lock_);
        who->put(retained_);
        list_.push_back(who);
#else
        who->put(retained());
        add(who); // culprit
#endif
    }

  private:
    int retained()
    {
        std::lock_guard<std::mutex> hold(lock_); // culprit
        return retained_;
    }
    void add(inbox *who)
    {
        std::lock_guard<std::mutex> hold(lock_); // culprit
        list_.push_back(who);
    }
    std::mutex lock_;
    std::vector<inbox *> list_;
    int retained_ = 0;
};

int main()
{
    topic news;
    inbox one, two;
    std::thread writer([&] {
        for (int i = 1; i <= 2; i++)
            news.publish(i);
    });
    std::thread reader([&] {
        news.subscribe(&one);
        news.subscribe(&two);
    });
    writer.join();
    reader.join();
    std::printf("%d %d\n", one.last(), two.last());
    return one.last() == 2 && two.last() == 2 ? 0 : 1;
}
