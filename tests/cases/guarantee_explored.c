// pct explore has found a failure, but has not come to its end: the random schedules that follow find none, as time
// does not stand still in them. They claimed that hardly a bug could have been missed.
//
// RUN 1: pct run --explore=3 -n 20 --state none -- %p > %t/out 2>&1; s=$?; grep '20 runs in .* no failure' %t/out &&
//     grep 'no guarantee about the bugs .*: pct explore has found a failure' %t/out &&
//     ! grep 'missed with probability' %t/out || exit 9; exit $s
// RUN 1: pct campaign --explore=3 -n 20 --db %t/db -- %p > %t/out 2>&1; s=$?; pct campaign report %t/db |
//     grep 'no guarantee about the bugs .*: pct explore has found a failure' || exit 9; exit $s
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static long now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000 + time.tv_nsec;
}

/* More schedules than there is time for. */
static void *use(void *unused)
{
    for (int i = 0; i < 20; i++) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

int main(void)
{
    pthread_t thread[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&thread[i], NULL, use, NULL);
    long before = now();
    sched_yield();
    if (now() == before)
        exit(3);
    for (int i = 0; i < 3; i++)
        pthread_join(thread[i], NULL);
    return 0;
}
