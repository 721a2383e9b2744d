/* Stages of a build wait for the one before them; a stage has several targets, each with a thread.
 *
 * Bug: the last target of a stage wakes one of the targets of the next with notify_one.
 * Shows as: deadlock.
 * FIXED: notify_all. */
#include <condition_variable>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

class Stage
{
  public:
    Stage(std::string name, int targets) : name_(std::move(name)), left_(targets)
    {
    }

    void target_done()
    {
        std::unique_lock<std::mutex> lock(mutex_);
        if (--left_ > 0)
            return;
#ifdef FIXED
        finished_.notify_all();
#else
        finished_.notify_one(); // culprit
#endif
    }

    void wait()
    {
        std::unique_lock<std::mutex> lock(mutex_);
        while (left_ > 0)
            finished_.wait(lock); // culprit
    }

    const std::string &name() const
    {
        return name_;
    }

  private:
    std::string name_;
    std::mutex mutex_;
    std::condition_variable finished_;
    int left_;
};

class Build
{
  public:
    void add(const std::string &stage, int targets)
    {
        stages_.push_back(std::make_unique<Stage>(stage, targets));
        targets_.push_back(targets);
    }

    void run()
    {
        std::vector<std::thread> threads;
        for (size_t stage = 0; stage < stages_.size(); stage++)
            for (int i = 0; i < targets_[stage]; i++)
                threads.emplace_back([this, stage, i] { target(stage, i); });
        for (auto &thread : threads)
            thread.join();
    }

    const std::vector<std::string> &log() const
    {
        return log_;
    }

  private:
    void target(size_t stage, int number)
    {
        if (stage > 0)
            stages_[stage - 1]->wait();
        {
            std::lock_guard<std::mutex> lock(log_mutex_);
            log_.push_back(stages_[stage]->name() + " " + std::to_string(number));
        }
        stages_[stage]->target_done();
    }

    std::vector<std::unique_ptr<Stage>> stages_;
    std::vector<int> targets_;
    std::mutex log_mutex_;
    std::vector<std::string> log_;
};

int main()
{
    Build build;
    build.add("generate", 1);
    build.add("compile", 3);
    build.add("link", 1);
    build.run();
    for (auto &line : build.log())
        std::puts(line.c_str());
    return 0;
}
