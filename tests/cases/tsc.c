// The processor's clock is read by an instruction: nothing controls it. The doctor says so, and so does what a clean
// campaign is worth.
//
// RUN: pct doctor %p | grep "^partly.*reads the processor's clock itself (rdtsc; such instructions: 1)"
// RUN: pct run -n 5 -s 1 --state none -- %p 2>&1 | grep "no guarantee.*the program reads the processor's clock"
// RUN: pct run -n 5 -s 1 --state none -- env %p 2>&1 | grep "no guarantee.*the program reads the processor's clock"
// RUN: pct campaign -n 5 -s 1 --db %t/db -- %p > %t/out 2>&1; pct campaign report %t/db 2>&1 |
//     grep "no guarantee.*the program reads the processor's clock"
#include <pthread.h>
#include <x86intrin.h>

static void *nothing(void *unused)
{
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, nothing, NULL);
    pthread_join(thread, NULL);
    return __rdtsc() == 0;
}
