// A log that a thread of its own writes: others append lines and flush.
//
// Bug: flush() waits until no line is left in the queue; those that the writer has taken out are not written yet.
// Shows as: a failed assertion behind flush().
// FIXED: flush() waits until as many lines are written as there were.
#include <cassert>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

class Log
{
  public:
    Log() : writer_([this] { run(); })
    {
    }

    ~Log()
    {
        {
            std::lock_guard<std::mutex> guard(mutex_);
            stop_ = true;
        }
        more_.notify_one();
        writer_.join();
    }

    void append(const std::string &line)
    {
        std::lock_guard<std::mutex> guard(mutex_);
        queue_.push_back(line);
        appended_++;
        more_.notify_one();
    }

    void flush()
    {
        std::unique_lock<std::mutex> guard(mutex_); /* culprit */
#ifdef FIXED
        size_t until = appended_;
        done_.wait(guard, [&] { return written() >= until; });
#else
        done_.wait(guard, [this] { return queue_.empty(); }); /* culprit */
#endif
    }

    size_t written()
    {
        std::lock_guard<std::mutex> guard(file_mutex_); /* culprit */
        return file_.size();
    }

  private:
    void run()
    {
        std::unique_lock<std::mutex> guard(mutex_);
        while (true) {
            more_.wait(guard, [this] { return stop_ || !queue_.empty(); }); /* culprit */
            if (queue_.empty())
                return;
            std::vector<std::string> batch;
            batch.swap(queue_);
            guard.unlock();
            write(batch);
            guard.lock(); /* culprit */
            done_.notify_all();
        }
    }

    void write(const std::vector<std::string> &batch)
    {
        std::lock_guard<std::mutex> guard(file_mutex_); /* culprit */
        file_.insert(file_.end(), batch.begin(), batch.end());
    }

    std::mutex mutex_, file_mutex_;
    std::condition_variable more_, done_;
    std::vector<std::string> queue_, file_;
    size_t appended_ = 0;
    bool stop_ = false;
    std::thread writer_;
};

int main()
{
    Log log;
    log.append("start");
    std::thread other([&log] { log.append("from elsewhere"); });
    log.append("ready");
    log.flush();
    assert(log.written() >= 2);
    other.join();
    return 0;
}
