/* A cache of names behind a reader-writer lock.
 *
 * Bug: who finds no entry gives up the lock for reading and takes that for writing, without another look: there may be
 *   one by then.
 * Shows as: a failed assertion: a name has two entries.
 * FIXED: it looks again. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    struct entry *next;
    char name[32];
    unsigned address;
};

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static struct entry *entries;
static pthread_mutex_t network = PTHREAD_MUTEX_INITIALIZER;
static unsigned queries;

static struct entry *find(const char *name)
{
    struct entry *e = entries;
    while (e && strcmp(e->name, name) != 0)
        e = e->next;
    return e;
}

static unsigned ask(const char *name)
{
    pthread_mutex_lock(&network);
    queries++;
    pthread_mutex_unlock(&network);
    return 0x0a000000 + (unsigned)strlen(name);
}

static unsigned resolve(const char *name)
{
    pthread_rwlock_rdlock(&lock); /* culprit */
    struct entry *e = find(name);
    unsigned address = e ? e->address : 0;
    pthread_rwlock_unlock(&lock);
    if (address)
        return address;
    address = ask(name);
    pthread_rwlock_wrlock(&lock); /* culprit */
#ifdef FIXED
    e = find(name);
#endif
    if (!e) {
        e = calloc(1, sizeof *e);
        strcpy(e->name, name);
        e->address = address;
        e->next = entries;
        entries = e;
    }
    pthread_rwlock_unlock(&lock);
    return address;
}

static void *client(void *argument)
{
    assert(resolve(argument) != 0);
    assert(resolve("common") != 0);
    return NULL;
}

static void check(void)
{
    for (struct entry *e = entries; e; e = e->next)
        for (struct entry *f = e->next; f; f = f->next)
            assert(strcmp(e->name, f->name) != 0);
}

int main(void)
{
    pthread_t threads[3];
    char names[3][8] = { "one", "two", "three" };
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, client, names[i]);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    check();
    return 0;
}
