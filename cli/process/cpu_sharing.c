/* One CPU for the command, its fork server and the run.
 *
 * With one worker they take turns: the command asks, the server forks, the run runs, the command looks at it. Left to
 * itself, the kernel wakes each of them on another CPU, which is idle, and must be woken up first: on a virtual machine
 * that takes 30 us, three times in each run. On one CPU a run of 280 us takes no more than that.
 *
 * That is bad where others want the CPU, too: whoever is pinned cannot evade them. So it is only done while the three
 * of them keep it busy, which is looked at 20 times a second; if they do not, they are free for a second, and twice as
 * long each time that it happens again. A run itself is free from its start until it makes a second thread, as always.
 */
#include "cpu_sharing.h"
#include <cli/base/cli.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#define LOOK_SECONDS 0.05
#define FREE_SECONDS 1.0
#define FREE_SECONDS_MOST 64.0
/* They keep it busy. */
static const double busy = 0.75;

static struct {
    bool ready;    /* the next members are known */
    bool able;     /* there is more than one CPU, and the user has chosen none */
    cpu_set_t all; /* where the command may go */
    bool pinned;
    pid_t server;
    double looked; /* on the clock of pct_cli_now(): when these were taken */
    double used;   /* seconds of processor time by then */
    double until;  /* free until then, */
    double length; /* this many seconds */
} sharing = { .length = FREE_SECONDS };

/* In a child of the command. */
static void free_child(void)
{
    if (sharing.pinned)
        sched_setaffinity(0, sizeof sharing.all, &sharing.all);
}

static void prepare(void)
{
    sharing.ready = true;
    sharing.able = !getenv("PCT_CPU") && !sched_getaffinity(0, sizeof sharing.all, &sharing.all) &&
                   CPU_COUNT(&sharing.all) > 1 && !pthread_atfork(NULL, NULL, free_child);
}

static double seconds_of(clockid_t clock)
{
    struct timespec time;
    return clock_gettime(clock, &time) ? 0 : (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* What the command, its server and the runs that have ended have taken. */
static double processor_time(pid_t server)
{
    struct rusage runs;
    clockid_t clock;
    double all = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    if (!getrusage(RUSAGE_CHILDREN, &runs))
        all += (double)(runs.ru_utime.tv_sec + runs.ru_stime.tv_sec) +
               (double)(runs.ru_utime.tv_usec + runs.ru_stime.tv_usec) / 1e6;
    return clock_getcpuclockid(server, &clock) ? all : all + seconds_of(clock);
}

static void begin(pid_t server, double now)
{
    cpu_set_t one;
    int cpu = sched_getcpu();
    CPU_ZERO(&one);
    if (cpu >= 0)
        CPU_SET(cpu, &one);
    if (cpu < 0 || sched_setaffinity(server, sizeof one, &one))
        return;
    sharing.pinned = !sched_setaffinity(0, sizeof one, &one);
    sharing.server = server;
    sharing.looked = now;
    sharing.used = processor_time(server);
}

void pct_cpu_sharing_part(void)
{
    if (!sharing.pinned)
        return;
    sched_setaffinity(0, sizeof sharing.all, &sharing.all);
    sched_setaffinity(sharing.server, sizeof sharing.all, &sharing.all);
    sharing.pinned = false;
}

void pct_cpu_sharing_stay(pid_t server)
{
    if (!sharing.ready)
        prepare();
    if (!sharing.able)
        return;
    double now = pct_cli_now();
    if (sharing.pinned && sharing.server != server)
        pct_cpu_sharing_part();
    if (!sharing.pinned) {
        if (now >= sharing.until)
            begin(server, now);
        return;
    }
    double passed = now - sharing.looked;
    if (passed < LOOK_SECONDS)
        return;
    double used = processor_time(server);
    if (used - sharing.used < busy * passed) {
        pct_cpu_sharing_part();
        sharing.until = now + sharing.length;
        sharing.length = fmin(2 * sharing.length, FREE_SECONDS_MOST);
    } else {
        sharing.length = FREE_SECONDS;
    }
    sharing.looked = now;
    sharing.used = used;
}
