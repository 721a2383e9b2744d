// An LRU cache in front of a slow loader.
//
// Bug: who has missed loads without the lock, and enters what another one may have entered meanwhile.
#include <cassert>
#include <cstdio>
#include <list>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

class LruCache
{
  public:
    using Loader = std::string (*)(int);

    LruCache(std::size_t capacity, Loader loader) : capacity_(capacity), loader_(loader)
    {
    }

    std::string get(int key)
    {
        {
            std::lock_guard<std::mutex> guard(mutex_); // culprit
            auto it = index_.find(key);
            if (it != index_.end()) {
                order_.splice(order_.begin(), order_, it->second);
                hits_++;
                return it->second->value;
            }
            misses_++;
        }
        std::string value = loader_(key); // slow: not under the lock
        insert(key, value);
        return value;
    }

    void erase(int key)
    {
        std::lock_guard<std::mutex> guard(mutex_);
        auto it = index_.find(key);
        if (it == index_.end())
            return;
        order_.erase(it->second);
        index_.erase(it);
    }

    bool consistent()
    {
        std::lock_guard<std::mutex> guard(mutex_);
        return order_.size() == index_.size() && order_.size() <= capacity_;
    }

    void print()
    {
        std::lock_guard<std::mutex> guard(mutex_);
        std::printf("%d hits, %d misses, %zu entries\n", hits_, misses_, order_.size());
    }

  private:
    struct Entry {
        int key;
        std::string value;
    };

    void insert(int key, const std::string &value)
    {
        std::lock_guard<std::mutex> guard(mutex_); // culprit
#ifdef FIXED
        if (index_.count(key))
            return;
#endif
        order_.push_front(Entry{ key, value });
        index_[key] = order_.begin();
        if (order_.size() > capacity_) {
            index_.erase(order_.back().key);
            order_.pop_back();
        }
    }

    const std::size_t capacity_;
    const Loader loader_;
    std::mutex mutex_;
    std::list<Entry> order_;
    std::unordered_map<int, std::list<Entry>::iterator> index_;
    int hits_ = 0;
    int misses_ = 0;
};

static std::mutex disk_mutex;
static int disk_reads;

static std::string load_from_disk(int key)
{
    std::lock_guard<std::mutex> guard(disk_mutex);
    disk_reads++;
    return "value of " + std::to_string(key);
}

static LruCache cache(3, load_from_disk);

static void reader(int first)
{
    for (int i = 0; i < 3; i++) {
        int key = (first + i * 2) % 4;
        std::string v = cache.get(key);
        assert(v == "value of " + std::to_string(key));
    }
    if (first == 1)
        cache.erase(1);
}

int main()
{
    std::vector<std::thread> threads;

    for (int i = 0; i < 3; i++)
        threads.emplace_back(reader, i);
    for (auto &t : threads)
        t.join();
    cache.print();
    assert(cache.consistent());
    return 0;
}
