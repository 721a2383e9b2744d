// Jobs that depend on others: one that depends on an unfinished one is started by that when it ends.
//
// Bug: whether the other has finished is looked at in one section, and the dependant is registered in the next.
// Shows as: a deadlock: a job is never started.
// FIXED: both in one section.
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

static std::mutex finished_lock;
static std::condition_variable finished;
static int left = 2;

class Job
{
  public:
    void run()
    {
        std::vector<Job *> next;
        {
            std::lock_guard guard(lock); // culprit
            done = true;
            next.swap(dependants);
        }
        {
            std::lock_guard guard(finished_lock);
            left--;
            finished.notify_all();
        }
        for (Job *job : next)
            job->run();
    }
    // Run the job when this one has finished.
    void then(Job &job)
    {
        bool now;
        {
            std::lock_guard guard(lock); // culprit
            now = done;
#ifdef FIXED
            if (!now)
                dependants.push_back(&job);
#endif
        }
#ifndef FIXED
        if (!now) {
            std::lock_guard guard(lock); // culprit
            dependants.push_back(&job);
        }
#endif
        if (now)
            job.run();
    }

  private:
    std::mutex lock;
    bool done = false;
    std::vector<Job *> dependants;
};

int main()
{
    Job compile, link;
    std::thread worker([&] { compile.run(); });
    compile.then(link);
    {
        std::unique_lock guard(finished_lock);
        finished.wait(guard, [] { return left == 0; });
    }
    worker.join();
}
