/* A cache of the last few pages: who wants a page that another thread is loading waits for it.
 *
 * Bug: a load that fails removes the entry and frees it, though others wait for it and look at it when they are woken.
 * Shows as: a failed assertion: the entry is gone.
 * FIXED: an entry has a count of users, the last of which frees it. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CAPACITY = 4, GOOD = 0x600d };
enum state { LOADING, READY, FAILED };

struct entry {
    int magic, key, users;
    enum state state;
    pthread_cond_t done;
    char text[32];
    struct entry *next;
};

struct cache {
    pthread_mutex_t lock;
    struct entry *first; /* the latest */
    int count;
};

static struct cache cache = { .lock = PTHREAD_MUTEX_INITIALIZER };
static int answers[3];

static struct entry *lookup(int key)
{
    for (struct entry **at = &cache.first; *at; at = &(*at)->next)
        if ((*at)->key == key) {
            struct entry *e = *at;
            *at = e->next;
            e->next = cache.first;
            return cache.first = e;
        }
    return NULL;
}

static void unlink_entry(struct entry *e)
{
    struct entry **at = &cache.first;
    while (*at && *at != e)
        at = &(*at)->next;
    if (*at) {
        *at = e->next;
        cache.count--;
    }
}

static void free_entry(struct entry *e)
{
    memset(e, 0xdd, sizeof *e);
    free(e);
}

static void put_entry(struct entry *e)
{
    if (--e->users == 0 && e->state == FAILED)
        free_entry(e);
}

static int load(int key, char *text, size_t size)
{
    if (key % 2)
        return -1; /* the disk says no */
    snprintf(text, size, "page %d", key);
    return 0;
}

static int get(int key, char *text, size_t size)
{
    int ok;
    pthread_mutex_lock(&cache.lock);
    struct entry *e = lookup(key);
    if (e) {
        e->users++;
        while (e->state == LOADING)
            pthread_cond_wait(&e->done, &cache.lock); /* culprit */
        assert(e->magic == GOOD);
        ok = e->state == READY;
        if (ok)
            snprintf(text, size, "%s", e->text);
        put_entry(e);
        pthread_mutex_unlock(&cache.lock);
        return ok;
    }
    e = calloc(1, sizeof *e);
    e->magic = GOOD;
    e->key = key;
    e->users = 1;
    e->state = LOADING;
    pthread_cond_init(&e->done, NULL);
    e->next = cache.first;
    cache.first = e;
    cache.count++;
    pthread_mutex_unlock(&cache.lock);

    char page[32] = "";
    int failed = load(key, page, sizeof page);

    pthread_mutex_lock(&cache.lock); /* culprit */
    memcpy(e->text, page, sizeof page);
    e->state = failed ? FAILED : READY;
    pthread_cond_broadcast(&e->done);
    ok = !failed;
    if (failed)
        unlink_entry(e);
    else
        snprintf(text, size, "%s", e->text);
#ifdef FIXED
    put_entry(e);
#else
    if (failed)
        free_entry(e);
#endif
    pthread_mutex_unlock(&cache.lock);
    return ok;
}

static void *client(void *arg)
{
    int *answer = arg;
    char text[32];
    for (int key = 2; key < 5; key++)
        *answer += get(key, text, sizeof text);
    return NULL;
}

int main(void)
{
    pthread_t clients[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&clients[i], NULL, client, &answers[i]);
    for (int i = 0; i < 3; i++)
        pthread_join(clients[i], NULL);
    printf("%d %d %d pages\n", answers[0], answers[1], answers[2]);
    return 0;
}
