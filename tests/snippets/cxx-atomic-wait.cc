/* std::atomic::wait and notify, on ints, pointers and flags; of sizes that are futexes themselves and that are not. */
/* tests: syscall */
/* ops: THREAD_CREATE THREAD_JOIN */
#include "check.h"
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace
{
template <typename T> void take_turns()
{
    std::atomic<T> turn = 0;
    auto run = [&turn](T me) {
        for (int i = 0; i < 10; i++) {
            T now;
            while ((now = turn.load()) % 2 != me)
                turn.wait(now);
            turn = static_cast<T>(now + 1);
            turn.notify_one();
        }
    };
    std::thread a(run, static_cast<T>(0)), b(run, static_cast<T>(1));
    a.join();
    b.join();
    CHECK_EQ(turn.load(), 20);
}
} // namespace

int main()
{
    take_turns<int32_t>();
    take_turns<uint8_t>();
    take_turns<uint64_t>();

    std::atomic<int> gate = 0;
    std::atomic_flag flag;
    std::atomic<int> through = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++)
        threads.emplace_back([&] {
            gate.wait(0);
            CHECK_EQ(gate.load(), 1);
            flag.wait(false);
            CHECK(flag.test());
            through++;
        });
    gate = 1;
    gate.notify_all();
    CHECK_EQ(through.load(), 0);
    flag.test_and_set();
    flag.notify_all();
    for (std::thread &thread : threads)
        thread.join();
    CHECK_EQ(through.load(), 4);
    gate.wait(7); /* another value already: returns */
    return 0;
}
