/* std::barrier: phases with a completion function; threads may drop out. */
/* tests: syscall */
/* ops: THREAD_CREATE THREAD_JOIN */
#include "check.h"
#include <atomic>
#include <barrier>
#include <thread>
#include <vector>

int main()
{
    const int count = 4, phases = 6;
    int completed = 0;
    std::atomic<int> arrived = 0;
    auto complete = [&]() noexcept {
        CHECK_EQ(arrived, (completed < phases ? count : count - 1));
        arrived = 0;
        completed++;
    };
    std::barrier barrier(count, complete);
    std::vector<std::thread> threads;
    for (int i = 0; i < count; i++)
        threads.emplace_back([&, i] {
            for (int phase = 0; phase < phases; phase++) {
                arrived++;
                barrier.arrive_and_wait();
                CHECK_EQ(completed, phase + 1); /* the next phase cannot end without us */
            }
            arrived += i != 0;
            if (i == 0)
                barrier.arrive_and_drop();
            else
                barrier.wait(barrier.arrive());
        });
    for (std::thread &thread : threads)
        thread.join();
    CHECK_EQ(completed, phases + 1);
    return 0;
}
