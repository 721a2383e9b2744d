// A configuration that readers hold by a count of users, and that is exchanged as a whole.
//
// Bug: a reader loads the pointer, and counts itself in behind that: the last user may have let go meanwhile.
// Shows as: a failed assertion: what is read has been retired.
// FIXED: both under a lock.
#include <atomic>
#include <cassert>
#include <mutex>
#include <thread>

struct Snapshot {
    explicit Snapshot(int value) : value(value)
    {
    }
    std::atomic<int> users{ 1 };
    std::atomic<bool> retired{ false };
    int value;
};

class Config
{
  public:
    Config() : current(new Snapshot(0))
    {
    }
    Snapshot *hold()
    {
#ifdef FIXED
        std::lock_guard guard(lock);
#endif
        Snapshot *snapshot = current.load(); // culprit
        snapshot->users.fetch_add(1);        // culprit
        return snapshot;
    }
    void release(Snapshot *snapshot)
    {
        if (snapshot->users.fetch_sub(1) == 1)
            snapshot->retired.store(true); // stands for delete
    }
    void set(int value)
    {
        Snapshot *next = new Snapshot(value), *old;
        {
#ifdef FIXED
            std::lock_guard guard(lock);
#endif
            old = current.exchange(next); // culprit
        }
        release(old); // culprit
    }

  private:
    std::atomic<Snapshot *> current;
    std::mutex lock;
};

static Config config;

static void look()
{
    for (int i = 0; i < 2; i++) {
        Snapshot *snapshot = config.hold();
        assert(!snapshot->retired.load());
        config.release(snapshot);
    }
}

int main()
{
    std::thread reader(look), other(look), writer([] {
        config.set(1);
        config.set(2);
    });
    reader.join();
    other.join();
    writer.join();
}
