// Measurements are collected, and written when there are two, or when a timer says so.
//
// Bug: who writes them takes a copy in one section and empties the list in the next.
// Shows as: a failed assertion: a measurement is written twice, or is lost.
// FIXED: they are taken out in one.
#include <cassert>
#include <mutex>
#include <thread>
#include <vector>

class Collector
{
  public:
    void add(int value)
    {
        bool full;
        {
            std::lock_guard guard(lock); // culprit
            values.push_back(value);
            full = values.size() >= 2;
        }
        if (full)
            flush();
    }
    void flush()
    {
        std::vector<int> batch;
        {
            std::lock_guard guard(lock); // culprit
            batch = values;
#ifdef FIXED
            values.clear();
#endif
        }
        {
            std::lock_guard guard(disk); // culprit
            for (int value : batch)
                written += value;
        }
#ifndef FIXED
        std::lock_guard guard(lock); // culprit
        values.clear();
#endif
    }
    int total()
    {
        std::lock_guard guard(disk);
        return written;
    }

  private:
    std::mutex lock, disk;
    std::vector<int> values;
    int written = 0;
};

int main()
{
    Collector collector;
    std::thread meter([&] {
        for (int i = 0; i < 3; i++)
            collector.add(1);
    });
    std::thread timer([&] { collector.flush(); });
    meter.join();
    timer.join();
    collector.flush();
    assert(collector.total() == 3);
}
