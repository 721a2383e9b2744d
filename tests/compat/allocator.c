/* Threads that allocate, resize and free memory, most of it another thread's: what an allocator of the program's own
 * does under its locks, in its caches of each thread, and when a thread ends. Each block is full of its owner's mark.
 * What is printed depends on no order. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 6, GENERATIONS = 2, ROUNDS = 400, SHELVES = 32 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct block {
    unsigned char *bytes;
    size_t size;
} shelves[SHELVES];
static unsigned long bytes, bad;

static struct block allocate(int round, size_t size)
{
    if (round % 7 == 0)
        return (struct block){ aligned_alloc(64, (size + 63) / 64 * 64), size };
    return (struct block){ round % 5 == 0 ? calloc(1, size) : malloc(size), size };
}

static void fill(struct block block, int mark)
{
    if (!block.bytes)
        abort();
    memset(block.bytes, mark, block.size);
}

static int is_whole(struct block block)
{
    for (size_t i = 1; i < block.size; i++)
        if (block.bytes[i] != block.bytes[0])
            return 0;
    return 1;
}

static void *work(void *argument)
{
    int mark = *(const int *)argument;
    unsigned random = (unsigned)mark * 2654435761u;
    for (int round = 0; round < ROUNDS; round++) {
        random = random * 1103515245 + 12345;
        struct block mine = allocate(round, 1 + (random >> 8) % (round % 50 ? 2000 : 300000));
        fill(mine, mark);
        if (round % 3 == 0) {
            mine.bytes = realloc(mine.bytes, mine.size * 2);
            mine.size *= 2;
            fill(mine, mark);
        }
        struct block *shelf = &shelves[(random >> 4) % SHELVES];
        pthread_mutex_lock(&lock);
        struct block old = *shelf;
        *shelf = mine;
        bytes += mine.size;
        pthread_mutex_unlock(&lock);
        if (!is_whole(old))
            __atomic_fetch_add(&bad, 1, __ATOMIC_RELAXED);
        free(old.bytes);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    int marks[THREADS];
    for (int generation = 0; generation < GENERATIONS; generation++) {
        for (int i = 0; i < THREADS; i++) {
            marks[i] = i + 1;
            pthread_create(&threads[i], NULL, work, &marks[i]);
        }
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
    }
    for (int i = 0; i < SHELVES; i++)
        free(shelves[i].bytes);
    printf("%lu bytes, %lu damaged\n", bytes, bad);
    return 0;
}
