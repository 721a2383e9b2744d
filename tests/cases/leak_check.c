// AddressSanitizer's leak check stops the world when the program ends, or asks for it. The yields of that, as many as
// the machine took, were steps: k was ruined, no token replayed, and a deadlock that 70 of 1,000 plain runs find was
// never found.
//
// BUILD: gcc -O1 -g -pthread -fsanitize=address,undefined -o %p %s
// RUN: pct run -s 1 -n 20 -- %p 2>&1 | grep 'k=[0-9][0-9]$'
// RUN: pct run -s 1 -t %t/trace -- %p && pct replay %t/trace -- %p 2>&1 | grep 'replayed identically'
// RUN 120: pct run -q -s 1 -n 100 -- %p deadlock
#include <pthread.h>
#include <sanitizer/lsan_interface.h>
#include <stdlib.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;

static void *both(void *second)
{
    pthread_mutex_t *first = second == &a ? &b : &a;
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(first);
        pthread_mutex_lock(second);
        pthread_mutex_unlock(second);
        pthread_mutex_unlock(first);
    }
    return NULL;
}

int main(int count, char **unused)
{
    (void)unused;
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, both, &b);
    pthread_create(&threads[1], NULL, both, count > 1 ? &a : &b);
    int leaks = __lsan_do_recoverable_leak_check();
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return leaks;
}
