/* A program with a malloc of its own, as many servers and language runtimes have: it takes a mutex, counts, and never
 * gives memory back. Whatever the shim or the loader allocate comes here, too. Run by tests/programs/hostile. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROOM = 64 << 20, THREADS = 4, ROUNDS = 500 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char memory[ROOM] __attribute__((aligned(16)));
static size_t used;       /* under lock */
static int inside, mixed; /* under lock: whoever sees another thread in here counts it */

/* The size stands before the block. */
void *malloc(size_t size)
{
    size_t padded = (size + 31) & ~(size_t)15;
    char *block = NULL;
    pthread_mutex_lock(&lock);
    mixed += inside++;
    if (padded > size && padded <= ROOM - used) {
        block = memory + used;
        used += padded;
        memcpy(block, &size, sizeof size);
        block += 16;
    }
    inside--;
    pthread_mutex_unlock(&lock);
    if (!block)
        errno = ENOMEM;
    return block;
}

void free(void *block)
{
    pthread_mutex_lock(&lock);
    mixed += inside;
    if (block && ((char *)block < memory || (char *)block >= memory + ROOM))
        _exit(96); /* somebody else's */
    pthread_mutex_unlock(&lock);
}

void *calloc(size_t count, size_t size)
{
    return size && count > SIZE_MAX / size ? NULL : malloc(count * size); /* fresh memory is zero */
}

void *realloc(void *old, size_t size)
{
    size_t before = 0;
    if (old)
        memcpy(&before, (char *)old - 16, sizeof before);
    void *block = malloc(size);
    if (block && old)
        memcpy(block, old, before < size ? before : size);
    return block;
}

void *memalign(size_t alignment, size_t size)
{
    uintptr_t block = (uintptr_t)malloc(size + alignment);
    uintptr_t aligned = (block + alignment - 1) & ~(uintptr_t)(alignment - 1);
    if (aligned != block)
        memcpy((char *)aligned - 16, &size, sizeof size);
    return (void *)aligned;
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size)
{
    *block = memalign(alignment, size);
    return 0;
}

static void *allocate(void *argument)
{
    char *strings[8] = { NULL };
    for (int i = 0; i < ROUNDS; i++) {
        char **string = &strings[i % 8];
        free(*string);
        if (asprintf(string, "%p %d", argument, i) < 0 || atoi(strchr(*string, ' ')) != i)
            _exit(95);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, allocate, NULL))
            return 99;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("mixed %d\n", mixed);
    return 3;
}
