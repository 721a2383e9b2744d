// Two threads share a session with a database, which has one transaction at a time.
//
// Bug: each call is under the session's lock, but not what belongs to one transaction.
// Shows as: an exception: a transaction within a transaction.
// FIXED: a lock for the transaction.
#include <mutex>
#include <stdexcept>
#include <thread>

class Session
{
  public:
    void begin()
    {
        std::lock_guard guard(lock); // culprit
        if (open)
            throw std::runtime_error("a transaction within a transaction");
        open = true;
    }
    void execute(int row)
    {
        std::lock_guard guard(lock); // culprit
        rows += row;
    }
    void commit()
    {
        std::lock_guard guard(lock); // culprit
        open = false;
    }
    std::mutex whole;

  private:
    std::mutex lock;
    bool open = false;
    int rows = 0;
};

static void order(Session &session, int row)
{
#ifdef FIXED
    std::lock_guard guard(session.whole);
#endif
    session.begin();
    session.execute(row);
    session.commit();
}

int main()
{
    Session session;
    std::thread one([&] { order(session, 1); }), other([&] { order(session, 2); });
    one.join();
    other.join();
}
