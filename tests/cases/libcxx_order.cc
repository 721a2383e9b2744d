/* libc++ orders threads inside its library, where nobody tells of accesses: those that arrive at a std::barrier, those
 * that come to a std::call_once() that is done, those that had a weak reference. What its headers do behind that was
 * called a race. The same with a library of our own, which has the functions by the names of theirs.
 *
 * BUILD: g++ -std=c++17 -O1 -fPIC -shared -DLIBRARY -o %p.so %s && pct-c++ -std=c++17 -O1 -g -pthread -o %p %s %p.so
 * RUN: for what in barrier once weak; do pct run -q -s 1 -n 60 --races=fail --state none -- %p $what || exit 1; done
 * RUN 118: pct run -q -s 1 -n 60 --races=fail --state none -- %p nothing
 */
#include <cstring>
#include <thread>

struct counted {
    void (*destroy)(counted *);
    int users;
    int value;
};

/* std::__1::__arrive_barrier_algorithm_base(), __call_once(), __shared_weak_count::__release_weak() */
bool arrive(void *barrier,
            unsigned char phase) __asm__("_ZNSt3__131__arrive_barrier_algorithm_baseEPNS_24__barrier_algorithm_baseEh");
void run_once(volatile unsigned long &flag, void *argument,
              void (*function)(void *)) __asm__("_ZNSt3__111__call_onceERVmPvPFvS2_E");
void release_weak(counted *count) __asm__("_ZNSt3__119__shared_weak_count14__release_weakEv");

#ifdef LIBRARY
bool arrive(void *barrier, unsigned char phase)
{
    return __atomic_add_fetch((int *)barrier, 1, __ATOMIC_ACQ_REL) == 2 + phase;
}

void run_once(volatile unsigned long &flag, void *argument, void (*function)(void *))
{
    function(argument);
    __atomic_store_n(&flag, ~0ul, __ATOMIC_RELEASE);
}

void release_weak(counted *count)
{
    if (!__atomic_sub_fetch(&count->users, 1, __ATOMIC_ACQ_REL))
        count->destroy(count);
}
#else
static int tickets, phase, part[2], both;
static unsigned long flag;

/* As std::barrier's header: the last one says that the phase is over. */
static void meet(int me, bool arrives)
{
    part[me] = 1;
    if (arrives ? arrive(&tickets, 0) : !me) {
        both = part[0] + part[1];
        __atomic_store_n(&phase, 1, __ATOMIC_RELEASE);
    }
    while (!__atomic_load_n(&phase, __ATOMIC_ACQUIRE))
        std::this_thread::yield();
}

static void see_once()
{
    while (__atomic_load_n(&flag, __ATOMIC_ACQUIRE) != ~0ul)
        std::this_thread::yield();
    both = part[0] + 1;
}

int main(int, char **argv)
{
    if (!strcmp(argv[1], "once")) {
        std::thread thread([] { run_once(flag, part, [](void *first) { *(int *)first = 1; }); });
        see_once();
        thread.join();
    } else if (!strcmp(argv[1], "weak")) {
        counted *count = new counted{ [](counted *old) { delete old; }, 2, 1 };
        std::thread thread([=] { part[1] = count->value, release_weak(count); });
        part[0] = count->value, release_weak(count);
        thread.join();
        both = part[0] + part[1];
    } else {
        const bool arrives = !strcmp(argv[1], "barrier");
        std::thread thread(meet, 1, arrives);
        meet(0, arrives);
        thread.join();
    }
    return argv[1][0] != 'n' && both != 2;
}
#endif
