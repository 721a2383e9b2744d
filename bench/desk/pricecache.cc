// Prices are cached in front of a database; an update writes the database and invalidates the cache.
//
// Bug: what was read before an update is put into the cache behind the invalidation.
#include <cassert>
#include <condition_variable>
#include <cstdio>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

class Database
{
  public:
    int read(const std::string &key)
    {
        std::lock_guard<std::mutex> guard(mutex_); // culprit
        return rows_[key];
    }
    void write(const std::string &key, int value)
    {
        std::lock_guard<std::mutex> guard(mutex_);
        rows_[key] = value;
    }

  private:
    std::mutex mutex_;
    std::map<std::string, int> rows_;
};

class Cache
{
  public:
    std::optional<int> get(const std::string &key)
    {
        std::lock_guard<std::mutex> guard(mutex_);
        auto it = entries_.find(key);
        if (it == entries_.end()) {
            misses_++;
            return std::nullopt;
        }
        hits_++;
        return it->second;
    }
    void put(const std::string &key, int value)
    {
        std::lock_guard<std::mutex> guard(mutex_); // culprit
        entries_[key] = value;
    }
    void invalidate(const std::string &key)
    {
        std::lock_guard<std::mutex> guard(mutex_); // culprit
        entries_.erase(key);
    }
    void print()
    {
        std::lock_guard<std::mutex> guard(mutex_);
        std::printf("%d hits, %d misses\n", hits_, misses_);
    }

  private:
    std::mutex mutex_;
    std::map<std::string, int> entries_;
    int hits_ = 0, misses_ = 0;
};

class Shop
{
  public:
    Shop()
    {
        db_.write("tea", 10);
        db_.write("milk", 3);
    }
    int price(const std::string &key)
    {
        if (auto hit = cache_.get(key))
            return *hit;
#ifdef FIXED
        std::lock_guard<std::mutex> guard(filling_);
#endif
        int value = db_.read(key);
        cache_.put(key, value);
        return value;
    }
    void set_price(const std::string &key, int value)
    {
#ifdef FIXED
        std::lock_guard<std::mutex> guard(filling_);
#endif
        db_.write(key, value);
        cache_.invalidate(key);
    }
    void print()
    {
        cache_.print();
    }

  private:
    Database db_;
    Cache cache_;
#ifdef FIXED
    std::mutex filling_;
#endif
};

int main()
{
    Shop shop;
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; i++)
        threads.emplace_back([&shop] {
            for (const char *key : { "tea", "milk" })
                (void)shop.price(key);
        });
    std::thread admin([&shop] { shop.set_price("tea", 12); });
    for (auto &t : threads)
        t.join();
    admin.join();
    assert(shop.price("tea") == 12);
    shop.print();
    return 0;
}
