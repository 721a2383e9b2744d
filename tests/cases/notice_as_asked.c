/* The threads that libc makes for SIGEV_THREAD are as the program asked: with the guard that the attributes named when
 * the notification was asked for, none included, and with no signal blocked that libc keeps for itself. Under pct those
 * of mq_notify() had the usual attributes, "no guard" was the usual one, and a timer's threads blocked SIGCANCEL.
 *
 * RUN: %p
 * RUN: pct run -q -n 20 -s 1 --explore=0 --timeout 20 --state none -- %p
 */
#undef NDEBUG
#define _GNU_SOURCE
#include <assert.h>
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { SIGCANCEL = 32, SIGSETXID = 33, GUARD = 32 * 4096 };

static sem_t notified;
static size_t guard;

static void notify(union sigval blocks)
{
    pthread_attr_t mine;
    sigset_t mask;
    assert(!pthread_getattr_np(pthread_self(), &mine) && !pthread_attr_getguardsize(&mine, &guard));
    pthread_attr_destroy(&mine);
    assert(!sigprocmask(SIG_BLOCK, NULL, &mask));
    assert(sigismember(&mask, SIGUSR1) == blocks.sival_int);
    /* sigismember() would say nothing of these. */
    const unsigned long bits = *(const unsigned long *)&mask;
    assert(!(bits >> (SIGCANCEL - 1) & 1) && !(bits >> (SIGSETXID - 1) & 1));
    sem_post(&notified);
}

static struct sigevent with_guard(pthread_attr_t *attr, size_t size, int blocks)
{
    struct sigevent event = { .sigev_notify = SIGEV_THREAD, .sigev_notify_function = notify };
    event.sigev_notify_attributes = attr;
    event.sigev_value.sival_int = blocks;
    pthread_attr_init(attr);
    pthread_attr_setguardsize(attr, size);
    return event;
}

static void by_timer(size_t size)
{
    pthread_attr_t attr;
    timer_t timer;
    struct sigevent event = with_guard(&attr, size, 1);
    const struct itimerspec soon = { .it_value = { 0, 20000 } };
    assert(!timer_create(CLOCK_MONOTONIC, &event, &timer));
    pthread_attr_setguardsize(&attr, 4096);
    assert(!timer_settime(timer, 0, &soon, NULL));
    while (sem_wait(&notified))
        ;
    timer_delete(timer);
    pthread_attr_destroy(&attr);
    assert(guard == size);
}

static void by_queue(mqd_t queue, size_t size)
{
    char byte;
    pthread_attr_t attr;
    struct sigevent event = with_guard(&attr, size, 0);
    assert(!mq_notify(queue, &event));
    pthread_attr_setguardsize(&attr, 4096);
    assert(!mq_send(queue, "x", 1, 0));
    while (sem_wait(&notified))
        ;
    assert(mq_receive(queue, &byte, 1, NULL) == 1);
    pthread_attr_destroy(&attr);
    assert(guard == size);
}

int main(void)
{
    char name[64];
    struct mq_attr limits = { .mq_maxmsg = 1, .mq_msgsize = 1 };
    by_timer(0);
    by_timer(GUARD);
    snprintf(name, sizeof name, "/notice-as-asked-%d", (int)getpid());
    mqd_t queue = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &limits);
    if (queue < 0)
        return 0; /* a system without */
    mq_unlink(name);
    by_queue(queue, 0);
    by_queue(queue, GUARD);
    return 0;
}
