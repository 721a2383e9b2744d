// A service whose base class runs its thread; what the thread calls is set by the derived class.
//
// Bug: the base class starts the thread in its constructor, before the derived one has set what it calls.
// Shows as: a failed assertion: nothing to call.
// FIXED: the thread is started behind that.
#include <cassert>
#include <functional>
#include <mutex>
#include <thread>

class Service
{
  public:
    Service()
    {
#ifndef FIXED
        start();
#endif
    }
    void start()
    {
        thread = std::thread([this] { run(); }); // culprit
    }
    void stop()
    {
        thread.join();
    }

  protected:
    void set(std::function<void()> function)
    {
        std::lock_guard guard(lock); // culprit
        handler = std::move(function);
    }

  private:
    void run()
    {
        std::function<void()> function;
        {
            std::lock_guard guard(lock); // culprit
            function = handler;
        }
        assert(function);
        function();
    }
    std::mutex lock;
    std::function<void()> handler;
    std::thread thread;
};

class Mailer : public Service
{
  public:
    Mailer()
    {
        set([this] { sent++; });
    }
    int sent = 0;
};

int main()
{
    Mailer mailer;
#ifdef FIXED
    mailer.start();
#endif
    mailer.stop();
    return mailer.sent == 1 ? 0 : 1;
}
