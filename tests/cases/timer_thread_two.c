/* Two threads create the first SIGEV_THREAD timers at once: each gets one of its own, which notifies it.
 *
 * RUN: pct run -q -s 1 -n 300 --timeout 10 -- %p
 * RUN: pct run -q -s 1 -n 300 --timeout 10 --strategy=pos -- %p
 * RUN: pct run -q -s 1 -n 300 --timeout 10 --strategy=random-walk -- %p
 * RUN: pct run -q -s 1 -n 300 --timeout 10 --strategy=delay-bound -- %p
 */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <time.h>

static struct {
    timer_t timer;
    sem_t notified;
    int times;
} mine[2];

static void notify(union sigval value)
{
    mine[value.sival_int].times++;
    sem_post(&mine[value.sival_int].notified);
}

static void *wait_for_mine(void *number)
{
    int i = (int)(long)number;
    struct sigevent event = { .sigev_notify = SIGEV_THREAD, .sigev_notify_function = notify };
    event.sigev_value.sival_int = i;
    const struct itimerspec soon = { .it_value = { 0, 20000 } };
    timer_create(CLOCK_MONOTONIC, &event, &mine[i].timer);
    timer_settime(mine[i].timer, 0, &soon, NULL);
    while (sem_wait(&mine[i].notified))
        ;
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, wait_for_mine, (void *)1);
    wait_for_mine((void *)0);
    pthread_join(thread, NULL);
    return mine[0].timer == mine[1].timer || mine[0].times != 1 || mine[1].times != 1;
}
