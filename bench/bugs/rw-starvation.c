/* Readers starve a writer: a readers-writer lock lets new readers in while a writer waits. For the measurements of
 * bench/.
 *
 * Source: classic; the first readers-writers problem of Courtois, Heymans and Parnas, "Concurrent control with
 *   'readers' and 'writers'" (1971).
 * Bug: as long as one reader is inside, others may enter, even if a writer has been waiting. A long read, here
 *   main's, with another thread that reads again and again, keeps the writer out for as long as they like.
 * How it ends: a writer that never gets in cannot be seen in a finite run, and readers that never end would make
 *   this a program that does not terminate under every schedule. So the readers are finite, and what starvation
 *   means is stated as a bound: a waiting writer is overtaken at most PATIENCE times. Any other bound would do; a
 *   lock that lets readers pass has none.
 * Depth 2: (the writer begins to wait) before (the other reader enters for the first time), and (that reader enters
 *   for the time PATIENCE+1) before (main ends its read). PCT needs the reader to be the lowest thread and its
 *   change point in main during the long read; it also finds the bug without a change point, when main is the lowest
 *   thread throughout, since main is the thread that both constraints then hold back.
 * Shows as: a failed assertion in the reader that overtakes once too often.
 * FIXED: readers wait while a writer waits. */
#include "shared.h"
#include <stdbool.h>

enum { PATIENCE = 3, READS = PATIENCE + 2 };

struct rwlock {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int readers;
    bool writing;
    int waiting;   /* writers */
    int overtaken; /* readers that have entered since a writer began to wait */
};

static struct rwlock table = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, false, 0, 0 };
static int version; /* under table: written by the writer */

static bool must_wait_to_read(const struct rwlock *lock)
{
#ifdef FIXED
    return lock->writing || lock->waiting > 0;
#else
    return lock->writing;
#endif
}

static void read_lock(struct rwlock *lock)
{
    pthread_mutex_lock(&lock->mutex);
    while (must_wait_to_read(lock))
        pthread_cond_wait(&lock->changed, &lock->mutex);
    if (lock->waiting > 0) {
        lock->overtaken++;
        assert(lock->overtaken <= PATIENCE);
    }
    lock->readers++;
    pthread_mutex_unlock(&lock->mutex);
}

static void read_unlock(struct rwlock *lock)
{
    pthread_mutex_lock(&lock->mutex);
    lock->readers--;
    if (lock->readers == 0)
        pthread_cond_broadcast(&lock->changed);
    pthread_mutex_unlock(&lock->mutex);
}

static void write_lock(struct rwlock *lock)
{
    pthread_mutex_lock(&lock->mutex);
    lock->waiting++;
    lock->overtaken = 0;
    while (lock->readers > 0 || lock->writing)
        pthread_cond_wait(&lock->changed, &lock->mutex);
    lock->waiting--;
    lock->writing = true;
    pthread_mutex_unlock(&lock->mutex);
}

static void write_unlock(struct rwlock *lock)
{
    pthread_mutex_lock(&lock->mutex);
    lock->writing = false;
    pthread_cond_broadcast(&lock->changed);
    pthread_mutex_unlock(&lock->mutex);
}

static void *writer(void *unused)
{
    (void)unused;
    write_lock(&table); /* culprit */
    version++;
    write_unlock(&table);
    return NULL;
}

static void *reader(void *unused)
{
    (void)unused;
    for (int i = 0; i < READS; i++) {
        local_work(10);
        read_lock(&table); /* culprit */
        int seen = version;
        assert(seen == 0 || seen == 1);
        read_unlock(&table);
    }
    return NULL;
}

int main(void)
{
    read_lock(&table);
    pthread_t writing = thread_start(writer, NULL);
    pthread_t reading = thread_start(reader, NULL);
    read_unlock(&table);
    thread_join(writing);
    thread_join(reading);
    assert(version == 1);
    return 0;
}
