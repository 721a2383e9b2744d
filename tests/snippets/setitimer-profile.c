/* setitimer: the timers of CPU time are real, and interrupt a thread that only computes, without any call. */
/* tests: setitimer */
/* outside: the kernel counts CPU time */
#define _GNU_SOURCE
#include "check.h"
#include <signal.h>
#include <sys/time.h>

static volatile sig_atomic_t handled[2];

static void handle(int number)
{
    handled[number == SIGPROF] = handled[number == SIGPROF] + 1;
}

int main(void)
{
    struct itimerval often = { .it_interval = { 0, 2000 }, .it_value = { 0, 2000 } }, none = { { 0, 0 }, { 0, 0 } };
    CHECK(signal(SIGPROF, handle) != SIG_ERR);
    CHECK(signal(SIGVTALRM, handle) != SIG_ERR);
    CHECK_OK(setitimer(ITIMER_PROF, &often, NULL));
    while (handled[1] < 3)
        continue;
    CHECK_OK(setitimer(ITIMER_PROF, &none, NULL));
    CHECK_OK(setitimer(ITIMER_VIRTUAL, &often, NULL));
    while (handled[0] < 3)
        continue;
    CHECK_OK(setitimer(ITIMER_VIRTUAL, &none, NULL));
    return 0;
}
