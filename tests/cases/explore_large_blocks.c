// In explored runs alone, a block of more than 8 GiB was NULL, and so was any, once a thread had had that much in
// larger blocks, though it had freed them: `pct explore` found failures that the program does not have. Where memory is
// refused, that depends on what all threads have: it said "verified".
//
// NEED: awk '/MemTotal|SwapTotal/ { all += $2 } END { exit all < 12 * 1048576 }' /proc/meminfo
// RUN: pct explore -q -- %p all
// RUN: pct explore -q -- %p locks
// RUN: (ulimit -v 10000000 && pct explore -q -- %p refused > %t/out 2>&1); test $? = 119 && grep 'was refused' %t/out
// RUN: pct explore -q -- %p more
#include <assert.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const size_t gigabyte = (size_t)1 << 30;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct box {
    pthread_mutex_t mutex;
    int count;
} * first;

static bool ends_with(const char *block, size_t size, char what)
{
    return block[0] == what && block[size - 1] == what;
}

static char *written(void *block, size_t size)
{
    assert(block && malloc_usable_size(block) >= size);
    ((char *)block)[0] = ((char *)block)[size - 1] = 1;
    return block;
}

static void *all(void *unused)
{
    char *block = written(malloc(10 * gigabyte), 10 * gigabyte);
    block[5 * gigabyte] = 2;
    block = realloc(block, 11 * gigabyte);
    assert(block && ends_with(block, 10 * gigabyte, 1) && block[5 * gigabyte] == 2 && !block[11 * gigabyte - 1]);
    free(block);
    block = written(calloc(3 * gigabyte, 3), 9 * gigabyte);
    free(block);
    block = calloc(3 * gigabyte, 3);
    assert(block && ends_with(block, 9 * gigabyte, 0));
    free(block);
    block = written(aligned_alloc(1 << 21, 9 * gigabyte), 9 * gigabyte);
    assert(!((uintptr_t)block % (1 << 21)));
    free(block);
    for (int i = 0; i < 20; i++)
        free(written(malloc(gigabyte + (size_t)i), gigabyte)); /* each of its own size */
    volatile size_t most = SIZE_MAX;
    errno = 0;
    assert(!malloc(most / 2) && errno == ENOMEM && !malloc(most) && !calloc(most / 4, 8) && !pvalloc(most - 5));
    return unused;
}

static void *locks(void *unused)
{
    struct box *own = malloc(10 * gigabyte);
    pthread_mutex_init(&own->mutex, NULL);
    pthread_mutex_lock(&mutex);
    first = first ? first : own;
    pthread_mutex_unlock(&mutex);
    pthread_mutex_lock(&first->mutex);
    pthread_mutex_unlock(&first->mutex);
    return unused;
}

static void *refused(void *unused)
{
    void *volatile block = malloc(6 * gigabyte);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    free(block);
    return unused;
}

/* What no machine has is refused in all schedules. */
static void *more(void *unused)
{
    void *volatile block = malloc((size_t)16 << 40);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    free(block);
    return unused;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "all";
    void *(*const start)(void *) = !strcmp(what, "all")     ? all
                                   : !strcmp(what, "locks") ? locks
                                   : !strcmp(what, "more")  ? more
                                                            : refused;
    const int threads = start == all ? 1 : 2;
    pthread_t thread[2];
    for (int i = 0; i < threads; i++)
        pthread_create(&thread[i], NULL, start, NULL);
    for (int i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
    return 0;
}
