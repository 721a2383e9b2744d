// In the graph of who waits for what, a descriptor and a mutex of one number were one box: a thread that read from a
// pipe waited for who had the mutex, and a cycle was drawn where there is none.
//
// RUN: pct run -q -s 1 -n 1 -t %t/trace -- %p > %t/out 2>&1; test $? -eq 120 &&
//     pct trace -f dot %t/trace > %t/dot && grep -q 'label="descriptor' %t/dot && ! grep red %t/dot
#include <assert.h>
#include <pthread.h>
#include <unistd.h>

enum { MUTEXES = 64 };

static pthread_mutex_t mutex[MUTEXES];
static int ends[2];

static void *hear(void *unused)
{
    char byte;
    assert(read(ends[0], &byte, 1) == 1);
    return unused;
}

int main(void)
{
    pthread_t thread;
    for (int i = 0; i < MUTEXES; i++) {
        pthread_mutex_init(&mutex[i], NULL);
        pthread_mutex_lock(&mutex[i]);
    }
    assert(!pipe(ends) && ends[0] < MUTEXES);
    pthread_create(&thread, NULL, hear, NULL);
    pthread_join(thread, NULL);
    return 0;
}
