// A service whose workers say when they are up, and whose starter waits for that.
//
// Bug: the starter waits without looking whether the worker is up already; who says so before that is not heard.
// Shows as: a deadlock.
// FIXED: it waits until what it waits for is true.
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace
{

class Worker
{
  public:
    Worker() : thread_([this] { run(); })
    {
    }
    ~Worker()
    {
        thread_.join();
    }

    void await_start()
    {
        std::unique_lock<std::mutex> lock(mutex_); /* culprit */
#ifdef FIXED
        started_.wait(lock, [this] { return up_; });
#else
        started_.wait(lock); /* culprit */
#endif
    }

  private:
    void run()
    {
        load();
        {
            std::lock_guard<std::mutex> guard(mutex_);
            up_ = true;
        }
        started_.notify_all(); /* culprit */
    }

    void load()
    {
        static std::mutex disk;
        std::lock_guard<std::mutex> guard(disk);
        loaded_ = 1;
    }

    std::mutex mutex_;
    std::condition_variable started_;
    bool up_ = false;
    int loaded_ = 0;
    std::thread thread_;
};

} // namespace

int main()
{
    std::vector<std::unique_ptr<Worker>> workers;
    for (int i = 0; i < 2; i++) {
        workers.push_back(std::make_unique<Worker>());
        workers.back()->await_start();
    }
    return 0;
}
