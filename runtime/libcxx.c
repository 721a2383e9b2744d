/* What orders threads inside libc++, which is not compiled for us, where its headers, which are, go on from there: the
 * arrivals at a std::barrier, the end of a routine of std::call_once(), the weak references of std::shared_ptr. By the
 * library's own names, of its ABI 1. */
#include "events.h"
#include "next.h"

#define NEXT(name) PCT_NEXT(name, "libc++.so.1")

/* The calling thread comes here behind all who have done so. Right before what the library does, with no scheduling
 * point in between. */
static void meet(const volatile void *here)
{
    if (PCT_CALLS_WATCHED)
        pct_memory_order(here, PCT_MEMORY_ACQUIRE | PCT_MEMORY_RELEASE);
}

/* std::__arrive_barrier_algorithm_base(): whether the thread is the last one, which goes on to the next phase. */
PCT_RUNTIME bool _ZNSt3__131__arrive_barrier_algorithm_baseEPNS_24__barrier_algorithm_baseEh(void *barrier,
                                                                                             uint8_t phase);
PCT_RUNTIME bool _ZNSt3__131__arrive_barrier_algorithm_baseEPNS_24__barrier_algorithm_baseEh(void *barrier,
                                                                                             uint8_t phase)
{
    __typeof__(_ZNSt3__131__arrive_barrier_algorithm_baseEPNS_24__barrier_algorithm_baseEh) *now =
        NEXT(_ZNSt3__131__arrive_barrier_algorithm_baseEPNS_24__barrier_algorithm_baseEh);
    meet(barrier);
    return now(barrier, phase);
}

/* std::__shared_weak_count::__release_weak(): the last one gives the memory up. */
PCT_RUNTIME void _ZNSt3__119__shared_weak_count14__release_weakEv(void *count);
PCT_RUNTIME void _ZNSt3__119__shared_weak_count14__release_weakEv(void *count)
{
    __typeof__(_ZNSt3__119__shared_weak_count14__release_weakEv) *now =
        NEXT(_ZNSt3__119__shared_weak_count14__release_weakEv);
    meet(count);
    now(count);
}

/* A routine of std::call_once(), before the library writes to its flag that it is done: others read that inline. */
struct routine {
    void (*function)(void *);
    void *argument;
    const volatile void *flag;
};

static void run(void *given)
{
    const struct routine *routine = given;
    routine->function(routine->argument);
    meet(routine->flag);
}

/* std::__call_once(), whose flag is an atomic variable in later versions. */
#define CALL_ONCE(name)                                                                                                \
    PCT_RUNTIME void name(volatile void *flag, void *argument, void (*function)(void *));                              \
    PCT_RUNTIME void name(volatile void *flag, void *argument, void (*function)(void *))                               \
    {                                                                                                                  \
        struct routine routine = { function, argument, flag };                                                         \
        NEXT(name)(flag, &routine, run);                                                                               \
        if (PCT_CALLS_WATCHED)                                                                                         \
            pct_memory_order(flag, PCT_MEMORY_ACQUIRE); /* the library may have read it last */                        \
    }
CALL_ONCE(_ZNSt3__111__call_onceERVmPvPFvS2_E)
CALL_ONCE(_ZNSt3__111__call_onceERNS_6atomicImEEPvPFvS3_E)
