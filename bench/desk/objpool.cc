// A pool of objects that grows up to a limit: who finds none makes one, if there are fewer than may be.
//
// Bug: how many there are is counted behind the making, which is done without the lock.
// Shows as: a failed assertion: there are more than may be.
// FIXED: a place is counted before.
#include <cassert>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

static const size_t MOST = 1;

struct Object {
    int uses = 0;
};

class Pool
{
  public:
    std::unique_ptr<Object> get()
    {
        std::unique_lock guard(lock); // culprit
        for (;;) {
            if (!idle.empty()) {
                auto object = std::move(idle.back());
                idle.pop_back();
                return object;
            }
            if (made < MOST)
                break;
            given.wait(guard);
        }
#ifdef FIXED
        made++;
        guard.unlock();
        return create();
#else
        guard.unlock();
        auto object = create();
        guard.lock(); // culprit
        made++;
        assert(made <= MOST);
        return object;
#endif
    }
    void put(std::unique_ptr<Object> object)
    {
        std::lock_guard guard(lock);
        idle.push_back(std::move(object));
        given.notify_one();
    }

  private:
    std::unique_ptr<Object> create()
    {
        std::lock_guard guard(factory);
        creations++;
        return std::make_unique<Object>();
    }
    std::mutex lock, factory;
    std::condition_variable given;
    std::vector<std::unique_ptr<Object>> idle;
    size_t made = 0, creations = 0;
};

static Pool pool;

static void use()
{
    for (int i = 0; i < 2; i++) {
        auto object = pool.get();
        object->uses++;
        pool.put(std::move(object));
    }
}

int main()
{
    std::thread one(use), other(use);
    one.join();
    other.join();
}
