/* How much time passes for those that wait while a relative can run: see family.h. With the baton. */
#ifndef PCT_PRELOAD_PASSED_H
#define PCT_PRELOAD_PASSED_H

#include <stdbool.h>
#include <stdint.h>

/* What is known of a relative from the last look at it; zeros: nothing. */
struct pct_passed {
    uint64_t cpu; /* CPU time that it had used, ns; 0: not known */
    bool slept;   /* all its threads seemed to sleep */
};

/* A look at a process that runs, or wants to. *passed: real ns since the last look; set to what went by for it, its CPU
 * time, if that is less: while it does not get a CPU, no time passes. Returns whether it had one since the last look.
 */
bool pct_passed_running(struct pct_passed *last, int pid, uint64_t *passed);

/* A look at one that sleeps in the kernel: real time passes for it as long as it does. One that has used a CPU since
 * the last look may have waited for one until just now. Then *passed is set to `slice`, after which this look should
 * have come, or its CPU time, if that is more: however late the look is. */
void pct_passed_sleeping(struct pct_passed *last, int pid, uint64_t slice, uint64_t *passed);

#endif
