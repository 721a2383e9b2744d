/* What a thread does before timer_settime() comes before what the timer's SIGEV_THREAD function does: no data race.
 *
 * BUILD: pct-cc -O1 -g -pthread -o %p %s
 * RUN: pct run -q -s 1 -n 60 --races=fail -- %p
 */
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

static int value;
static sem_t notified;

static void notify(union sigval unused)
{
    (void)unused;
    if (value != 5)
        abort();
    sem_post(&notified);
}

int main(void)
{
    timer_t timer;
    struct sigevent event = { .sigev_notify = SIGEV_THREAD, .sigev_notify_function = notify };
    const struct itimerspec soon = { .it_value = { 0, 1000000 } };
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    value = 5;
    timer_settime(timer, 0, &soon, NULL);
    while (sem_wait(&notified))
        ;
    return 0;
}
