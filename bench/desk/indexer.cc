// An indexer in the background: it sleeps until there are changes, or it is told to stop.
//
// Bug: the flags are atomic, so they are set, and it is told, without the mutex.
// Shows as: a deadlock: it sleeps on.
// FIXED: they are set under the mutex.
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

class Indexer
{
  public:
    Indexer() : thread_(&Indexer::run, this)
    {
    }
    ~Indexer()
    {
        tell(stop_);
        thread_.join();
    }
    void change()
    {
        tell(changed_);
    }

  private:
    void tell(std::atomic<bool> &flag)
    {
#ifdef FIXED
        std::lock_guard<std::mutex> lock(mutex_);
#endif
        flag = true;
        wake_.notify_one(); // culprit
    }
    void run()
    {
        std::unique_lock<std::mutex> lock(mutex_);
        while (!stop_) {
            if (changed_.exchange(false)) {
                lock.unlock();
                indexed_++;
                lock.lock();
                continue;
            }
            wake_.wait(lock, [this] { return stop_ || changed_; }); // culprit
        }
    }

    std::mutex mutex_;
    std::condition_variable wake_;
    std::atomic<bool> stop_{ false }, changed_{ false };
    std::atomic<int> indexed_{ 0 };
    std::thread thread_;
};

int main()
{
    Indexer indexer;
    indexer.change();
    indexer.change();
}
