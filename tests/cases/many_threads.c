// More threads over its life than there are ids, few of them at once: the ids of those that ended are used again.
// pthread_create() failed at the 32,767th.
//
// RUN: for s in pos pctcp ${FULL:+surw tapct urw random-walk random-delay round-robin};
//     do pct run -q -s 1 -S $s -- %p 33500 || exit; done
// RUN: pct run -s 1 -t %t/trace -- %p 33500 && pct replay %t/trace -- %p 33500 2>&1 | grep 'replayed identically'
// RUN: pct run -s 1 -n 2 -- %p 33500 2>&1 | grep 'no guarantee .* used again'
// RUN: pct run -q -s 1 -S none -- %p
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int ended;

static void *end(void *unused)
{
    pthread_mutex_lock(&mutex);
    ended++;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&mutex);
    return unused;
}

static int create(pthread_t *thread, const pthread_attr_t *attributes, int number)
{
    int error = pthread_create(thread, attributes, end, NULL);
    if (error)
        fprintf(stderr, "thread %d: %s\n", number, strerror(error));
    return error;
}

int main(int count, char **arguments)
{
    int most = count > 1 ? atoi(arguments[1]) : 40000;
    pthread_attr_t detached;
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    for (int i = 0; i < most; i += 3) {
        pthread_t joined[2], other;
        if (create(&joined[0], NULL, i) || create(&joined[1], NULL, i + 1) || create(&other, &detached, i + 2))
            return 1;
        pthread_join(joined[0], NULL);
        pthread_join(joined[1], NULL);
        pthread_mutex_lock(&mutex);
        while (ended < i + 3)
            pthread_cond_wait(&changed, &mutex);
        pthread_mutex_unlock(&mutex);
    }
    return 0;
}
