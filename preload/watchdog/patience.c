/* How long threads wait for the baton before they make a watchdog. Most waits are over at once, and a timer that is due
 * before the kernel's tick (every 4 ms) is one that it programs: on a virtual machine that makes a hand-over take 7 us
 * in place of 4. So it is 4 ms. In a run that is on its own, until the next tick that is not sooner than 1 ms: where
 * many runs come, a watchdog that finds nothing costs each of them more than it saves the first. Once the watchdog had
 * something to do in a run of a fork server, 1 ms in those behind it. */
#include "patience.h"
#include <preload/core/apart.h>
#include <preload/core/kernel.h>
#include <preload/core/sys.h>
#include <sys/mman.h>
#include <time.h>

#define MS UINT64_C(1000000)
#define MOST (4 * MS)
#define LEAST (1 * MS)
/* It is over if the process has used this much CPU time since the last look, and in any case after this many looks. */
#define USED (1 * MS)
enum { LOOKS = 3 };

static uint64_t tick;   /* of the kernel, in ns */
static uint64_t ticked; /* at one of them: pct_real_now() */
static uint64_t looked; /* the process's CPU time when it was looked at last; atomic */
static uint32_t *busy;  /* of all runs of a fork server: not 0: the watchdog of one had to act; NULL: none */

/* In nanoseconds; 0: a sandbox does not tell. */
static uint64_t read_clock(clockid_t clock)
{
    struct timespec t = { 0 };
    PCT_SYS2(SYS_clock_gettime, clock, &t);
    return (uint64_t)t.tv_sec * 1000 * MS + (uint64_t)t.tv_nsec;
}

void pct_patience_share(void)
{
    /* Where it moves nothing of the target's. */
    void *place = pct_apart_map(sizeof *busy);
    if (place && PCT_SYS6(SYS_mmap, place, sizeof *busy, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED,
                          -1, 0) == (long)place)
        busy = place;
}

void pct_patience_lose(void)
{
    if (busy)
        __atomic_store_n(busy, 1, __ATOMIC_RELAXED);
}

void pct_patience_begin(void)
{
    struct timespec resolution = { 0 };
    looked = read_clock(CLOCK_PROCESS_CPUTIME_ID);
    PCT_SYS2(SYS_clock_getres, CLOCK_MONOTONIC_COARSE, &resolution);
    tick = resolution.tv_nsec > 0 ? (uint64_t)resolution.tv_nsec : MOST;
    ticked = pct_real_now() + read_clock(CLOCK_MONOTONIC_COARSE) - read_clock(CLOCK_MONOTONIC);
}

static uint64_t until_tick(void)
{
    uint64_t left = tick - (pct_real_now() - ticked) % tick;
    while (left < LEAST)
        left += tick;
    return left < MOST ? left : MOST;
}

/* Of the process's own time, for another process may have the CPU; or at all. */
bool pct_patience_ends(const uint32_t *word)
{
    bool hurry = busy && __atomic_load_n(busy, __ATOMIC_RELAXED);
    for (int looks = 0; looks < LOOKS; looks++) {
        const struct timespec patience = { .tv_nsec = (long)(hurry ? LEAST : busy ? MOST : until_tick()) };
        if (pct_futex_wait(word, 0, &patience) != -ETIMEDOUT)
            return false;
        uint64_t now = read_clock(CLOCK_PROCESS_CPUTIME_ID);
        if (now - __atomic_exchange_n(&looked, now, __ATOMIC_RELAXED) >= (hurry ? USED / 2 : USED))
            return true;
    }
    return true;
}
