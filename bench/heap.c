/* A target with a heap of 1 GiB, which a constructor fills: heap read|write. The run then reads or writes each of its
 * pages. Two threads, so that there is something to schedule. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096 };
static const size_t size = (size_t)1 << 30;
static char *heap;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

__attribute__((constructor)) static void fill(void)
{
    heap = malloc(size);
    for (size_t at = 0; heap && at < size; at += PAGE)
        heap[at] = 1;
}

static void *lock(void *unused)
{
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    unsigned sum = 0;
    int write = argc > 1 && !strcmp(argv[1], "write");
    if (!heap || pthread_create(&thread, NULL, lock, NULL))
        return 2;
    lock(NULL);
    for (size_t at = 0; at < size; at += PAGE) {
        if (write)
            heap[at]++;
        sum += (unsigned char)heap[at];
    }
    pthread_join(thread, NULL);
    return sum != (write ? 2 : 1) * size / PAGE;
}
