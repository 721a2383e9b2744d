/* Timers of CPU time: see cpu_timer.h. */
#include "cpu_timer.h"
#include "clock.h"
#include <preload/core/shim.h>

/* More are as if their clock were the kernel's. */
enum { MOST = 64 };
static PCT_OF_RUN struct {
    int number;
    uint64_t at; /* 0: it is not set */
    uint64_t interval;
} timers[MOST];
static PCT_OF_RUN unsigned count;

static unsigned find(int number)
{
    unsigned i = 0;
    while (i < count && timers[i].number != number)
        i++;
    return i;
}

void pct_cpu_timer_made(int number)
{
    const unsigned i = find(number);
    if (i == MOST)
        return;
    count += i == count;
    timers[i].number = number;
    timers[i].at = timers[i].interval = 0;
}

bool pct_cpu_timer_has(int number)
{
    return find(number) < count;
}

void pct_cpu_timer_set(int number, uint64_t at, uint64_t interval)
{
    const unsigned i = find(number);
    if (i == count)
        return;
    timers[i].at = at;
    timers[i].interval = interval;
}

void pct_cpu_timer_taken(int number, uint64_t times)
{
    const unsigned i = find(number);
    if (i == count || !timers[i].at)
        return;
    const uint64_t last = timers[i].at + (times - 1) * timers[i].interval;
    pct_cpu_time_reaches(last);
    timers[i].at = timers[i].interval ? last + timers[i].interval : 0;
}
