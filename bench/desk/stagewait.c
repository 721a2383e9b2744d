/* A program comes up in stages that one thread goes through; another one waits until it is connected.
 *
 * Bug: it waits for that stage alone: if it looks when the thread has gone on to the next one, it waits for ever.
 * Shows as: a deadlock.
 * FIXED: for that stage or a later one. */
#include <pthread.h>
#include <stdio.h>

enum stage { STARTED, CONNECTED, READY };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static enum stage stage = STARTED;

static void go_to(enum stage next)
{
    pthread_mutex_lock(&lock); /* culprit */
    stage = next;
    pthread_cond_broadcast(&changed); /* culprit */
    pthread_mutex_unlock(&lock);
}

static void wait_for(enum stage wanted)
{
    pthread_mutex_lock(&lock); /* culprit */
#ifdef FIXED
    while (stage < wanted)
#else
    while (stage != wanted)
#endif
        pthread_cond_wait(&changed, &lock); /* culprit */
    pthread_mutex_unlock(&lock);
}

static void *come_up(void *arg)
{
    go_to(CONNECTED);
    go_to(READY);
    return arg;
}

static void *greet(void *arg)
{
    wait_for(CONNECTED);
    puts("hello");
    return arg;
}

int main(void)
{
    pthread_t up, greeter;
    pthread_create(&up, NULL, come_up, NULL);
    pthread_create(&greeter, NULL, greet, NULL);
    pthread_join(up, NULL);
    pthread_join(greeter, NULL);
    return 0;
}
