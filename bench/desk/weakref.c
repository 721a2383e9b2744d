/* A cache whose entries live as long as somebody uses them: the table itself has only weak references.
 *
 * Bug: who takes a weak reference looks whether the count is above zero and then raises it, in two atomic steps; the
 *   last user may let go between the two, and frees it.
 * Shows as: a failed assertion: an entry that is dead is used.
 * FIXED: a compare-and-exchange that raises only what is above zero. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

struct entry {
    atomic_int users;
    atomic_bool dead;
    int value;
};

static struct entry entries[2];
static pthread_mutex_t stats_lock = PTHREAD_MUTEX_INITIALIZER;
static int hits, misses;

static bool entry_upgrade(struct entry *e)
{
#ifdef FIXED
    int users = atomic_load(&e->users);
    while (users > 0)
        if (atomic_compare_exchange_weak(&e->users, &users, users + 1))
            return true;
    return false;
#else
    if (atomic_load(&e->users) <= 0) /* culprit */
        return false;
    atomic_fetch_add(&e->users, 1); /* culprit */
    return true;
#endif
}

static void entry_release(struct entry *e)
{
    if (atomic_fetch_sub(&e->users, 1) == 1) /* culprit */
        atomic_store(&e->dead, true);
}

static void count(bool hit)
{
    pthread_mutex_lock(&stats_lock);
    *(hit ? &hits : &misses) += 1;
    pthread_mutex_unlock(&stats_lock);
}

static void *reader(void *argument)
{
    struct entry *e = argument;
    for (int i = 0; i < 2; i++) {
        bool hit = entry_upgrade(e);
        count(hit);
        if (!hit)
            break;
        assert(!atomic_load(&e->dead));
        entry_release(e);
    }
    return NULL;
}

static void *owner(void *argument)
{
    struct entry *e = argument;
    count(true);
    entry_release(e);
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    struct entry *e = &entries[0];
    atomic_store(&e->users, 1);
    e->value = 7;
    if (pthread_create(&threads[0], NULL, reader, e) || pthread_create(&threads[1], NULL, owner, e))
        return 3;
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%d hits, %d misses\n", hits, misses);
    return 0;
}
