// clang links the runtime of -fsanitize=undefined into the program. The program was said to implement its own locks,
// which were those of that runtime, and ran with --memory=atomics unasked.
//
// NEED: echo 'int main(void) { return 0; }' | clang -fsanitize=undefined -x c - -o %t/any
// BUILD: clang -O1 -g -pthread -fsanitize=undefined -o %p %s
// RUN: pct run -s 1 -n 3 --state none -- %p > %t/log 2>&1 && ! grep 'its own locks' %t/log
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void *add(void *unused)
{
    pthread_mutex_lock(&lock);
    count++;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t thread[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&thread[i], NULL, add, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    return count != 2;
}
