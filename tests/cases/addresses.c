// What a program maps is at the same address whether the watchdog has been made meanwhile, which real time decides, or
// not: one whose way depends on an address (std::barrier, a hash of pointers) went another way on a machine under load.
//
// RUN: %p
// RUN: for s in none round-robin pos pct; do LD_PRELOAD=$LIBPCT PCT_SEED=1 PCT_STRATEGY=$s %p || exit 1; done
// RUN: pct run -q -n 10 -s 1 --state none -- %p
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { BYTES = 1 << 20 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *map(void)
{
    void *at = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        exit(2);
    munmap(at, BYTES);
    return at;
}

static void *wait(void *unused)
{
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_mutex_lock(&mutex);
    pthread_create(&thread, NULL, wait, NULL);
    void *first = map();
    for (volatile unsigned long i = 0; i < 200000000; i++) /* the thread waits for the baton meanwhile */
        ;
    void *second = map();
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, NULL);
    if (first != second) {
        fprintf(stderr, "mapped at %p, later at %p\n", first, second);
        return 1;
    }
    return 0;
}
