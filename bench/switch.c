/* Threads that do nothing but give way: switch THREADS [raw]. With the shim and round-robin,quantum=1 each sched_yield
 * is a switch of the scheduler; `raw` makes the system call itself, which is the kernel's switch on one CPU: the floor.
 * Prints ns a switch. */
#include "measure.h"
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

static long rounds;
static int raw;
static pthread_barrier_t start_line;
static double begun;

static void *give_way(void *argument)
{
    if (pthread_barrier_wait(&start_line) == PTHREAD_BARRIER_SERIAL_THREAD)
        begun = real_ns();
    for (long i = 0; i < rounds; i++) {
        long result;
        if (raw)
            __asm__ volatile("syscall" : "=a"(result) : "a"(SYS_sched_yield) : "rcx", "r11", "memory");
        else
            sched_yield();
    }
    return argument;
}

int main(int argc, char **argv)
{
    long count = argc > 1 ? atol(argv[1]) : 3;
    raw = argc > 2 && !strcmp(argv[2], "raw");
    rounds = 300000 / count > 100 ? 300000 / count : 100;
    pthread_t *threads = calloc((size_t)count, sizeof *threads);
    pthread_barrier_init(&start_line, NULL, (unsigned)count);
    for (long i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, give_way, NULL))
            return 1;
    for (long i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    printf("%.1f\n", (real_ns() - begun) / ((double)rounds * (double)count));
    free(threads);
    return 0;
}
