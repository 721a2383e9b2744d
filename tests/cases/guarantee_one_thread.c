// One thread has one schedule, but the seed draws more than that: numbers that the program chooses by pct_choose(),
// whether a wait for a condition ends by itself, random numbers; and how late a wait ends is the machine's. The claim
// said "nothing was missed" all the same. And a campaign claimed something though one of the runs that measure k had
// failed.
//
// BUILD: gcc -O1 -g -pthread -Iinclude -o %p %s
// RUN: pct run -s 1 -n 20 --state none -- %p > %t/out 2>&1;
//     grep -x 'pct: n = 1 thread, which has one schedule' %t/out &&
//     grep 'sleeps and time-outs ended at their deadlines: a bug that needs one to end later' %t/out
// RUN: pct run -s 1 -n 20 --state none -- %p choose > %t/out 2>&1;
//     grep -x 'pct: n = 1 thread, which has one schedule' %t/out &&
//     grep 'pct_choose() several numbers, up to 1 times in a run' %t/out
// RUN: pct run -s 1 -n 20 --spurious --state none -- %p > %t/out 2>&1;
//     grep -x 'pct: n = 1 thread, which has one schedule' %t/out &&
//     grep 'a bug that needs certain ones to, or not to' %t/out
// RUN: v=$(pct run -q -s 10 --state none -- %p random);
//     pct campaign -s 1 -n 5 --db %t/db -- %p random "$v" > %t/out 2>&1; grep '^ *1 .*exit status 3' %t/out &&
//     ! grep -E 'one schedule|missed with probability' %t/out
// RUN 1: v=$(pct run -q -s 10 --state none -- %p random); pct campaign -q -s 1 -n 5 --db %t/db -- %p random "$v"
#include <pct/script.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

int main(int argc, char **argv)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
    const char *what = argc > 1 ? argv[1] : "";
    struct timespec until;
    unsigned number = 0;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
    pthread_mutex_lock(&mutex);
    pthread_cond_timedwait(&cond, &mutex, &until);
    pthread_mutex_unlock(&mutex);
    if (!strcmp(what, "choose") && pct_choose(1000) == 1000)
        abort();
    if (!strcmp(what, "random") && getrandom(&number, sizeof number, 0) != sizeof number)
        abort();
    if (!strcmp(what, "random") && argc == 2)
        printf("%u\n", number);
    return argc > 2 && number == strtoul(argv[2], NULL, 10) ? 3 : 0;
}
