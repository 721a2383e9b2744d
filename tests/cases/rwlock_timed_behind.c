/* Of a lock that prefers writers: a reader whose deadline comes, or that handles a signal, while a writer waits, does
 * not get it, though others have it for reading. It did.
 * RUN: pct run -q -n 20 -s 1 -- %p
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
static int written, wrong;

static void *writes(void *unused)
{
    pthread_rwlock_wrlock(&lock);
    written = 1;
    pthread_rwlock_unlock(&lock);
    return unused;
}

static void *reads(void *unused)
{
    pthread_rwlock_rdlock(&lock);
    wrong |= !written;
    pthread_rwlock_unlock(&lock);
    return unused;
}

static void handle(int signal)
{
    (void)signal;
}

int main(void)
{
    pthread_t writer, reader;
    struct timespec when;
    signal(SIGUSR1, handle);
    pthread_rwlock_rdlock(&lock);
    pthread_create(&writer, NULL, writes, NULL);
    while (!pthread_rwlock_tryrdlock(&lock)) {
        pthread_rwlock_unlock(&lock);
        usleep(1000);
    }
    clock_gettime(CLOCK_REALTIME, &when);
    when.tv_sec++;
    if (pthread_rwlock_timedrdlock(&lock, &when) != ETIMEDOUT)
        return 1;
    pthread_create(&reader, NULL, reads, NULL);
    for (int i = 0; i < 5; i++) {
        usleep(1000);
        pthread_kill(reader, SIGUSR1);
    }
    usleep(1000);
    pthread_rwlock_unlock(&lock);
    pthread_join(writer, NULL);
    pthread_join(reader, NULL);
    return wrong ? 2 : 0;
}
