// Each thread takes blocks from a cache of its own, which the end of the thread gives back to the store of all.
//
// Bug: the threads are detached, and say that they are done at the end of their function. The destructor of what is
// thread_local runs behind that: the program may look at the store before the blocks are back.
// Shows as: an assertion: blocks are missing.
// FIXED: the threads are joined.
#include <cassert>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

static std::mutex lock;
static std::condition_variable done;
static int blocks = 8, running;

struct Cache {
    int mine = 0;
    int take()
    {
        if (!mine) {
            std::lock_guard guard(lock);
            blocks -= 2;
            mine = 2;
        }
        return mine--;
    }
    void put()
    {
        mine++;
    }
    ~Cache()
    {
        std::lock_guard guard(lock); // culprit
        blocks += mine;
    }
};

static thread_local Cache cache;

static void work()
{
    cache.take();
    cache.put();
    std::lock_guard guard(lock);
    if (--running == 0)
        done.notify_one(); // culprit
}

int main()
{
    std::vector<std::thread> threads;
    running = 3;
    for (int i = 0; i < 3; i++)
        threads.emplace_back(work);
#ifdef FIXED
    for (auto &thread : threads)
        thread.join();
#else
    for (auto &thread : threads)
        thread.detach();
#endif
    std::unique_lock guard(lock); // culprit
    while (running)
        done.wait(guard); // culprit
    assert(blocks == 8);
}
