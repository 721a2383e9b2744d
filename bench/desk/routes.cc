// A router: addresses by name, looked up by clients while a keeper of the table drops those that have timed out.
//
// Bug: a client asks whether a route is there, and fetches it in a second section: it may be gone by then.
// Shows as: an exception that nobody catches (std::out_of_range).
// FIXED: it is looked for and fetched in one section.
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace
{

class Router
{
  public:
    void add(const std::string &name, int address)
    {
        std::lock_guard<std::mutex> guard(mutex_);
        routes_[name] = address;
    }

    bool knows(const std::string &name) const
    {
        std::lock_guard<std::mutex> guard(mutex_); /* culprit */
        return routes_.count(name) > 0;
    }

    int address(const std::string &name) const
    {
        std::lock_guard<std::mutex> guard(mutex_); /* culprit */
        return routes_.at(name);
    }

    int find(const std::string &name) const
    {
        std::lock_guard<std::mutex> guard(mutex_);
        const auto found = routes_.find(name);
        return found == routes_.end() ? -1 : found->second;
    }

    void expire(const std::string &name)
    {
        std::lock_guard<std::mutex> guard(mutex_); /* culprit */
        routes_.erase(name);
    }

  private:
    mutable std::mutex mutex_;
    std::map<std::string, int> routes_;
};

int send(const Router &router, const std::string &name)
{
#ifdef FIXED
    return router.find(name);
#else
    if (!router.knows(name))
        return -1;
    return router.address(name);
#endif
}

} // namespace

int main()
{
    Router router;
    for (int i = 0; i < 3; i++)
        router.add("host" + std::to_string(i), 100 + i);
    std::vector<std::thread> threads;
    for (int client = 0; client < 2; client++)
        threads.emplace_back([&router, client] {
            for (int i = 0; i < 3; i++)
                send(router, "host" + std::to_string((client + i) % 3));
        });
    threads.emplace_back([&router] {
        router.expire("host1");
        router.add("host3", 103);
    });
    for (auto &thread : threads)
        thread.join();
    return 0;
}
