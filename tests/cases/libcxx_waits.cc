/* std::atomic::wait() and notify_*() make their futex calls inside libc++: a program that waits by them did not count
 * as one with locks of its own. Taking such a lock was no scheduling point, and the guarantee was given all the same.
 * The same with a library of our own, which has the functions by the names of theirs.
 *
 * BUILD: g++ -std=c++17 -O1 -fPIC -shared -DLIBRARY -o %p.so %s && g++ -std=c++17 -O1 -g -pthread -o %p %s %p.so
 * RUN 120: pct run -q -s 1 -n 500 --state none -- %p
 * RUN: pct run -s 1 -n 3 --state none -- %p 2>&1 |
 *     grep -F "implements its own locks by atomic instructions: --memory=atomics"
 * RUN: pct run -s 1 -n 20 --state none --memory=off -- %p 2>&1 |
 *     grep "no guarantee about.*: the program implements its own locks"
 */
#include <climits>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

/* std::__1::__libcpp_atomic_wait(), __cxx_atomic_notify_all() */
void wait_for(const volatile void *word, int old) __asm__("_ZNSt3__120__libcpp_atomic_waitEPVKvi");
void notify(const volatile void *word) __asm__("_ZNSt3__123__cxx_atomic_notify_allEPVKv");

#ifdef LIBRARY
static int waiting;

void wait_for(const volatile void *word, int old)
{
    __atomic_fetch_add(&waiting, 1, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, old, nullptr, 0, 0);
    __atomic_fetch_sub(&waiting, 1, __ATOMIC_SEQ_CST);
}

void notify(const volatile void *word)
{
    if (__atomic_load_n(&waiting, __ATOMIC_SEQ_CST))
        syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, 0, 0, 0);
}
#else
struct lock {
    int word = 0;

    void take()
    {
        while (__atomic_exchange_n(&word, 1, __ATOMIC_ACQUIRE))
            wait_for(&word, 1);
    }
    void give()
    {
        __atomic_store_n(&word, 0, __ATOMIC_SEQ_CST); /* an exchange, too */
        notify(&word);
    }
};

static lock one, other;

static void both(lock &first, lock &second)
{
    first.take();
    second.take();
    second.give();
    first.give();
}

int main()
{
    std::thread thread([] { both(one, other); });
    both(other, one);
    thread.join();
    return 0;
}
#endif
