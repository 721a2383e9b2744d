// std::random_device takes what the processor has, and decides how long the run is: it must come from the seed.
//
// RUN: [ $(for i in 1 2 3 4; do pct run -s 1 --state none -- %p 2>&1 | grep -o "k=[0-9]*$"; done | sort -u |
//     wc -l) = 1 ]
#include <mutex>
#include <random>
#include <thread>

int main()
{
    std::random_device device;
    unsigned rounds = device() % 200;
    std::mutex mutex;
    std::thread thread([] {});
    for (unsigned i = 0; i < rounds; i++)
        std::lock_guard<std::mutex> guard(mutex);
    thread.join();
    return 0;
}
