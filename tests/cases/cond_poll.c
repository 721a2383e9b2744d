// A thread polls by pthread_cond_timedwait with a deadline that has passed, and has the mutex whenever it is not in
// there; who is to change what it looks at waits for that mutex. Wherever pct looked for such polls, the thread was the
// only one that could run: the run never ended.
//
// The argument is a number of steps before: pct looks at each 64th.
//
// RUN: %p 1
// RUN: for s in $(pct strategies | grep -v '^ ' | grep -v none);
//     do pct run -q -n $((FULL ? 30 : 8)) -s 1 --timeout 20 -S $s --state none -- %p 1 || exit 1; done
// RUN: for i in 0 1 2 3;
//     do pct run -q -n $((FULL ? 100 : 30)) -s 1 --timeout 20 -S portfolio --state none -- %p $i || exit 1; done
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int ready;

static void *poll(void *unused)
{
    struct timespec past;
    clock_gettime(CLOCK_REALTIME, &past);
    pthread_mutex_lock(&mutex);
    while (!ready)
        pthread_cond_timedwait(&cond, &mutex, &past);
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t threads[2];
    for (int i = argc > 1 ? atoi(argv[1]) : 0; i > 0; i--)
        pthread_cond_signal(&cond);
    pthread_create(&threads[0], NULL, poll, NULL);
    pthread_create(&threads[1], NULL, poll, NULL);
    pthread_mutex_lock(&mutex);
    ready = 1;
    pthread_mutex_unlock(&mutex);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
