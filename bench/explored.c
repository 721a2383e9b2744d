/* explored STEPS: two threads that each make this many steps, of which eight are locking a mutex that both use; the
 * rest is on a mutex of their own. For the rows of bench/run about `pct explore`: 12,870 classes with any number of
 * steps. */
#include <pthread.h>
#include <stdlib.h>

enum { SHARED = 8 };
static pthread_mutex_t shared = PTHREAD_MUTEX_INITIALIZER;
static long rounds;

static void *run(void *argument)
{
    pthread_mutex_t *own = argument;
    for (long i = 0; i < rounds; i++) {
        pthread_mutex_t *lock = i % (rounds / SHARED) ? own : &shared;
        pthread_mutex_lock(lock);
        pthread_mutex_unlock(lock);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    static pthread_mutex_t own[2] = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER };
    pthread_t thread[2];
    rounds = (argc > 1 ? strtol(argv[1], NULL, 10) : 100) / 4 / SHARED * SHARED;
    for (int i = 0; i < 2; i++)
        pthread_create(&thread[i], NULL, run, &own[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    return 0;
}
