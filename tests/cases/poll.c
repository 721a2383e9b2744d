// A thread that polls: locks, looks, unlocks. It is demoted by chance, again and again, so theorem 9 says next to
// nothing of this program; it was said to be as good as sure.
//
// RUN: pct run -s 1 -n 100 --state none -- %p 2>&1 | grep -F "too few to make any bug improbable"
// RUN: pct run -s 1 -n 100 --state none -- %p 2>&1 |
//     grep -F "the bound is lower for threads that yield, sleep, poll or fail a try"
#include <pthread.h>
#include <stdbool.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static bool flag;

static void *wait_for_flag(void *unused)
{
    for (bool seen = false; !seen;) {
        pthread_mutex_lock(&mutex);
        seen = flag;
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, wait_for_flag, NULL);
    for (int i = 0; i < 50; i++) {
        pthread_mutex_lock(&other);
        pthread_mutex_unlock(&other);
    }
    pthread_mutex_lock(&mutex);
    flag = true;
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, NULL);
    return 0;
}
