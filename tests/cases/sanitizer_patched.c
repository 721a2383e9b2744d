// What AddressSanitizer's compiler puts beside accesses looks at bytes about the program's memory. These were points of
// patched code, and pct read them by the sanitizer's own memcpy, which found no memory about that memory: explored runs
// crashed, so campaigns of right programs claimed nothing, and `pct explore --memory=all` found a bug.
//
// BUILD: gcc -O1 -g -pthread -fsanitize=address,undefined -o %p %s
// RUN: pct explore -q --memory=all -- %p
// RUN: pct run -n 40 -s 1 --state none -- %p > %t/out 2>&1; test $? = 0 && ! grep 'exploration failed' %t/out
// RUN: pct run -q -n 20 -s 1 --state none --memory=all -- %p
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int *count;

static void *add(void *unused)
{
    for (int i = 0; i < 2; i++) {
        int own[4] = { i }; /* on the stack: about that, bytes are stored */
        pthread_mutex_lock(&mutex);
        *count += own[i % 2] + 1 - own[0];
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    count = calloc(1, sizeof *count);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, add, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    free(count);
    return 0;
}
