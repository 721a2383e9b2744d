// A cache that many read and few fill; it counts how often its entries are hit.
//
// Bug: the count is raised under the lock that readers share, so that two of them raise it at once.
// Shows as: a failed assertion: a hit is lost.
// FIXED: an atomic count.
#include <atomic>
#include <cassert>
#include <cstdio>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

class Cache
{
  public:
    void put(const std::string &key, int value)
    {
        std::unique_lock<std::shared_mutex> lock(mutex_);
        entries_[key] = value;
    }

    bool get(const std::string &key, int &value)
    {
        std::shared_lock<std::shared_mutex> lock(mutex_); // culprit
        auto found = entries_.find(key);
        if (found == entries_.end())
            return false;
        value = found->second;
        hits_++; // culprit
        return true;
    }

    int hits() const
    {
        return hits_;
    }

  private:
    std::shared_mutex mutex_;
    std::map<std::string, int> entries_;
#ifdef FIXED
    std::atomic<int> hits_{ 0 };
#else
    int hits_ = 0;
#endif
};

static Cache cache;

int main()
{
    const int threads = 2, looks = 3;
    cache.put("one", 1);
    std::vector<std::thread> readers;
    for (int i = 0; i < threads; i++)
        readers.emplace_back([] {
            for (int n = 0; n < looks; n++) {
                int value = 0;
                if (!cache.get("one", value) || value != 1)
                    std::abort();
            }
        });
    for (auto &reader : readers)
        reader.join();
    std::printf("%d hits\n", cache.hits());
    assert(cache.hits() == threads * looks);
}
