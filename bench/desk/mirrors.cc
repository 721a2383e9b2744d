// Mirrors of a file are asked at once; main waits on a latch until all have answered.
//
// Bug: who finds that another one has already brought the file returns early, and does not count down.
// Shows as: deadlock: main waits at the latch.
// FIXED: the early path counts down, too.
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

class Latch
{
  public:
    explicit Latch(int count) : count_(count)
    {
    }

    void count_down()
    {
        std::lock_guard<std::mutex> guard(mutex_);
        if (--count_ == 0)
            zero_.notify_all(); // culprit
    }

    void wait()
    {
        std::unique_lock<std::mutex> lock(mutex_);
        zero_.wait(lock, [this] { return count_ == 0; }); // culprit
    }

  private:
    std::mutex mutex_;
    std::condition_variable zero_;
    int count_;
};

class Download
{
  public:
    explicit Download(int mirrors) : latch_(mirrors)
    {
    }

    void ask(const std::string &mirror)
    {
        {
            std::lock_guard<std::mutex> guard(mutex_); // culprit
            if (!from_.empty() && from_ != mirror) {
#ifdef FIXED
                latch_.count_down();
#endif
                return;
            }
        }
        std::string content = "content of " + mirror;
        {
            std::lock_guard<std::mutex> guard(mutex_);
            if (from_.empty()) {
                from_ = mirror;
                content_ = content;
            }
        }
        latch_.count_down();
    }

    std::string wait()
    {
        latch_.wait();
        return content_;
    }

  private:
    Latch latch_;
    std::mutex mutex_;
    std::string from_, content_;
};

int main()
{
    const std::vector<std::string> mirrors{ "north", "south", "west" };
    Download download(static_cast<int>(mirrors.size()));
    std::vector<std::thread> threads;
    for (const auto &mirror : mirrors)
        threads.emplace_back([&download, &mirror] { download.ask(mirror); });
    const std::string content = download.wait();
    for (auto &thread : threads)
        thread.join();
    std::printf("%s\n", content.c_str());
    return content.empty();
}
