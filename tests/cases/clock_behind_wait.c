// A program that reads the processor's clock is not verified, whether or not a loop of it waits: a run that ended in
// such a loop counted as a failure, behind which nobody looked for the instruction.
//
// RUN 119: pct explore --memory=all -- %p
// RUN 119: pct explore --memory=all -- %p loops
// RUN: { pct explore --memory=all -- %p loops 2>&1 || :; } | grep "reads the processor's clock"
#include <pthread.h>
#include <x86intrin.h>

static volatile int ready;

static void *set(void *unused)
{
    ready = 1;
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    unsigned long long began = __rdtsc();
    (void)argv;
    pthread_create(&thread, NULL, set, NULL);
    while (argc > 1 && !ready)
        ;
    pthread_join(thread, NULL);
    return began == 0;
}
