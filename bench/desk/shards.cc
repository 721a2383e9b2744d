/* A map in shards, each with a lock, that grows: then all entries move to a table with more shards.
 *
 * Bug: a writer finds its shard in the table, and waits for the shard's lock; the table may have been replaced by then,
 *   and the entry goes into the old one.
 * Shows as: a failed assertion: an entry is missing.
 * FIXED: behind the lock it looks whether the table is still the same. */
#include <cassert>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

struct Shard {
    std::mutex mutex;
    std::map<int, std::string> entries;
};

struct Table {
    explicit Table(size_t count) : shards(count)
    {
    }
    std::vector<Shard> shards;
    Shard &of(int key)
    {
        return shards[(size_t)key % shards.size()];
    }
};

class Map
{
  public:
    Map() : table_(std::make_shared<Table>(2))
    {
    }

    void put(int key, const std::string &value)
    {
        for (;;) {
            std::shared_ptr<Table> table = current(); // culprit
            Shard &shard = table->of(key);
            std::lock_guard<std::mutex> lock(shard.mutex); // culprit
#ifdef FIXED
            if (table != current())
                continue;
#endif
            shard.entries[key] = value;
            return;
        }
    }

    bool has(int key)
    {
        std::shared_ptr<Table> table = current();
        Shard &shard = table->of(key);
        std::lock_guard<std::mutex> lock(shard.mutex);
        return shard.entries.count(key) > 0;
    }

    void grow()
    {
        std::shared_ptr<Table> old = current();
        auto more = std::make_shared<Table>(old->shards.size() * 2);
        std::vector<std::unique_lock<std::mutex>> locks;
        for (auto &shard : old->shards)
            locks.emplace_back(shard.mutex); // culprit
        for (auto &shard : old->shards)
            for (auto &entry : shard.entries)
                more->of(entry.first).entries.insert(entry);
        std::lock_guard<std::mutex> lock(mutex_); // culprit
        table_ = more;
    }

  private:
    std::shared_ptr<Table> current()
    {
        std::lock_guard<std::mutex> lock(mutex_); // culprit
        return table_;
    }

    std::mutex mutex_;
    std::shared_ptr<Table> table_;
};

static Map sessions;

static void login(int user)
{
    for (int i = 0; i < 2; i++) {
        int session = user * 10 + i;
        sessions.put(session, "user " + std::to_string(user));
        assert(sessions.has(session));
    }
}

static void maintain()
{
    sessions.grow();
}

int main()
{
    std::vector<std::thread> threads;
    for (int user = 1; user <= 2; user++)
        threads.emplace_back(login, user);
    threads.emplace_back(maintain);
    for (auto &thread : threads)
        thread.join();
    int found = 0;
    for (int user = 1; user <= 2; user++)
        for (int i = 0; i < 2; i++)
            found += sessions.has(user * 10 + i);
    assert(found == 4);
    std::printf("%d sessions\n", found);
    return 0;
}
