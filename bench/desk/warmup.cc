// A cache that fills itself in a thread of its own.
//
// Bug: the constructor starts the thread before the capacity is set.
// Shows as: a failed assertion.
// FIXED: the thread is started last.
#include <cassert>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace
{

class Cache
{
  public:
    explicit Cache(int capacity)
    {
#ifdef FIXED
        set_capacity(capacity);
        start();
#else
        start();
        set_capacity(capacity);
#endif
    }

    ~Cache()
    {
        filler_.join();
    }

    void put(const std::string &key)
    {
        std::lock_guard<std::mutex> guard(mutex_); /* culprit */
        assert(capacity_ > 0);
        if (static_cast<int>(keys_.size()) < capacity_)
            keys_.push_back(key);
    }

    int size()
    {
        std::lock_guard<std::mutex> guard(mutex_);
        return static_cast<int>(keys_.size());
    }

  private:
    void start()
    {
        filler_ = std::thread([this] { fill(); });
    }

    void set_capacity(int capacity)
    {
        std::lock_guard<std::mutex> guard(mutex_); /* culprit */
        capacity_ = capacity;
    }

    void fill()
    {
        for (const char *key : { "index", "logo", "news" })
            put(key);
    }

    std::mutex mutex_;
    int capacity_ = 0;
    std::vector<std::string> keys_;
    std::thread filler_;
};

} // namespace

int main()
{
    Cache cache(2);
    cache.put("start");
    return cache.size() > 2;
}
