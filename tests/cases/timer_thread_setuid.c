/* setuid() makes all threads of the process follow, by a signal of libc's own: the thread that waits for SIGEV_THREAD
 * timers must not block it.
 *
 * RUN: pct run -q -s 1 -n 20 --timeout 10 -- %p
 */
#include <signal.h>
#include <time.h>
#include <unistd.h>

static int times;

static void notify(union sigval unused)
{
    (void)unused;
    times++;
}

int main(void)
{
    timer_t timer;
    struct sigevent event = { .sigev_notify = SIGEV_THREAD, .sigev_notify_function = notify };
    const struct itimerspec soon = { .it_value = { 0, 1000000 } };
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    timer_settime(timer, 0, &soon, NULL);
    usleep(10000);
    return setuid(getuid());
}
