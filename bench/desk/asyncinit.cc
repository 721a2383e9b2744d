// A service that starts in a thread of its own, and tells that it is ready.
//
// Bug: it tells so before it has set the address that it listens at.
// Shows as: a failed assertion: the address is empty.
// FIXED: it tells so behind that.
#include <cassert>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

class Service
{
  public:
    void start()
    {
        thread = std::thread([this] { run(); });
    }
    void wait()
    {
        std::unique_lock guard(lock);
        changed.wait(guard, [this] { return ready; });
    }
    std::string address()
    {
        std::lock_guard guard(state_lock); // culprit
        return where;
    }
    void stop()
    {
        {
            std::lock_guard guard(lock);
            stopped = true;
        }
        changed.notify_all();
        thread.join();
    }

  private:
    void tell()
    {
        std::lock_guard guard(lock);
        ready = true;
        changed.notify_all();
    }
    void listen()
    {
        std::lock_guard guard(state_lock); // culprit
        where = "localhost:8080";
    }
    void run()
    {
#ifndef FIXED
        tell();
        listen();
#else
        listen();
        tell();
#endif
        std::unique_lock guard(lock);
        changed.wait(guard, [this] { return stopped; });
    }
    std::mutex lock, state_lock;
    std::condition_variable changed;
    bool ready = false, stopped = false;
    std::string where;
    std::thread thread;
};

int main()
{
    Service service;
    service.start();
    service.wait();
    std::string address = service.address();
    service.stop();
    assert(!address.empty());
}
