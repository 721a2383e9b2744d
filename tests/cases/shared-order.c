/* Process-shared objects that are used inside one process order its threads as private ones do. What was ordered by a
 * shared barrier or condition variable alone was once reported as a race, in all runs.
 *
 * BUILD: pct-cc -O1 -g -pthread -o %p %s
 * RUN: pct run -n 60 -s 1 --races=fail -- %p
 * RUN: pct run -n 20 -s 1 -S random-walk --races=fail -- %p
 */
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>

static struct shared {
    pthread_barrier_t barrier;
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    int flag;
} * shared;
static int before_barrier, before_signal;

static void *give(void *unused)
{
    before_barrier = 1;
    pthread_barrier_wait(&shared->barrier);
    pthread_mutex_lock(&shared->mutex);
    before_signal = 7;
    shared->flag = 1;
    pthread_cond_signal(&shared->cond);
    pthread_mutex_unlock(&shared->mutex);
    return unused;
}

static void make(void)
{
    pthread_barrierattr_t barrier;
    pthread_mutexattr_t mutex;
    pthread_condattr_t cond;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_barrierattr_init(&barrier);
    pthread_barrierattr_setpshared(&barrier, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&shared->barrier, &barrier, 2);
    pthread_mutexattr_init(&mutex);
    pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&shared->mutex, &mutex);
    pthread_condattr_init(&cond);
    pthread_condattr_setpshared(&cond, PTHREAD_PROCESS_SHARED);
    pthread_cond_init(&shared->cond, &cond);
}

int main(void)
{
    pthread_t thread;
    make();
    pthread_create(&thread, NULL, give, NULL);
    pthread_barrier_wait(&shared->barrier);
    int first = before_barrier;
    pthread_mutex_lock(&shared->mutex);
    while (!shared->flag)
        pthread_cond_wait(&shared->cond, &shared->mutex);
    int second = before_signal;
    pthread_mutex_unlock(&shared->mutex);
    pthread_join(thread, NULL);
    printf("%d %d\n", first, second);
    return first != 1 || second != 7;
}
