// A bug that needs a switch at a memory access that is no scheduling point is no bug of which the guarantee speaks:
// here the reader never finds the 50th of 100 increments where points are at calls, and where they are at the first
// accesses to what no other thread has touched yet. Nothing but the manual said so.
//
// BUILD: pct-cc -O1 -g -pthread -o %p %s && gcc -O1 -g -pthread -o %p-plain %s
// RUN: pct run -s 1 -n 20 -d 2 --state none -- %p-plain > %t/out 2>&1; grep 'missed with probability' %t/out &&
//     grep 'pct: k counts calls .*: a bug that needs a switch at a memory access .* or at another call' %t/out
// RUN: pct run -s 1 -n 20 -d 2 --state none -- %p > %t/out 2>&1; grep 'missed with probability' %t/out &&
//     grep 'no second thread has touched yet, k counts the first few' %t/out && ! grep 'k counts calls' %t/out
// RUN: pct run -s 1 -n 20 -d 2 --memory-points=all --state none -- %p > %t/out 2>&1;
//     grep 'missed with probability' %t/out && ! grep -E 'k counts (calls|the first)' %t/out &&
//     grep 'k counts those of code that pct-cc has built' %t/out
// RUN: pct run -s 1 -n 20 -d 2 --memory-points=off --state none -- %p > %t/out 2>&1; grep 'pct: k counts calls' %t/out
// RUN: pct run -s 1 -n 20 -d 2 --memory=globals --state none -- %p-plain > %t/out 2>&1;
//     grep 'k counts those to globals that the function itself names in the program file: ' %t/out &&
//     grep 'k counts the first few' %t/out
// RUN: pct campaign -s 1 -n 20 -d 2 --db %t/db -- %p > /dev/null 2>&1; pct campaign merge %t/merged %t/db;
//     pct campaign report %t/merged | grep 'k counts the first few'
// RUN: pct campaign -s 1 -n 20 -d 2 --db %t/db -- %p-plain > /dev/null 2>&1; pct campaign report %t/db |
//     grep 'k counts calls'
#include <pthread.h>
#include <stdlib.h>

static int number;

static void *increment(void *unused)
{
    for (int i = 0; i < 100; i++)
        __asm__ volatile("" ::"r"(++number) : "memory");
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, increment, NULL);
    if (number == 50)
        abort();
    pthread_join(thread, NULL);
    return 0;
}
