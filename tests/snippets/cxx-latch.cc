/* std::latch: opens when the count is 0, for all that wait then or later. */
/* tests: syscall */
/* ops: THREAD_CREATE THREAD_JOIN */
#include "check.h"
#include <atomic>
#include <latch>
#include <thread>
#include <vector>

int main()
{
    for (int round = 0; round < 4; round++) {
        std::latch started(4), go(1);
        std::atomic<int> arrived = 0, gone = 0;
        std::vector<std::thread> threads;
        for (int i = 0; i < 4; i++)
            threads.emplace_back([&] {
                arrived++;
                if (round % 2)
                    started.arrive_and_wait();
                else
                    started.count_down();
                if (round % 2)
                    CHECK_EQ(arrived, 4);
                go.wait();
                gone++;
            });
        started.wait();
        CHECK_EQ(arrived, 4);
        CHECK(started.try_wait());
        CHECK_EQ(gone, 0);
        CHECK(!go.try_wait());
        go.count_down();
        go.wait();
        for (std::thread &thread : threads)
            thread.join();
        CHECK_EQ(gone, 4);
    }
    return 0;
}
