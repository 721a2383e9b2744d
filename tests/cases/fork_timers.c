/* Timers are not inherited: in the child of a fork the name of a parent's timer is nobody's, as natively.
 *
 * RUN: %p
 * RUN: pct run -q -s 1 -n 5 --timeout 30 -- %p
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void check(int fine)
{
    if (!fine)
        abort();
}

int main(void)
{
    struct sigevent none = { .sigev_notify = SIGEV_NONE };
    struct itimerspec value = { .it_value = { .tv_sec = 100 } };
    timer_t timer;
    int status;
    check(!timer_create(CLOCK_MONOTONIC, &none, &timer));
    check(!timer_settime(timer, 0, &value, NULL));
    pid_t child = fork();
    if (!child) {
        check(timer_gettime(timer, &value) == -1 && errno == EINVAL);
        check(!timer_create(CLOCK_MONOTONIC, &none, &timer));
        check(!timer_gettime(timer, &value) && !value.it_value.tv_sec && !timer_delete(timer));
        _exit(0);
    }
    check(waitpid(child, &status, 0) == child);
    return status != 0 || timer_gettime(timer, &value) || !value.it_value.tv_sec || timer_delete(timer);
}
