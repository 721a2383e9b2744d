// Publish and subscribe: topics with subscribers that come and go.
//
// Bug: who publishes goes through a copy of pointers, and nothing keeps the subscribers alive.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

struct Message {
    std::string topic;
    int number;
};

class Subscriber
{
  public:
    explicit Subscriber(std::string name) : name_(std::move(name))
    {
        pthread_mutex_init(&mutex_, nullptr);
    }

    ~Subscriber()
    {
        pthread_mutex_destroy(&mutex_); // culprit
    }

    void deliver(const Message &m)
    {
        pthread_mutex_lock(&mutex_); // culprit
        inbox_.push_back(m);
        pthread_mutex_unlock(&mutex_);
    }

    std::size_t received()
    {
        pthread_mutex_lock(&mutex_);
        std::size_t n = inbox_.size();
        pthread_mutex_unlock(&mutex_);
        return n;
    }

  private:
    std::string name_;
    pthread_mutex_t mutex_;
    std::vector<Message> inbox_;
};

class Broker
{
  public:
    void subscribe(const std::string &topic, Subscriber *s)
    {
        std::lock_guard<std::mutex> guard(mutex_);
        topics_[topic].push_back(s);
    }

    void unsubscribe(const std::string &topic, Subscriber *s)
    {
        std::lock_guard<std::mutex> guard(mutex_); // culprit
        auto &list = topics_[topic];
        list.erase(std::remove(list.begin(), list.end(), s), list.end());
    }

    void publish(const Message &m)
    {
#ifdef FIXED
        std::lock_guard<std::mutex> whole(mutex_);
        std::vector<Subscriber *> list = topics_[m.topic];
        published_++;
#else
        std::vector<Subscriber *> list;
        {
            std::lock_guard<std::mutex> guard(mutex_); // culprit
            list = topics_[m.topic];
            published_++;
        }
#endif
        for (Subscriber *s : list)
            s->deliver(m);
    }

    int published()
    {
        std::lock_guard<std::mutex> guard(mutex_);
        return published_;
    }

  private:
    std::mutex mutex_;
    std::map<std::string, std::vector<Subscriber *>> topics_;
    int published_ = 0;
};

static Broker broker;

static void publisher(int first)
{
    for (int i = 0; i < 2; i++)
        broker.publish(Message{ "prices", first + i });
}

static void session(int number)
{
    auto *s = new Subscriber("session " + std::to_string(number));

    broker.subscribe("prices", s);
    if (s->received() > 4)
        std::abort();
    broker.unsubscribe("prices", s);
    delete s;
}

int main()
{
    Subscriber archive("archive");

    broker.subscribe("prices", &archive);
    std::thread p(publisher, 10), a(session, 1), b(session, 2);
    p.join();
    a.join();
    b.join();
    std::printf("%d published, %zu archived\n", broker.published(), archive.received());
    return 0;
}
