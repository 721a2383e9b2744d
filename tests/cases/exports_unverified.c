// JUnit's one test, that no schedule fails, passed for an exploration that had come to no end: it had shown nothing.
//
// RUN: pct explore -n 2 --db %t/cut.db --report junit:%t/cut.xml -- %p > %t/out 2>&1; test $? -eq 119 &&
//     grep -q 'tests="1" failures="0" errors="1"' %t/cut.xml && grep -q '<error .*message="not verified' %t/cut.xml
// RUN: pct explore --db %t/whole.db --report junit:%t/whole.xml -- %p > %t/out 2>&1 &&
//     grep -q 'tests="1" failures="0" errors="0"' %t/whole.xml && ! grep -e '<error' -e '<failure' %t/whole.xml
#include <pthread.h>

enum { THREADS = 3 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *take(void *unused)
{
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(void)
{
    pthread_t thread[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, take, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    return 0;
}
