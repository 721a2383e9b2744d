// A byte of a large block is used by one thread, and the block given up by another one. pct explore knew of the first
// 64 bytes alone, and called this verified.
//
// BUILD: pct-cc -O1 -g -pthread -o %p %s
// RUN: for byte in 0 63 64 100 999; do pct explore -- %p $byte > %t/out 2>&1; grep 'found: 1 of 2 classes' %t/out ||
//     exit 1; done
#include <pthread.h>
#include <stdlib.h>

static volatile char *block;

static void *give_up(void *unused)
{
    free((void *)block);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    size_t byte = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
    block = calloc(1000, 1);
    volatile char *own = block;
    pthread_create(&thread, NULL, give_up, NULL);
    char found = own[byte];
    pthread_join(thread, NULL);
    return found ? 3 : 0;
}
