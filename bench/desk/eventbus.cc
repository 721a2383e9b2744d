// An event bus with a registry of components, each with a lock of its own.
//
// Bug: the bus calls handlers with its lock held, the handler takes the component's lock; a component that stops holds
//   its own lock while it takes the registry's; and the registry publishes with its lock held. A cycle of three.
// Shows as: deadlock.
// FIXED: bus and registry call others without their locks.
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

class Bus
{
  public:
    using Handler = std::function<void(const std::string &)>;

    void subscribe(Handler handler)
    {
        std::lock_guard<std::mutex> guard(mutex_);
        handlers_.push_back(std::move(handler));
    }

    void publish(const std::string &event)
    {
#ifdef FIXED
        std::vector<Handler> handlers;
        {
            std::lock_guard<std::mutex> guard(mutex_);
            handlers = handlers_;
        }
        for (auto &handler : handlers)
            handler(event);
#else
        std::lock_guard<std::mutex> guard(mutex_); /* culprit */
        for (auto &handler : handlers_)
            handler(event);
#endif
    }

  private:
    std::mutex mutex_;
    std::vector<Handler> handlers_;
};

class Registry
{
  public:
    explicit Registry(Bus &bus) : bus_(bus)
    {
    }

    void add(const std::string &name)
    {
#ifdef FIXED
        {
            std::lock_guard<std::mutex> guard(mutex_);
            names_[name] = true;
        }
#else
        std::lock_guard<std::mutex> guard(mutex_); /* culprit */
        names_[name] = true;
#endif
        bus_.publish("added " + name);
    }

    void remove(const std::string &name)
    {
        std::lock_guard<std::mutex> guard(mutex_); /* culprit */
        names_.erase(name);
    }

  private:
    std::mutex mutex_;
    std::map<std::string, bool> names_;
    Bus &bus_;
};

class Component
{
  public:
    Component(Registry &registry, std::string name) : registry_(registry), name_(std::move(name))
    {
    }

    void on_event(const std::string &)
    {
        std::lock_guard<std::mutex> guard(mutex_); /* culprit */
        events_++;
    }

    void stop()
    {
        std::lock_guard<std::mutex> guard(mutex_); /* culprit */
        registry_.remove(name_);
    }

    int events() const
    {
        return events_;
    }

  private:
    std::mutex mutex_;
    Registry &registry_;
    std::string name_;
    int events_ = 0;
};

int main()
{
    Bus bus;
    Registry registry(bus);
    Component disk(registry, "disk");
    bus.subscribe([&](const std::string &event) { disk.on_event(event); });

    std::thread adder([&] { registry.add("net"); });
    std::thread timer([&] { bus.publish("tick"); });
    std::thread stopper([&] { disk.stop(); });
    adder.join();
    timer.join();
    stopper.join();
    std::printf("%d events\n", disk.events());
}
