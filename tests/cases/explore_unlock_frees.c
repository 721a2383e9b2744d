// A block that a thread frees behind an unlock was taken for what the unlock is of, so the share of the lock was not
// given back: nobody seemed to be able to take it for writing behind that. The classes in which somebody does were
// never tried, and `pct explore` said "verified".
//
// BUILD: pct-cc -g -pthread -o %p %s
// RUN 1: pct explore -q -- %p
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static unsigned value, last;
static unsigned seen[3], before[3];

static void look(unsigned i)
{
    if (pthread_rwlock_tryrdlock(&lock))
        return;
    seen[i] = value;
    pthread_mutex_lock(&mutex);
    before[i] = last;
    last = i + 1;
    pthread_mutex_unlock(&mutex);
    pthread_rwlock_unlock(&lock);
}

static void change(unsigned i)
{
    pthread_rwlock_wrlock(&lock);
    value = 2 * value + i;
    pthread_rwlock_unlock(&lock);
}

static void *changes(void *unused)
{
    change(1);
    return unused;
}

static void *changes_and_looks(void *block)
{
    change(2);
    look(2);
    free(block);
    return NULL;
}

int main(void)
{
    pthread_t one, other;
    pthread_create(&one, NULL, changes, NULL);
    pthread_create(&other, NULL, changes_and_looks, malloc(16));
    look(0);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    /* One after the other: the second thread, the first, and this one. */
    assert(!(seen[2] == 2 && seen[0] == 5 && before[0] == 3));
    return 0;
}
