/* A logger with a thread of its own, and a flag that tells it to end.
 *
 * Bug: the thread looks at the flag before the queue: what was queued before the flag was set is not written.
 * Shows as: a failed assertion: lines are missing in the file.
 * FIXED: it ends when the flag is set and the queue is empty. */
#include <cassert>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

class Sink
{
  public:
    void write(const std::string &line)
    {
        bytes_ += line.size();
        lines_++;
    }
    size_t lines() const
    {
        return lines_;
    }

  private:
    size_t lines_ = 0, bytes_ = 0;
};

class Logger
{
  public:
    explicit Logger(Sink &sink) : sink_(sink), thread_([this] { run(); })
    {
    }

    ~Logger()
    {
        {
            std::lock_guard<std::mutex> lock(mutex_); // culprit
            stopping_ = true;
        }
        wake_.notify_one();
        thread_.join();
    }

    void log(std::string line)
    {
        std::lock_guard<std::mutex> lock(mutex_);
        queue_.push_back(std::move(line));
        wake_.notify_one();
    }

  private:
    void run()
    {
        for (;;) {
            std::string line;
            {
                std::unique_lock<std::mutex> lock(mutex_); // culprit
                wake_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
#ifdef FIXED
                if (queue_.empty())
#else
                if (stopping_)
#endif
                    return;
                line = std::move(queue_.front());
                queue_.pop_front();
            }
            sink_.write(line);
        }
    }

    Sink &sink_;
    std::mutex mutex_;
    std::condition_variable wake_;
    std::deque<std::string> queue_;
    bool stopping_ = false;
    std::thread thread_;
};

int main()
{
    Sink sink;
    {
        Logger logger(sink);
        std::vector<std::thread> workers;
        for (int worker = 0; worker < 2; worker++)
            workers.emplace_back([&logger, worker] {
                for (int i = 0; i < 2; i++)
                    logger.log("worker " + std::to_string(worker) + " step " + std::to_string(i));
            });
        for (auto &worker : workers)
            worker.join();
    }
    assert(sink.lines() == 4);
    printf("%zu lines\n", sink.lines());
}
