/* An allocator with a lock of its own in the executable, as jemalloc has: libc calls it inside pthread_create, with
 * locks of its own held, and when a thread has ended, after its last destructor. */
/* tests: pthread_create */
/* ops: THREAD_CREATE MUTEX_LOCK */
/* outside: what libc's own locks do is not ordered */
/* build: -fno-builtin-malloc -fno-builtin-free */
/* Without these the program crashes, built by clang 14, which takes malloc() and free() for those of libc. */
#define _GNU_SOURCE
#include "check.h"
#include <stdlib.h>

enum { MAKERS = 4, LEAVES = 6 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char heap[16 << 20] __attribute__((aligned(16)));
static size_t used;
static int done; /* atomic */

void *malloc(size_t size)
{
    pthread_mutex_lock(&mutex);
    size_t *block = (size_t *)(void *)(heap + used);
    size = (size + 31) & ~(size_t)15;
    used += size;
    if (used > sizeof heap)
        _exit(2);
    *block = size - 16;
    pthread_mutex_unlock(&mutex);
    return block + 2;
}

void *calloc(size_t count, size_t size)
{
    return malloc(count * size); /* never given back, so still zero */
}

void *realloc(void *old, size_t size)
{
    void *memory = malloc(size);
    if (old) {
        size_t before = ((size_t *)old)[-2];
        memcpy(memory, old, before < size ? before : size);
    }
    return memory;
}

void free(void *memory)
{
    (void)memory;
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
}

static void *leaf(void *unused)
{
    char *volatile memory = malloc(10);
    free(memory);
    __atomic_add_fetch(&done, 1, __ATOMIC_RELAXED);
    return unused;
}

static void *make(void *unused)
{
    pthread_t threads[LEAVES];
    for (int i = 0; i < LEAVES; i++)
        threads[i] = check_spawn(leaf, NULL);
    for (int i = 0; i < LEAVES; i++)
        check_join(threads[i]);
    return unused;
}

int main(void)
{
    pthread_t threads[MAKERS];
    for (int i = 0; i < MAKERS; i++)
        threads[i] = check_spawn(make, NULL);
    for (int i = 0; i < MAKERS; i++)
        check_join(threads[i]);
    CHECK_EQ(done, MAKERS * LEAVES);
    return 0;
}
