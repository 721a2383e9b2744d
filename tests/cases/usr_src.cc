// A program whose sources lie below /usr/src, as in many images of containers: its frames were taken for a library's,
// and places named where the standard library has its locks.
//
// BUILD: g++ -O1 -g -pthread "-fdebug-prefix-map=$PWD=/usr/src/app" -o %p "$PWD/%s"
// RUN: pct run -q -n 300 -s 1 -- %p > %t/said 2>&1; [ $? = 120 ] &&
//     [ "$(grep -c 'waits for mutex .*, at /usr/src/app/tests/cases/usr_src.cc:' %t/said)" = 2 ]
#include <mutex>
#include <thread>

static std::mutex a, b;

static void take(std::mutex *first, std::mutex *second)
{
    first->lock();
    second->lock();
    second->unlock();
    first->unlock();
}

int main()
{
    std::thread one(take, &a, &b), other(take, &b, &a);
    one.join();
    other.join();
}
