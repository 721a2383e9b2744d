/* A SIGEV_THREAD timer is created while another thread creates threads: what waits for the timer is the thread made for
 * it, not the one that was made in between.
 *
 * RUN: pct run -q -s 1 -n 300 -- %p
 * RUN: pct run -q -s 1 -n 300 --strategy=pos -- %p
 * RUN: pct run -q -s 1 -n 300 --strategy=random-walk -- %p
 * RUN: pct run -q -s 1 -n 300 --strategy=delay-bound -- %p
 */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <time.h>

static sem_t notified;

static void notify(union sigval unused)
{
    (void)unused;
    sem_post(&notified);
}

static void *nothing(void *unused)
{
    return unused;
}

static void *make_another(void *unused)
{
    pthread_t thread;
    pthread_create(&thread, NULL, nothing, NULL);
    pthread_join(thread, NULL);
    return unused;
}

int main(void)
{
    pthread_t thread;
    timer_t timer;
    struct sigevent event = { .sigev_notify = SIGEV_THREAD, .sigev_notify_function = notify };
    const struct itimerspec soon = { .it_value = { 0, 20000 } };
    pthread_create(&thread, NULL, make_another, NULL);
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    timer_settime(timer, 0, &soon, NULL);
    while (sem_wait(&notified))
        ;
    timer_delete(timer);
    return pthread_join(thread, NULL);
}
