/* A program that locks all its memory, also what it will map, has no more of it resident than natively, about: libpct
 * reserves areas that nobody touches.
 *
 * RUN: %p
 * RUN: pct run -q -s 1 -n 2 -- %p
 * RUN: LD_PRELOAD=$LIBPCT %p
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { THREADS = 3, MOST_KB = 131072 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void *add(void *unused)
{
    pthread_mutex_lock(&mutex);
    count++;
    pthread_mutex_unlock(&mutex);
    return unused;
}

static long most_resident(void)
{
    char line[256];
    long most = -1;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && most < 0 && fgets(line, sizeof line, status))
        if (!strncmp(line, "VmHWM:", 6))
            most = atol(line + 6);
    return most;
}

/* Whether all may be locked that the threads need: this much can be, of which nothing is had. */
static int may_lock(void)
{
    const size_t size = (size_t)1 << 30;
    void *area = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    int may = area != MAP_FAILED && !mlock2(area, size, MLOCK_ONFAULT);
    if (area != MAP_FAILED)
        munmap(area, size);
    return may;
}

int main(void)
{
    pthread_t threads[THREADS];
    if (!may_lock() || mlockall(MCL_CURRENT | MCL_FUTURE))
        return 0;
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, add, NULL))
            return 2;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    long most = most_resident();
    return count != THREADS || most < 0 || most > MOST_KB ? 3 : 0;
}
