/* The hash table of a tracing library, whose readers are counted without a lock.
 *
 * Source: the Concurrit paper, table 1 and appendix A, "ctrace": the race is between HASH_READ_ENTER and
 * HASH_READ_EXIT.
 * Bug: a reader counts itself in and out by plain additions. Where one is lost, the first reader to come or the last to
 *   go is not seen as that, and the lock against writers is given back twice or never.
 * Shows as: a failed assertion: there are readers, or the lock is taken, when all have gone.
 * FIXED: the count has a lock. */
#include "../bugs/shared.h"
#include <pct/script.h>
#include <semaphore.h>

enum { ROUNDS = 2 };

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static sem_t writing;
static int readers;

static void lock_count(void)
{
#ifdef FIXED
    pthread_mutex_lock(&guard);
#endif
}

static void unlock_count(void)
{
#ifdef FIXED
    pthread_mutex_unlock(&guard);
#endif
}

static void hash_read_enter(void)
{
    pct_point("enter");
    lock_count();
    if (++readers == 1)
        sem_wait(&writing);
    unlock_count();
}

static void hash_read_exit(void)
{
    pct_point("exit");
    lock_count();
    int left = readers - 1;
    pct_point("counted");
    readers = left;
    if (!left)
        sem_post(&writing);
    unlock_count();
}

static void *trace(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        hash_read_enter();
        hash_read_exit();
    }
    return unused;
}

int main(void)
{
    int free_again = 0;
    (void)guard;
    sem_init(&writing, 0, 1);
    pthread_t a = thread_start(trace, NULL), b = thread_start(trace, NULL);
    thread_join(a);
    thread_join(b);
    sem_getvalue(&writing, &free_again);
    assert(!readers && free_again == 1);
    return 0;
}
