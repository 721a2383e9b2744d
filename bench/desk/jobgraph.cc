// A graph of jobs, which grows while its jobs run: a job waits for those that it depends on, and whoever ends tells
// those that wait for it.
//
// Bug: whether the other job has ended is asked in one section, and what waits for it noted in another; a job that ends
// in between tells nobody.
// Shows as: a deadlock: a job is never ready.
// FIXED: one section.
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

struct job {
    std::function<void()> run;
    std::mutex lock;
    std::vector<job *> waiting; // for this one to end
    bool ended = false;
    int needs = 1; // 1 more while it is being made
};

class graph
{
  public:
    explicit graph(int workers)
    {
        for (int i = 0; i < workers; i++)
            workers_.emplace_back([this] { work(); });
    }

    job *make(std::function<void()> run, const std::vector<job *> &after)
    {
        jobs_.push_back(std::make_unique<job>());
        job *made = jobs_.back().get();
        made->run = std::move(run);
        for (job *other : after)
            depend(made, other);
        {
            std::lock_guard<std::mutex> hold(lock_);
            left_++;
        }
        satisfied(made);
        return made;
    }

    void wait()
    {
        std::unique_lock<std::mutex> hold(lock_);
        changed_.wait(hold, [this] { return left_ == 0; }); // culprit
        stop_ = true;
        changed_.notify_all();
        hold.unlock();
        for (auto &worker : workers_)
            worker.join();
    }

  private:
    static bool has_ended(job *what)
    {
        std::lock_guard<std::mutex> hold(what->lock); // culprit
        return what->ended;
    }

    static void depend(job *made, job *other)
    {
#ifdef FIXED
        std::lock_guard<std::mutex> both(other->lock);
        if (other->ended)
            return;
        {
            std::lock_guard<std::mutex> hold(made->lock);
            made->needs++;
        }
        other->waiting.push_back(made);
#else
        if (has_ended(other)) // culprit
            return;
        {
            std::lock_guard<std::mutex> hold(made->lock); // culprit
            made->needs++;
        }
        std::lock_guard<std::mutex> hold(other->lock); // culprit
        other->waiting.push_back(made);
#endif
    }

    void satisfied(job *what)
    {
        bool ready;
        {
            std::lock_guard<std::mutex> hold(what->lock);
            ready = --what->needs == 0;
        }
        if (!ready)
            return;
        std::lock_guard<std::mutex> hold(lock_);
        ready_.push_back(what);
        changed_.notify_all();
    }

    void end(job *what)
    {
        std::vector<job *> waiting;
        {
            std::lock_guard<std::mutex> hold(what->lock); // culprit
            what->ended = true;
            waiting.swap(what->waiting);
        }
        for (job *other : waiting)
            satisfied(other);
        std::lock_guard<std::mutex> hold(lock_);
        if (--left_ == 0)
            changed_.notify_all();
    }

    void work()
    {
        for (;;) {
            job *next;
            {
                std::unique_lock<std::mutex> hold(lock_);
                changed_.wait(hold, [this] { return stop_ || !ready_.empty(); });
                if (ready_.empty())
                    return;
                next = ready_.front();
                ready_.pop_front();
            }
            next->run();
            end(next);
        }
    }

    std::mutex lock_;
    std::condition_variable changed_;
    std::deque<job *> ready_;
    std::vector<std::unique_ptr<job>> jobs_; // of the thread that makes them
    std::vector<std::thread> workers_;
    int left_ = 0;
    bool stop_ = false;
};

int main()
{
    std::mutex lock;
    int built = 0;
    auto build = [&] {
        std::lock_guard<std::mutex> hold(lock);
        built++;
    };
    graph all(2);
    job *parser = all.make(build, {});
    job *lexer = all.make(build, {});
    job *library = all.make(build, { parser, lexer });
    all.make(build, { library });
    all.wait();
    std::printf("%d built\n", built);
}
