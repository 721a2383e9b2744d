/* A semaphore or a barrier may say that processes share it, and be in memory that no other process has: then nobody
 * else can end a wait for it. pct waited for other processes, until the run was over its time, and counted that.
 *
 * RUN: %p
 * RUN: pct run -n 20 -s 1 -- %p > %t/out 2>&1; ! grep process-shared %t/out
 * RUN: ! pct run --timeout 20 -n 20 -s 1 -- %p sem > %t/out 2>&1; grep -q '^deadlock: no thread' %t/out
 * RUN: ! pct run --timeout 20 -n 20 -s 1 -- %p barrier > %t/out 2>&1; grep -q '^deadlock: no thread' %t/out
 */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <unistd.h>

static sem_t a, b;
static pthread_barrier_t barrier;
static int crosses;

static void take(sem_t *first, sem_t *second)
{
    sem_wait(first);
    usleep(1000);
    sem_wait(second);
    sem_post(second);
    sem_post(first);
}

static void *other(void *unused)
{
    if (crosses)
        take(&b, &a);
    else
        take(&a, &b);
    pthread_barrier_wait(&barrier);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    pthread_barrierattr_t attr;
    const int many = argc > 1 && !strcmp(argv[1], "barrier");
    crosses = argc > 1 && !many;
    pthread_barrierattr_init(&attr);
    pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
    assert(!sem_init(&a, 1, 1) && !sem_init(&b, 1, 1) && !pthread_barrier_init(&barrier, &attr, many ? 3 : 2));
    pthread_create(&thread, NULL, other, NULL);
    take(&a, &b);
    pthread_barrier_wait(&barrier);
    pthread_join(thread, NULL);
    assert(!pthread_barrier_destroy(&barrier));
    return 0;
}
