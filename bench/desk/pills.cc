// A pipeline's stage: several workers take from one queue; an empty item tells them to stop.
//
// Bug: the one empty item is put back for the others, but not by a worker that finds it while it has items in hand.
// Shows as: a deadlock: a worker waits for an item.
// FIXED: it is put back in any case.
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

class Queue
{
  public:
    void put(std::optional<int> item)
    {
        std::lock_guard guard(lock);
        items.push_back(item);
        filled.notify_one();
    }
    std::optional<int> take()
    {
        std::unique_lock guard(lock);
        filled.wait(guard, [this] { return !items.empty(); }); // culprit
        std::optional<int> item = items.front();
        items.pop_front();
        return item;
    }

  private:
    std::mutex lock;
    std::condition_variable filled;
    std::deque<std::optional<int>> items;
};

class Stage
{
  public:
    void run()
    {
        std::vector<int> batch;
        for (;;) {
            std::optional<int> item = in.take();
            if (item) {
                batch.push_back(*item);
                if (batch.size() == 2)
                    flush(batch);
                continue;
            }
#ifndef FIXED
            if (!batch.empty()) {
                flush(batch); // culprit
                return;
            }
#else
            flush(batch);
#endif
            in.put(std::nullopt);
            return;
        }
    }
    Queue in;
    int total = 0;

  private:
    void flush(std::vector<int> &batch)
    {
        std::lock_guard guard(lock);
        for (int item : batch)
            total += item;
        batch.clear();
    }
    std::mutex lock;
};

int main()
{
    Stage stage;
    std::thread one([&] { stage.run(); }), other([&] { stage.run(); });
    for (int i = 1; i <= 4; i++)
        stage.in.put(i);
    stage.in.put(std::nullopt);
    one.join();
    other.join();
    return stage.total == 10 ? 0 : 1;
}
