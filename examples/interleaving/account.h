// What the unit tests of this interleaving are about: a look at the balance, and behind it the payment. -DFIXED:
// mended.
#include <mutex>
#include <pct/script.h>
#include <thread>

struct account {
    std::mutex lock;
    int balance = 100;

    void withdraw(int amount)
    {
        std::unique_lock<std::mutex> guard(lock);
        if (balance < amount)
            return;
#ifndef FIXED
        guard.unlock();
#endif
        pct_point("checked");
#ifndef FIXED
        guard.lock();
#endif
        balance -= amount;
    }
};
