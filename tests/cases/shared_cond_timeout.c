// A wait for a condition that processes share does not time out before its deadline by the clock that the program
// reads.
//
// RUN: %p
// RUN: pct run -q -s 1 -n 20 -- %p
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>

int main(void)
{
    pthread_mutexattr_t mutex_attr;
    pthread_condattr_t cond_attr;
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    pthread_mutexattr_init(&mutex_attr);
    pthread_mutexattr_setpshared(&mutex_attr, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&mutex, &mutex_attr);
    pthread_condattr_init(&cond_attr);
    pthread_condattr_setpshared(&cond_attr, PTHREAD_PROCESS_SHARED);
    pthread_condattr_setclock(&cond_attr, CLOCK_MONOTONIC);
    pthread_cond_init(&cond, &cond_attr);
    pthread_mutex_lock(&mutex);
    for (long us = 1; us < 2000; us += 97) {
        struct timespec until, now;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += us * 1000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        int result = 0;
        while (!result)
            result = pthread_cond_timedwait(&cond, &mutex, &until);
        assert(result == ETIMEDOUT);
        clock_gettime(CLOCK_MONOTONIC, &now);
        assert(now.tv_sec > until.tv_sec || (now.tv_sec == until.tv_sec && now.tv_nsec >= until.tv_nsec));
    }
    pthread_mutex_unlock(&mutex);
    return 0;
}
