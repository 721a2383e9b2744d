/* A clock for runs on a busy machine: see busy_clock.h. */
#include "busy_clock.h"
#include <cli/base/cli.h>
#include <cli/process/time_limit.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static struct pct_busy_span measure(void)
{
    struct pct_busy_span span = { .passed = pct_cli_now(), .waited = pct_time_limit_waited(getpid()) };
    struct timespec own;
    struct rusage runs;
    if (!clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &own))
        span.ran = (double)own.tv_sec + (double)own.tv_nsec * 1e-9;
    span.used = span.ran;
    if (!getrusage(RUSAGE_CHILDREN, &runs))
        span.used += (double)(runs.ru_utime.tv_sec + runs.ru_stime.tv_sec) +
                     (double)(runs.ru_utime.tv_usec + runs.ru_stime.tv_usec) * 1e-6;
    return span;
}

static double slower(const struct pct_busy_span *since, double most)
{
    double times = since->ran > 0 && since->waited > 0 ? 1 + since->waited / since->ran : 1;
    return times < most ? times : most;
}

double pct_busy_clock_counts(const struct pct_busy_span *since, double patience, unsigned jobs)
{
    if (patience < 1)
        return since->passed;
    double counts = since->passed / slower(since, patience), used = since->used / (jobs ? jobs : 1);
    if (counts < used)
        counts = used;
    return counts < since->passed ? counts : since->passed;
}

void pct_busy_clock_start(struct pct_busy_clock *clock, double patience, unsigned jobs)
{
    *clock = (struct pct_busy_clock){ .begin = measure(), .patience = patience, .jobs = jobs };
}

double pct_busy_clock_now(const struct pct_busy_clock *clock)
{
    const struct pct_busy_span *begin = &clock->begin;
    struct pct_busy_span now = measure();
    now.passed -= begin->passed;
    now.ran -= begin->ran;
    now.waited -= begin->waited;
    now.used -= begin->used;
    return pct_busy_clock_counts(&now, clock->patience, clock->jobs);
}

double pct_busy_clock_slower(double most)
{
    struct pct_busy_span now = measure();
    return slower(&now, most);
}
