// A bug that needs a certain random number of the system's is as unlikely as that number is, in each run: the guarantee
// of a clean campaign was about it, too.
//
// RUN: pct run -s 1 -n 20 -d 1 -S pct --state none -- %p random > %t/out 2>&1; grep 'missed with probability' %t/out &&
//     grep 'the seed drew random numbers for the program, up to 2 in a run: a bug that needs certain ones' %t/out
// RUN: pct run -s 1 -n 20 -d 1 -S pct --state none -- %p > %t/out 2>&1; grep 'missed with probability' %t/out &&
//     ! grep random %t/out
// RUN: pct campaign -s 1 -n 40 -d 1 -S pct --db %t/db -- %p random > %t/out 2>&1;
//     grep 'random numbers for the program, up to 2' %t/out &&
//     pct campaign -s 1 -n 60 -d 1 -S pct --db %t/db -- %p random > %t/out 2>&1;
//     grep 'random numbers for the program, up to 2' %t/out
// RUN: pct run --spurious -s 1 -n 20 -d 1 -S pct --state none -- %p 2>&1 |
//     grep 'which waits for a condition ended by themselves'
// RUN: pct explore -- %p random 2>&1 | grep 'pct: for this input and the random numbers of this seed; 2 threads'
// RUN: pct explore -- %p 2>&1 | grep 'pct: for this input; 2 threads'
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *use(void *number)
{
    pthread_mutex_lock(&mutex);
    if (!memcmp(number, "\x07\x06\x05\x04", 4))
        abort();
    pthread_mutex_unlock(&mutex);
    return NULL;
}

int main(int argc, char **argv)
{
    char number[16] = "";
    pthread_t thread;
    (void)argv;
    if (argc > 1 && getrandom(number, sizeof number, 0) != sizeof number)
        return 1;
    pthread_create(&thread, NULL, use, number);
    use(number);
    pthread_join(thread, NULL);
    return 0;
}
