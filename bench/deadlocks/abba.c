/* Two threads that take two locks in different orders, among many that do not: abba THREADS [STEPS]. The first to be
 * started begins with its two locks, and the last ends with them; before, or behind, all take and give back a third
 * lock, in about STEPS steps (57) each. A deadlock means that the bug has shown, and only that. */
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

enum { MOST_THREADS = 1000 };

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER, shared = PTHREAD_MUTEX_INITIALIZER;
static int steps = 57, count; /* count: under shared */

static void *work(void *unused)
{
    for (int i = 0; i < steps / 2; i++) {
        pthread_mutex_lock(&shared);
        count++;
        pthread_mutex_unlock(&shared);
    }
    return unused;
}

static void take_both(pthread_mutex_t *first, pthread_mutex_t *second)
{
    pthread_mutex_lock(first);
    pthread_mutex_lock(second);
    pthread_mutex_unlock(second);
    pthread_mutex_unlock(first);
}

static void *begin(void *unused)
{
    take_both(&b, &a);
    return work(unused);
}

static void *end(void *unused)
{
    work(unused);
    take_both(&a, &b);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[MOST_THREADS];
    int n = argc > 1 ? atoi(argv[1]) : 2;
    steps = argc > 2 ? atoi(argv[2]) : steps;
    if (n < 2 || n > MOST_THREADS)
        return 2;
    for (int i = 0; i < n; i++)
        if (pthread_create(&threads[i], NULL, i == 0 ? begin : i == n - 1 ? end : work, NULL))
            return 3;
    for (int i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
