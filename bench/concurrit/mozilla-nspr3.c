/* A read-write lock that a reader takes twice, with a writer in between.
 *
 * Source: the Concurrit paper, table 1 and appendix A, "mozilla-nspr3": RADBench's bug 6, PRRWLock of NSPR, found among
 *   the orders of whole calls of reader_main() and writer_main(). What fails there the paper does not say; this is the
 *   order of whole calls that NSPR's lock, which lets writers first, does not survive.
 * Bug: a reader that has the lock asks for it again; if a writer waits, the reader waits for that.
 * Shows as: a deadlock.
 * FIXED: who holds it as a reader gets it. */
#include "../bugs/shared.h"

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int reading, writing, writers_waiting;
static __thread int held;

static void rwlock_rlock(void)
{
    pthread_mutex_lock(&guard);
#ifdef FIXED
    while (writing || (writers_waiting && !held))
#else
    while (writing || writers_waiting)
#endif
        pthread_cond_wait(&changed, &guard);
    reading++;
    held++;
    pthread_mutex_unlock(&guard);
}

static void rwlock_wlock(void)
{
    pthread_mutex_lock(&guard);
    writers_waiting++;
    while (writing || reading)
        pthread_cond_wait(&changed, &guard);
    writers_waiting--;
    writing = 1;
    pthread_mutex_unlock(&guard);
}

static void rwlock_unlock(void)
{
    pthread_mutex_lock(&guard);
    if (held) {
        held--;
        reading--;
    } else {
        writing = 0;
    }
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&guard);
}

static void *reader_main(void *unused)
{
    rwlock_rlock();
    rwlock_rlock();
    rwlock_unlock();
    rwlock_unlock();
    return unused;
}

static void *writer_main(void *unused)
{
    rwlock_wlock();
    rwlock_unlock();
    return unused;
}

int main(void)
{
    pthread_t a = thread_start(reader_main, NULL), b = thread_start(writer_main, NULL);
    thread_join(a);
    thread_join(b);
    return 0;
}
