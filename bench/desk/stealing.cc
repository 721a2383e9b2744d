// A queue of tasks of each worker: its owner takes from the back, others steal from the front.
//
// Bug: the owner looks whether there is more than one task before it takes one without the lock: a thief may have
//   taken one meanwhile.
// Shows as: a failed assertion: a task ran twice.
// FIXED: the owner takes the lock, too.
#include <array>
#include <atomic>
#include <cassert>
#include <mutex>
#include <thread>

class Deque
{
  public:
    void push(int task)
    {
        std::lock_guard guard(lock);
        tasks[back.load()] = task;
        back.fetch_add(1);
    }
    int pop()
    {
#ifndef FIXED
        if (back.load() - front.load() > 1) { // culprit
            int at = back.load() - 1;
            back.store(at); // culprit
            return tasks[at];
        }
#endif
        std::lock_guard guard(lock);
        if (back.load() == front.load())
            return -1;
        int at = back.load() - 1;
        back.store(at);
        return tasks[at];
    }
    int steal()
    {
        std::lock_guard guard(lock);
        int at = front.load();
        if (at >= back.load()) // culprit
            return -1;
        front.store(at + 1); // culprit
        return tasks[at];
    }

  private:
    std::mutex lock;
    std::atomic<int> front{ 0 }, back{ 0 };
    std::array<int, 8> tasks{};
};

static Deque deque;
static std::atomic<int> ran[4];

static void run(int task)
{
    if (task >= 0)
        assert(ran[task].fetch_add(1) == 0);
}

int main()
{
    for (int task = 0; task < 3; task++)
        deque.push(task);
    std::thread thief([] {
        run(deque.steal());
        run(deque.steal());
    });
    for (int i = 0; i < 3; i++)
        run(deque.pop());
    thief.join();
}
