// A cache of values that are expensive to make: who does not find one makes it without the lock.
//
// Bug: two who miss the same key both make a value; the second one replaces and deletes the first, which is in use.
// Shows as: a failed assertion in the value, or a crash.
// FIXED: who comes second keeps what stands there.
#include <cassert>
#include <map>
#include <mutex>
#include <string>
#include <thread>

class Value
{
  public:
    explicit Value(const std::string &key) : text_("<" + key + ">"), magic_(0xca11)
    {
    }

    ~Value()
    {
        magic_ = 0;
    }

    size_t use()
    {
        std::lock_guard<std::mutex> guard(mutex_); /* culprit */
        assert(magic_ == 0xca11);
        uses_++;
        return text_.size();
    }

  private:
    std::string text_;
    std::mutex mutex_;
    int padding_[16] = {};
    volatile int magic_;
    int uses_ = 0;
};

class Cache
{
  public:
    Value *get(const std::string &key)
    {
        if (Value *found = find(key))
            return found;
        return insert(key, new Value(key));
    }

    ~Cache()
    {
        for (auto &entry : values_)
            delete entry.second;
    }

  private:
    Value *find(const std::string &key)
    {
        std::lock_guard<std::mutex> guard(mutex_); /* culprit */
        auto at = values_.find(key);
        return at == values_.end() ? nullptr : at->second;
    }

    Value *insert(const std::string &key, Value *made)
    {
        std::lock_guard<std::mutex> guard(mutex_); /* culprit */
        Value *&slot = values_[key];
#ifdef FIXED
        if (slot) {
            delete made;
            return slot;
        }
#endif
        delete slot;
        return slot = made;
    }

    std::mutex mutex_;
    std::map<std::string, Value *> values_;
};

static void client(Cache &cache, const char *key)
{
    size_t sum = 0;
    for (int i = 0; i < 2; i++)
        sum += cache.get(key)->use();
    assert(sum == 6);
}

int main()
{
    Cache cache;
    std::thread first(client, std::ref(cache), "a"), second(client, std::ref(cache), "a"),
        third(client, std::ref(cache), "b");
    first.join();
    second.join();
    third.join();
    return 0;
}
