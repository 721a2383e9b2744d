/* A mixer of sound: sources deliver blocks, the output waits until all sources have one, or the mixer is muted.
 *
 * Bug: mute() changes its flag under the lock of the settings, and notifies; the output looks at it under the lock of
 *   the blocks. The notice may come between its look and its wait.
 * Shows as: deadlock.
 * FIXED: mute() takes the lock of the blocks as well. */
#include <cassert>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

class Settings
{
  public:
    void set_muted(bool muted)
    {
        std::lock_guard<std::mutex> lock(mutex_);
        muted_ = muted;
    }

    bool muted()
    {
        std::lock_guard<std::mutex> lock(mutex_);
        return muted_;
    }

  private:
    std::mutex mutex_;
    bool muted_ = false;
};

class Mixer
{
  public:
    explicit Mixer(size_t sources) : blocks_(sources)
    {
    }

    void deliver(size_t source, int block)
    {
        std::lock_guard<std::mutex> lock(mutex_);
        blocks_[source].push_back(block);
        changed_.notify_one();
    }

    void mute()
    {
        settings_.set_muted(true);
#ifdef FIXED
        std::lock_guard<std::mutex> lock(mutex_);
#endif
        changed_.notify_one(); // culprit
    }

    // The sum of a block of each source; -1: muted.
    int mix()
    {
        std::unique_lock<std::mutex> lock(mutex_);
        changed_.wait(lock, [this] { return settings_.muted() || complete(); }); // culprit
        if (!complete())
            return -1;
        int sum = 0;
        for (auto &source : blocks_) {
            sum += source.front();
            source.pop_front();
        }
        return sum;
    }

  private:
    bool complete() const
    {
        for (auto &source : blocks_)
            if (source.empty())
                return false;
        return true;
    }

    Settings settings_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<std::deque<int>> blocks_;
};

int main()
{
    Mixer mixer(2);
    int mixed = 0;
    std::thread output([&] {
        int sum;
        while ((sum = mixer.mix()) >= 0)
            mixed += sum;
    });
    std::thread left([&] {
        for (int i = 1; i <= 2; i++)
            mixer.deliver(0, i);
    });
    std::thread right([&] {
        for (int i = 1; i <= 2; i++)
            mixer.deliver(1, 10 * i);
    });
    left.join();
    right.join();
    mixer.mute();
    output.join();
    assert(mixed == 33);
    std::printf("%d\n", mixed);
    return 0;
}
