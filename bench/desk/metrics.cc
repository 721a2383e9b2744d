// A registry of metrics, by name, behind a lock for many readers: who does not find one makes it.
//
// Bug: the shared lock is given back before the exclusive one is taken, and nobody looks again: a second metric of the
// same name is made, and the first one's counts are lost.
// Shows as: an exit status of 1: counts are missing.
// FIXED: it looks again under the exclusive lock.
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

struct metric {
    std::mutex lock;
    int count = 0;
    void add()
    {
        std::lock_guard guard(lock);
        count++;
    }
};

class registry
{
    std::shared_mutex lock;
    std::map<std::string, std::shared_ptr<metric>> metrics;

  public:
    std::shared_ptr<metric> get(const std::string &name)
    {
        {
            std::shared_lock guard(lock); // culprit
            auto found = metrics.find(name);
            if (found != metrics.end())
                return found->second;
        }
        auto made = std::make_shared<metric>();
        std::unique_lock guard(lock); // culprit
#ifdef FIXED
        auto found = metrics.find(name);
        if (found != metrics.end())
            return found->second;
#endif
        metrics[name] = made;
        return made;
    }
    int total()
    {
        std::shared_lock guard(lock);
        int sum = 0;
        for (auto &entry : metrics)
            sum += entry.second->count;
        return sum;
    }
};

static registry all;

static void serve(int requests)
{
    for (int i = 0; i < requests; i++) {
        all.get("requests")->add();
        if (i % 2)
            all.get("slow")->add();
    }
}

int main()
{
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; i++)
        threads.emplace_back(serve, 2);
    for (auto &thread : threads)
        thread.join();
    printf("%d counted\n", all.total());
    return all.total() == 9 ? 0 : 1;
}
