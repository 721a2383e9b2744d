// A plug-in host: a plug-in is unloaded by an upgrade while requests are answered by it.
//
// Bug: a plug-in is fetched in one section and used in another; an upgrade unloads it in between.
#include <cassert>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>

class Plugin
{
  public:
    explicit Plugin(int version) : version_(version)
    {
    }
    int answer()
    {
        std::lock_guard<std::mutex> g(mutex_); // culprit
#ifndef FIXED
        assert(loaded_);
#endif
        if (!loaded_)
            return 0;
        answers_++;
        return version_;
    }
    void unload()
    {
        std::lock_guard<std::mutex> g(mutex_);
        loaded_ = false;
    }

  private:
    std::mutex mutex_;
    int version_, answers_ = 0;
    bool loaded_ = true;
};

class Host
{
  public:
    void load(const std::string &name, int version)
    {
        auto fresh = std::make_shared<Plugin>(version);
        std::shared_ptr<Plugin> old;
        {
            std::unique_lock<std::shared_mutex> l(mutex_); // culprit
            old = plugins_[name];
            plugins_[name] = fresh;
        }
        if (old)
            old->unload();
    }
    int request(const std::string &name)
    {
        std::shared_ptr<Plugin> plugin;
        {
            std::shared_lock<std::shared_mutex> l(mutex_); // culprit
            auto it = plugins_.find(name);
            if (it == plugins_.end())
                return 0;
            plugin = it->second;
        }
        count();
        return plugin->answer();
    }

  private:
    void count()
    {
        std::lock_guard<std::mutex> g(counts_);
        requests_++;
    }
    std::shared_mutex mutex_;
    std::mutex counts_;
    std::map<std::string, std::shared_ptr<Plugin>> plugins_;
    int requests_ = 0;
};

int main()
{
    Host host;
    host.load("gif", 1);
    std::thread a([&] {
        host.request("gif");
        host.request("gif");
    });
    std::thread b([&] { host.load("gif", 2); });
    a.join();
    b.join();
    std::printf("%d\n", host.request("gif"));
}
