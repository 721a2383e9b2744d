/* A wait for a signal that another process could send takes real time when nothing else can run; if nothing comes, it
 * ends exactly at its deadline all the same, however late the kernel was. So each run takes as much virtual time as the
 * others.
 * RUN: for i in 1 2 3 4 5; do pct run -q -s 1 -S random-walk --memory off -- %p; done | sort -u > %t/times &&
 *     [ $(wc -l < %t/times) = 1 ]
 */
#include <signal.h>
#include <stdio.h>
#include <time.h>

int main(void)
{
    struct timespec begin, end;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (int i = 1; i < 6; i++) {
        const struct timespec limit = { .tv_nsec = i * 100000 };
        sigtimedwait(&set, NULL, &limit);
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    printf("%ld ns\n", (end.tv_sec - begin.tv_sec) * 1000000000 + end.tv_nsec - begin.tv_nsec);
    return 0;
}
