// clang links AddressSanitizer's runtime into the program, where its memcpy stands. pct called that while it changed
// the code around it: with --memory, and in campaigns that say nothing of memory, runs of right programs crashed before
// main(). Such a program is not patched, which is said.
//
// NEED: echo 'int main(void) { return 0; }' | clang -fsanitize=address -x c -o %t/needed - && %t/needed
// BUILD: clang -O1 -g -pthread -fsanitize=address -o %p %s
// RUN: pct run -n 20 -s 1 --state none -- %p > %t/out 2>&1; test $? = 0 && ! grep 'a run was cut' %t/out
// RUN: pct run -n 1 -s 1 --state none --memory=all -- %p > %t/out 2>&1;
//     test $? = 0 && grep -q '1 module of which nothing could be patched' %t/out
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void *add(void *unused)
{
    pthread_mutex_lock(&mutex);
    count++;
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, add, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return count != 2;
}
