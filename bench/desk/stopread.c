/* A loop that sleeps in read() of a pipe; who has something for it wakes it by a byte, if it sleeps.
 *
 * Bug: the loop looks at what there is, and says in another section that it sleeps: what comes between wakes nobody.
 * Shows as: a deadlock in read().
 * FIXED: both in one section. */
#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int wake[2];
static bool asleep, stop;

static bool is_stopped(void)
{
    pthread_mutex_lock(&lock); /* culprit */
    bool stopped = stop;
#ifdef FIXED
    asleep = !stopped;
#endif
    pthread_mutex_unlock(&lock);
    return stopped;
}

static void fall_asleep(void)
{
#ifndef FIXED
    pthread_mutex_lock(&lock); /* culprit */
    asleep = true;
    pthread_mutex_unlock(&lock);
#endif
    char byte;
    if (read(wake[0], &byte, 1) != 1) /* culprit */
        _exit(2);
    pthread_mutex_lock(&lock);
    asleep = false;
    pthread_mutex_unlock(&lock);
}

static void *loop(void *argument)
{
    while (!is_stopped())
        fall_asleep();
    return argument;
}

static void stop_loop(void)
{
    pthread_mutex_lock(&lock); /* culprit */
    stop = true;
    bool sleeps = asleep;
    pthread_mutex_unlock(&lock);
    if (sleeps && write(wake[1], "", 1) != 1)
        _exit(2);
}

int main(void)
{
    pthread_t thread;
    if (pipe(wake) || pthread_create(&thread, NULL, loop, NULL))
        return 2;
    stop_loop();
    pthread_join(thread, NULL);
    return 0;
}
