/* Timers of CPU time are the kernel's, and the machine says when they go off. But the target's clocks of that are
 * virtual: by them it says when a timer is to go off, and they show that time when it has. */
#ifndef PCT_PRELOAD_CPU_TIMER_H
#define PCT_PRELOAD_CPU_TIMER_H

#include <stdbool.h>
#include <stdint.h>

/* The kernel's number of a timer; that of setitimer's. */
static inline int pct_cpu_timer_of(int which)
{
    return -1 - which;
}

/* There is such a timer. All with the baton. */
void pct_cpu_timer_made(int number);
bool pct_cpu_timer_has(int number);
/* It has been set for this CPU time, and for each interval behind that; interval 0: once. */
void pct_cpu_timer_set(int number, uint64_t at, uint64_t interval);
/* Its signal is about to be handled or taken; it has gone off so often since the last one. */
void pct_cpu_timer_taken(int number, uint64_t times);

#endif
