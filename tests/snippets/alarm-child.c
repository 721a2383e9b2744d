/* alarm, timer_create: a signal of a timer that is not handled kills; a child inherits no timers. */
/* tests: alarm timer_create */
/* outside: it waits for its children */
#define _GNU_SOURCE
#include "check.h"
#include "child.h"

static void be_alarmed(void *unused)
{
    (void)unused;
    alarm(1);
    for (;;)
        pause();
}

static void die_of_timer(void *unused)
{
    (void)unused;
    timer_t timer;
    struct itimerspec spec = { .it_value = { 0, 2000000 } };
    CHECK_OK(timer_create(CLOCK_REALTIME, NULL, &timer)); /* SIGALRM */
    CHECK_OK(timer_settime(timer, 0, &spec, NULL));
    for (;;)
        pause();
}

static void look_for_timers(void *timer)
{
    struct itimerspec now;
    CHECK_EQ(alarm(0), 0);
    CHECK_FAILS(timer_gettime(*(timer_t *)timer, &now), EINVAL);
    _exit(0);
}

int main(void)
{
    timer_t timer;
    struct itimerspec far = { .it_value = { 1000, 0 } };
    CHECK_SIGNALED(child_run(be_alarmed, NULL), SIGALRM);
    CHECK_SIGNALED(child_run(die_of_timer, NULL), SIGALRM);
    CHECK_EQ(alarm(1000), 0);
    CHECK_OK(timer_create(CLOCK_MONOTONIC, NULL, &timer));
    CHECK_OK(timer_settime(timer, 0, &far, NULL));
    CHECK_EXITED(child_run(look_for_timers, &timer), 0);
    CHECK(alarm(0) >= 900);
    return 0;
}
