// Sessions of a server, each with a lock of its own, and a sweeper that goes through all of them.
//
// Bug: the sweeper keeps its place in the table while it has let the table's lock go: a session that is closed
// meanwhile takes the place with it.
// Shows as: the lock of a session that has been freed is used; a hang or a crash.
// FIXED: the sweeper goes through shared pointers that it has copied.
#include <list>
#include <memory>
#include <mutex>
#include <thread>

namespace
{

struct Session {
    explicit Session(int number) : number(number)
    {
    }
    int number;
    int idle = 0;
    std::mutex mutex;
};

class Sessions
{
  public:
    void open(int number)
    {
        std::lock_guard<std::mutex> guard(mutex_);
        sessions_.push_back(std::make_shared<Session>(number));
    }

    void close(int number)
    {
        std::lock_guard<std::mutex> guard(mutex_);                                                /* culprit */
        sessions_.remove_if([number](const auto &session) { return session->number == number; }); /* culprit */
    }

    int sweep()
    {
        int swept = 0;
        std::unique_lock<std::mutex> lock(mutex_); /* culprit */
#ifdef FIXED
        const auto copy = sessions_;
        lock.unlock();
        for (const auto &session : copy) {
            std::lock_guard<std::mutex> guard(session->mutex);
            session->idle++;
            swept++;
        }
#else
        for (auto at = sessions_.begin(); at != sessions_.end(); ++at) {
            Session &session = **at;
            lock.unlock();
            {
                std::lock_guard<std::mutex> guard(session.mutex); /* culprit */
                session.idle++;
                swept++;
            }
            lock.lock(); /* culprit */
        }
#endif
        return swept;
    }

  private:
    std::mutex mutex_;
    std::list<std::shared_ptr<Session>> sessions_;
};

} // namespace

int main()
{
    Sessions sessions;
    for (int i = 0; i < 3; i++)
        sessions.open(i);
    std::thread sweeper([&sessions] { sessions.sweep(); });
    std::thread client([&sessions] {
        sessions.open(7);
        sessions.close(1);
    });
    sweeper.join();
    client.join();
    return 0;
}
