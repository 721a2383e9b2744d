// Time zones are loaded once each, on first use: a shared lock to look, the exclusive lock to add.
//
// Bug: who has looked under the read lock adds under the write lock without another look.
#include <cassert>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

struct Zone {
    explicit Zone(std::string n) : name(std::move(n))
    {
    }
    std::string name;
    int offset = 0;
};

class Zones
{
  public:
    const Zone *find(const std::string &name)
    {
        {
            std::shared_lock<std::shared_mutex> look(mutex_); // culprit
            auto it = by_name_.find(name);
            if (it != by_name_.end())
                return it->second;
        }
        std::unique_lock<std::shared_mutex> add(mutex_); // culprit
#ifdef FIXED
        auto it = by_name_.find(name);
        if (it != by_name_.end())
            return it->second;
#endif
        all_.push_back(std::make_unique<Zone>(name));
        Zone *zone = all_.back().get();
        zone->offset = static_cast<int>(name.size());
        by_name_[name] = zone;
        return zone;
    }
    size_t count()
    {
        std::shared_lock<std::shared_mutex> look(mutex_);
        return all_.size();
    }

  private:
    std::shared_mutex mutex_;
    std::map<std::string, Zone *> by_name_;
    std::vector<std::unique_ptr<Zone>> all_;
};

class Clock
{
  public:
    explicit Clock(Zones &zones) : zones_(zones)
    {
    }
    void show(const std::string &name)
    {
        sum_ += zones_.find(name)->offset;
    }
    int sum() const
    {
        return sum_;
    }

  private:
    Zones &zones_;
    int sum_ = 0;
};

int main()
{
    Zones zones;
    std::vector<std::unique_ptr<Clock>> clocks;
    std::vector<std::thread> threads;
    static const char *names[] = { "utc", "cet", "utc" };
    for (int i = 0; i < 3; i++)
        clocks.push_back(std::make_unique<Clock>(zones));
    for (int i = 0; i < 3; i++)
        threads.emplace_back([&clocks, i] {
            clocks[i]->show(names[i]);
            clocks[i]->show("gmt");
        });
    for (auto &t : threads)
        t.join();
    int sum = 0;
    for (auto &c : clocks)
        sum += c->sum();
    std::printf("%zu zones, %d\n", zones.count(), sum);
    assert(zones.count() == 3);
    return 0;
}
