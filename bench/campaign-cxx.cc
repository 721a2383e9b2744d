// The same as campaign.c in C++, with the streams, whose initialisation a fork server does once.
#include <iostream>
#include <mutex>
#include <thread>

static std::mutex mutex;
static int counter;

static void add()
{
    for (int i = 0; i < 40; i++) {
        std::lock_guard<std::mutex> lock(mutex);
        counter++;
    }
}

int main()
{
    std::thread one(add), two(add);
    add();
    one.join();
    two.join();
    if (counter != 120)
        std::cerr << "counted " << counter << '\n';
    return counter != 120;
}
