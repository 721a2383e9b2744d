// Meters that are read by a reporter: a sum and a count, of which it makes the mean.
//
// Bug: sum and count are two atomic variables, which are reset one behind the other.
// Shows as: a failed assertion: values are missing in the totals.
// FIXED: a lock around both.
#include <atomic>
#include <cassert>
#include <mutex>
#include <thread>

class Meter
{
  public:
    void add(int value)
    {
#ifdef FIXED
        std::lock_guard guard(lock);
#endif
        sum.fetch_add(value); // culprit
        count.fetch_add(1);   // culprit
    }
    struct Reading {
        int sum, count;
    };
    Reading take()
    {
#ifdef FIXED
        std::lock_guard guard(lock);
#endif
        int total = sum.exchange(0);   // culprit
        int times = count.exchange(0); // culprit
        return { total, times };
    }

  private:
    std::atomic<int> sum{ 0 }, count{ 0 };
    std::mutex lock;
};

static Meter meter;

int main()
{
    std::thread one([] {
        for (int i = 0; i < 2; i++)
            meter.add(5);
    });
    std::thread other([] { meter.add(5); });
    for (int i = 0; i < 2; i++) {
        Meter::Reading reading = meter.take();
        assert(reading.sum == 5 * reading.count);
    }
    one.join();
    other.join();
}
