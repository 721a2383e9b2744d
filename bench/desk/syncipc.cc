// A browser and its renderer send each other messages; each is a thread with a queue. Each has one question, whose
// answer it waits for, and handles what has come before it asks.
//
// Bug: while it waits for an answer, neither looks at its other messages. Mostly one asks before the other; if both ask
// at once, each waits for what the other one does not read.
// Shows as: a deadlock.
// FIXED: who waits for an answer answers others meanwhile.
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <thread>

enum class Message { question, answer };

class Process
{
  public:
    Process *other = nullptr;

    void run()
    {
        handle();
        ask();
        while (answered == 0)
            wait_and_handle();
    }

  private:
    void send(Message message)
    {
        std::lock_guard guard(lock);
        (message == Message::question ? questions : answers)++;
        arrived.notify_one();
    }

    void handle()
    {
        std::unique_lock guard(lock);
        if (questions == 0)
            return;
        questions--;
        answered++;
        guard.unlock();
        other->send(Message::answer);
    }

    void wait_and_handle()
    {
        {
            std::unique_lock guard(lock);
            while (questions == 0)
                arrived.wait(guard);
        }
        handle();
    }

    void ask()
    {
        other->send(Message::question);
        std::unique_lock guard(lock);
        while (answers == 0) {
#ifdef FIXED
            if (questions) {
                guard.unlock();
                handle();
                guard.lock();
                continue;
            }
#endif
            arrived.wait(guard); // culprit
        }
        answers--;
    }

    std::mutex lock;
    std::condition_variable arrived;
    int questions = 0, answers = 0, answered = 0;
};

int main()
{
    Process browser, renderer;
    browser.other = &renderer;
    renderer.other = &browser;
    std::thread one([&] { browser.run(); }), two([&] { renderer.run(); });
    one.join();
    two.join();
    puts("loaded");
}
