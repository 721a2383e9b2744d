/* Of a lock that prefers writers: one that is about to lock it for writing while it is free has not asked for it yet,
 * so a reader may still be first. No schedule had that.
 * RUN 1: pct run -n 30 -s 1 -S urw -- %p > %t/out 2>&1
 */
#include <pthread.h>
#include <semaphore.h>

static pthread_rwlock_t lock;
static sem_t ready;
static int value;

static void *writes(void *unused)
{
    sem_post(&ready);
    pthread_rwlock_wrlock(&lock);
    value = 1;
    pthread_rwlock_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_rwlockattr_t attr;
    pthread_t thread;
    pthread_rwlockattr_init(&attr);
    pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(&lock, &attr);
    sem_init(&ready, 0, 0);
    pthread_create(&thread, NULL, writes, NULL);
    sem_wait(&ready);
    pthread_rwlock_rdlock(&lock);
    int found = value;
    pthread_rwlock_unlock(&lock);
    pthread_join(thread, NULL);
    return !found;
}
