// A ring for one producer and one consumer.
//
// Bug: two producers use it.
// Shows as: a failed assertion: a message is missing.
// FIXED: a lock around what they put in.
#include <atomic>
#include <cassert>
#include <mutex>
#include <thread>

class Ring
{
  public:
    void put(int value)
    {
        unsigned at = tail.load();  // culprit
        slots[at % 8].store(value); // culprit
        tail.store(at + 1);         // culprit
    }
    int get()
    {
        unsigned at = head.load();
        if (at == tail.load())
            return 0;
        int value = slots[at % 8].load();
        head.store(at + 1);
        return value;
    }

  private:
    std::atomic<unsigned> head{ 0 }, tail{ 0 };
    std::atomic<int> slots[8];
};

static Ring ring;
static std::mutex producers;

static void produce(int value)
{
#ifdef FIXED
    std::lock_guard guard(producers);
#endif
    ring.put(value);
}

int main()
{
    std::thread one([] { produce(1); }), other([] { produce(2); });
    one.join();
    other.join();
    int sum = 0;
    for (int value = ring.get(); value; value = ring.get())
        sum += value;
    assert(sum == 3);
}
