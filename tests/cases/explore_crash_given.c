// A thread gives a lock up and fails an assertion behind that. That another one, which waits for the lock, could have
// had it before was to be tried, and cannot be: the exploration said that it was not complete, and for these classes
// that nothing is exact.
//
// BUILD: pct-cc -g -pthread -o %p %s
// RUN: pct explore -q -- %p > %t/said 2>&1; status=$?; cat %t/said; grep 'cause, exact: ' %t/said &&
//     grep 'found: 4 of all 5 classes of schedules fail' %t/said && test $status = 1
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int *object;

static void *make(void *unused)
{
    static int made = 1;
    (void)unused;
    pthread_mutex_lock(&mutex);
    object = &made;
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static void *use(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&mutex);
    int *found = object;
    pthread_mutex_unlock(&mutex);
    assert(found);
    return NULL;
}

int main(void)
{
    pthread_t maker, user;
    pthread_create(&maker, NULL, make, NULL);
    pthread_create(&user, NULL, use, NULL);
    pthread_join(maker, NULL);
    pthread_join(user, NULL);
    return 0;
}
