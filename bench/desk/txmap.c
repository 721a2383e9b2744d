/* A map with transactions: who commits looks whether all that it has read still has the version that it has read, and
 * then writes. Each part of the map has a lock of its own.
 *
 * Bug: the versions are looked at one part after the other, each under its lock, and then written the same way; two
 * that have read the same may both pass the look.
 * Shows as: an exit status of 1: money is gone.
 * FIXED: a commit has the lock of commits. */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

enum { SHARDS = 2, KEYS = 4, MOST = 4, CLERKS = 2, TRANSFERS = 2, START = 100 };

struct slot {
    long value;
    unsigned version;
};

struct shard {
    pthread_mutex_t lock;
    struct slot slots[KEYS / SHARDS];
};

static struct shard shards[SHARDS] = { { .lock = PTHREAD_MUTEX_INITIALIZER }, { .lock = PTHREAD_MUTEX_INITIALIZER } };
#ifdef FIXED
static pthread_mutex_t commits = PTHREAD_MUTEX_INITIALIZER;
#endif

struct entry {
    int key;
    long value;
    unsigned version;
    bool written;
};

struct transaction {
    struct entry entries[MOST];
    int count;
};

static struct shard *shard_of(int key)
{
    return &shards[key % SHARDS];
}

static struct slot *slot_of(int key)
{
    return &shard_of(key)->slots[key / SHARDS];
}

static struct entry *entry_of(struct transaction *t, int key)
{
    for (int i = 0; i < t->count; i++)
        if (t->entries[i].key == key)
            return &t->entries[i];
    struct entry *e = &t->entries[t->count++];
    pthread_mutex_lock(&shard_of(key)->lock); /* culprit */
    *e = (struct entry){ key, slot_of(key)->value, slot_of(key)->version, false };
    pthread_mutex_unlock(&shard_of(key)->lock);
    return e;
}

static long map_get(struct transaction *t, int key)
{
    return entry_of(t, key)->value;
}

static void map_put(struct transaction *t, int key, long value)
{
    struct entry *e = entry_of(t, key);
    e->value = value;
    e->written = true;
}

static bool is_valid(const struct transaction *t)
{
    bool valid = true;
    for (int i = 0; i < t->count && valid; i++) {
        const struct entry *e = &t->entries[i];
        pthread_mutex_lock(&shard_of(e->key)->lock); /* culprit */
        valid = slot_of(e->key)->version == e->version;
        pthread_mutex_unlock(&shard_of(e->key)->lock);
    }
    return valid;
}

static void apply(const struct transaction *t)
{
    for (int i = 0; i < t->count; i++) {
        const struct entry *e = &t->entries[i];
        if (!e->written)
            continue;
        pthread_mutex_lock(&shard_of(e->key)->lock); /* culprit */
        slot_of(e->key)->value = e->value;
        slot_of(e->key)->version++;
        pthread_mutex_unlock(&shard_of(e->key)->lock);
    }
}

static bool commit(struct transaction *t)
{
#ifdef FIXED
    pthread_mutex_lock(&commits);
#endif
    bool valid = is_valid(t); /* culprit */
    if (valid)
        apply(t); /* culprit */
#ifdef FIXED
    pthread_mutex_unlock(&commits);
#endif
    return valid;
}

static void transfer(int from, int to, long amount)
{
    struct transaction t;
    do {
        t.count = 0;
        map_put(&t, from, map_get(&t, from) - amount);
        map_put(&t, to, map_get(&t, to) + amount);
    } while (!commit(&t));
}

static void *clerk(void *arg)
{
    int number = *(int *)arg;
    for (int i = 0; i < TRANSFERS; i++)
        transfer(number, (number + 1 + i) % KEYS, 10);
    return NULL;
}

int main(void)
{
    pthread_t clerks[CLERKS];
    int numbers[CLERKS];
    long sum = 0;
    for (int i = 0; i < KEYS; i++)
        slot_of(i)->value = START;
    for (int i = 0; i < CLERKS; i++) {
        numbers[i] = i;
        pthread_create(&clerks[i], NULL, clerk, &numbers[i]);
    }
    for (int i = 0; i < CLERKS; i++)
        pthread_join(clerks[i], NULL);
    for (int i = 0; i < KEYS; i++)
        sum += slot_of(i)->value;
    printf("%ld\n", sum);
    return sum != KEYS * START;
}
