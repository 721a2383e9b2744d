// A table of settings that is loaded anew, and clients that keep what they have read until its generation changes.
//
// Bug: reload() raises the generation before the table is new: a client that looks in between keeps the old table
//   under the new number, for good.
// Shows as: a failed assertion.
// FIXED: the generation is raised behind the table.
#include <cassert>
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <thread>

class Settings
{
  public:
    int generation()
    {
        std::lock_guard<std::mutex> guard(mutex_);
        return generation_;
    }

    int timeout()
    {
        std::lock_guard<std::mutex> guard(table_mutex_); /* culprit */
        return table_["timeout"];
    }

    void reload(int timeout)
    {
#ifdef FIXED
        store(timeout);
        raise();
#else
        raise();        /* culprit */
        store(timeout); /* culprit */
#endif
    }

  private:
    void raise()
    {
        std::lock_guard<std::mutex> guard(mutex_); /* culprit */
        generation_++;
    }

    void store(int timeout)
    {
        std::lock_guard<std::mutex> guard(table_mutex_); /* culprit */
        table_["timeout"] = timeout;
    }

    std::mutex mutex_, table_mutex_;
    int generation_ = 1;
    std::map<std::string, int> table_{ { "timeout", 10 } };
};

class Client
{
  public:
    explicit Client(Settings &settings) : settings_(settings)
    {
    }

    int timeout()
    {
        int generation = settings_.generation(); /* culprit */
        if (generation != seen_) {
            timeout_ = settings_.timeout(); /* culprit */
            seen_ = generation;
        }
        return timeout_;
    }

  private:
    Settings &settings_;
    int seen_ = 0, timeout_ = 0;
};

int main()
{
    Settings settings;
    Client first(settings), second(settings);
    std::thread one([&] { first.timeout(); });
    std::thread two([&] { second.timeout(); });
    settings.reload(20);
    one.join();
    two.join();
    assert(first.timeout() == 20);
    assert(second.timeout() == 20);
    std::printf("reloaded\n");
}
