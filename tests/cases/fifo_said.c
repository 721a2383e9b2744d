// A program that counts on real-time priorities, on one CPU: the higher one runs until it waits. Schedules do not keep
// to them, so it fails under pct alone; the report says why that may be, and that of a clean campaign, whose claim
// stands.
//
// NEED: chrt -f 1 true
// RUN: %p 15
// RUN: ! pct run -n 200 -s 1 --state none -- %p 15 > %t/out 2>&1; grep -A 1 'not respected by pct' %t/out |
//     grep 'threads\? with a real-time priority'
// RUN: pct run -n 50 -s 1 -S pct -d 2 --state none -- %p 0 > %t/out 2>&1; grep -A 1 'not respected by pct' %t/out |
//     grep '150 threads' && grep 'would have been missed' %t/out
// RUN: pct run -n 50 -s 1 --state none -- %p > %t/out 2>&1; ! grep 'not respected' %t/out
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

static int counted;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *low(void *rounds)
{
    for (long i = 0; i < (long)rounds; i++) {
        int before = counted;
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
        assert(counted == before);
    }
    return NULL;
}

static void *high(void *unused)
{
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&mutex);
        counted++;
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

/* Argument: the higher priority; 0: there is nobody to keep from running. */
int main(int argc, char **argv)
{
    int priority = argc > 1 ? atoi(argv[1]) : 0;
    struct sched_param first = { .sched_priority = 20 }, second = { .sched_priority = 10 },
                       third = { priority ? priority : 9 };
    pthread_attr_t attributes;
    pthread_t threads[2];
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    pthread_attr_init(&attributes);
    if (argc > 1) {
        assert(!sched_setaffinity(0, sizeof one, &one) && !sched_setscheduler(0, SCHED_FIFO, &first));
        pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
        pthread_attr_setschedpolicy(&attributes, SCHED_FIFO);
        pthread_attr_setschedparam(&attributes, &second);
    }
    assert(!pthread_create(&threads[0], &attributes, low, (void *)(priority ? 1000L : 0L)));
    if (argc > 1)
        pthread_attr_setschedparam(&attributes, &third);
    assert(!pthread_create(&threads[1], &attributes, high, NULL));
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
