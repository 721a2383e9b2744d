// A cache of blocks in front of a slow store. Blocks are pinned while somebody uses them. If no place is free, a block
// that is not pinned is written back and its place used again.
//
// Bug: the lock is released while a victim is written back, and its pins are not looked at again behind that; who
// pinned it meanwhile has a block that becomes another one.
// Shows as: an assertion: a pinned block has another number.
// FIXED: the victim is marked as busy, and who looks it up waits.
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

enum { PLACES = 2, BLOCKS = 3, THREADS = 2 };

struct block {
    int number; // -1: free
    int pins;
    bool dirty, busy;
    int value;
};

static struct block places[PLACES] = { { .number = -1 }, { .number = -1 } };
static int store[BLOCKS];
static pthread_mutex_t cache_lock = PTHREAD_MUTEX_INITIALIZER, store_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void store_write(int number, int value)
{
    pthread_mutex_lock(&store_lock);
    store[number] = value;
    pthread_mutex_unlock(&store_lock);
}

static int store_read(int number)
{
    pthread_mutex_lock(&store_lock);
    int value = store[number];
    pthread_mutex_unlock(&store_lock);
    return value;
}

static struct block *find(int number)
{
    for (int i = 0; i < PLACES; i++)
        if (places[i].number == number)
            return &places[i];
    return NULL;
}

static struct block *victim(void)
{
    for (int i = 0; i < PLACES; i++)
        if (places[i].pins == 0 && !places[i].busy)
            return &places[i];
    return NULL;
}

static struct block *pin(int number)
{
    struct block *block;
    pthread_mutex_lock(&cache_lock); // culprit
    for (;;) {
        block = find(number);
        if (block && !block->busy) {
            block->pins++;
            pthread_mutex_unlock(&cache_lock);
            return block;
        }
        if (!block && (block = victim()))
            break;
        pthread_cond_wait(&changed, &cache_lock); // culprit
    }
#ifdef FIXED
    block->busy = true;
#endif
    if (block->dirty) {
        int old = block->number, value = block->value;
        pthread_mutex_unlock(&cache_lock); // culprit
        store_write(old, value);
        pthread_mutex_lock(&cache_lock); // culprit
        block->dirty = false;
    }
    block->number = number;
    block->pins = 1;
    block->value = store_read(number);
    block->busy = false;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&cache_lock);
    return block;
}

static void unpin(struct block *block)
{
    pthread_mutex_lock(&cache_lock);
    block->pins--;
    block->dirty = true;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&cache_lock);
}

static void *use(void *arg)
{
    int first = *(int *)arg;
    for (int i = 0; i < BLOCKS; i++) {
        int number = (first + i) % BLOCKS;
        struct block *block = pin(number);
        assert(block->number == number);
        pthread_mutex_lock(&cache_lock);
        assert(block->number == number);
        block->value++;
        pthread_mutex_unlock(&cache_lock);
        unpin(block);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    int firsts[THREADS] = { 0, 1 };
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, use, &firsts[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    puts("done");
    return 0;
}
