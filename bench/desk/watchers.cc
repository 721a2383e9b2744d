// Watchers of a value: each is called in the thread that changes it.
//
// Bug: a watcher changes the value it watches, and the lock of the list is held while watchers are called.
// Shows as: a deadlock.
// FIXED: the list is copied, and watchers are called without the lock.
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

class Value
{
  public:
    void watch(std::function<void(int)> watcher)
    {
        std::lock_guard guard(lock);
        watchers.push_back(std::move(watcher));
    }
    void set(int to)
    {
        std::unique_lock guard(lock); // culprit
        value = to;
#ifdef FIXED
        auto all = watchers;
        guard.unlock();
#else
        auto &all = watchers;
#endif
        for (auto &watcher : all)
            watcher(to); // culprit
    }
    int get()
    {
        std::lock_guard guard(lock); // culprit
        return value;
    }

  private:
    std::mutex lock;
    int value = 0;
    std::vector<std::function<void(int)>> watchers;
};

static Value width, height;

static void keep_square()
{
    width.watch([](int to) {
        if (height.get() < to)
            height.set(to);
    });
    height.watch([](int to) {
        if (width.get() > 2 * to)
            width.watch([](int) {});
    });
}

int main()
{
    keep_square();
    std::thread one([] { width.set(4); }), other([] { height.set(3); });
    one.join();
    other.join();
}
