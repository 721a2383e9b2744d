// An explored run has points where nobody else may go on now, or nothing can change any more: a call of a once that is
// done (`once`), and accesses to memory while no other thread lives (`alone`). Its replay had none there: neither the
// token nor the trace replayed.
//
// BUILD: pct-cc -g -pthread -o %p %s
// RUN: pct explore -q -- %p once > %t/out 2>&1; test $? = 1 && token=$(grep -o "pct1:[^']*" %t/out) &&
//     { pct replay "$token" -- %p once > %t/out 2>&1; grep 'replayed identically' %t/out; }
// RUN: pct explore -q --trace=%t/trace -- %p once > %t/out 2>&1; test $? = 1 &&
//     { pct replay %t/trace -- %p once > %t/out 2>&1; grep 'replayed identically' %t/out; }
// RUN: pct explore -q --trace=%t/trace -- %p alone > %t/out 2>&1; test $? = 1 &&
//     { pct replay %t/trace -- %p alone > %t/out 2>&1; grep 'replayed identically' %t/out; }
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile int count, made, others[4];

static void make(void)
{
    made = 1;
}

static void *adds(void *unused)
{
    pthread_mutex_lock(&mutex);
    int seen = count;
    pthread_mutex_unlock(&mutex);
    pthread_once(&once, make);
    pthread_mutex_lock(&mutex);
    count = seen + 1;
    pthread_mutex_unlock(&mutex);
    return unused;
}

static void *makes(void *unused)
{
    pthread_once(&once, make);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t thread[2];
    bool alone = argc > 1 && !strcmp(argv[1], "alone");
    if (alone) {
        pthread_create(&thread[0], NULL, makes, NULL);
        pthread_join(thread[0], NULL);
        for (int i = 0; i < 4; i++)
            others[i] = made;
    }
    pthread_once(&once, make);
    for (int i = 0; i < 2; i++)
        pthread_create(&thread[i], NULL, adds, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    return count != 2;
}
