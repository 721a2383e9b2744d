/* A server that prints its counts when it is sent SIGUSR1.
 *
 * Bug: the handler takes the lock of the counts, which the thread that it interrupts may hold.
 * Shows as: a deadlock: a thread waits for itself.
 * FIXED: the handler sets a flag; a worker prints. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>

static pthread_mutex_t counts_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t cache_lock = PTHREAD_MUTEX_INITIALIZER;
static int served, cached;
static volatile sig_atomic_t wanted;

static void print_counts(void)
{
    pthread_mutex_lock(&counts_lock); /* culprit */
    fprintf(stderr, "%d served, %d from the cache\n", served, cached);
    pthread_mutex_unlock(&counts_lock);
}

static void on_signal(int number)
{
    (void)number;
#ifdef FIXED
    wanted = 1;
#else
    print_counts();
#endif
}

static int lookup(int key)
{
    static int keys[4];
    pthread_mutex_lock(&cache_lock);
    int hit = keys[key % 4]++ > 0;
    pthread_mutex_unlock(&cache_lock);
    return hit;
}

static void serve(int key)
{
    pthread_mutex_lock(&counts_lock); /* culprit */
    served++;
    cached += lookup(key);
    pthread_mutex_unlock(&counts_lock);
}

static void *worker(void *argument)
{
    for (int i = 0; i < 3; i++) {
        serve(*(int *)argument + i);
        if (wanted) {
            wanted = 0;
            print_counts();
        }
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    int numbers[2] = { 0, 2 };
    signal(SIGUSR1, on_signal);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, &numbers[i]);
    pthread_kill(threads[0], SIGUSR1);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
