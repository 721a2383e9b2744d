// A runner of tasks, each of which is asked to close its document when it goes. A task that has not run when the runner
// is stopped is thrown away.
//
// Bug: the tasks are thrown away under the lock of the runner; what closes a document posts a task, which takes that
// lock. Mostly the tasks have run by then.
// Shows as: a deadlock: a thread that waits for itself.
// FIXED: the tasks are taken out under the lock, and thrown away behind it.
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

class Runner
{
  public:
    bool post(std::function<void()> task)
    {
        std::lock_guard guard(lock); // culprit
        if (stopped)
            return false;
        tasks.push_back(std::move(task));
        posted.notify_one();
        return true;
    }

    void run()
    {
        for (;;) {
            std::unique_lock guard(lock);
            while (tasks.empty() && !stopped)
                posted.wait(guard);
            if (stopped)
                return;
            auto task = std::move(tasks.front());
            tasks.pop_front();
            guard.unlock();
            task();
        }
    }

    void stop()
    {
        std::deque<std::function<void()>> rest;
        std::unique_lock guard(lock); // culprit
        stopped = true;
        posted.notify_all();
#ifdef FIXED
        rest.swap(tasks);
        guard.unlock();
#else
        tasks.clear();
#endif
    }

  private:
    std::mutex lock;
    std::condition_variable posted;
    std::deque<std::function<void()>> tasks;
    bool stopped = false;
};

struct Document {
    Runner &runner;
    int changes = 0;
    ~Document()
    {
        runner.post([] { puts("closed"); });
    }
};

int main()
{
    Runner runner;
    std::thread worker([&] { runner.run(); });
    std::thread editor([&] {
        auto document = std::make_shared<Document>(runner);
        for (int i = 0; i < 2; i++)
            runner.post([document] { document->changes++; });
    });
    editor.join();
    runner.stop();
    worker.join();
}
