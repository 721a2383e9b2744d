// Workers answer requests by a configuration. To replace it, the administrator asks the workers to pause, waits until
// all have, replaces it and lets them go on.
//
// Bug: the administrator keeps the lock of the configuration while it waits for the pause; a worker that is about to
// answer needs it before it comes to its pause.
// Shows as: a deadlock.
// FIXED: the lock is taken when all have paused.
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

enum { WORKERS = 2, REQUESTS = 3 };

static pthread_mutex_t config_lock = PTHREAD_MUTEX_INITIALIZER;
static int config = 1;

static pthread_mutex_t pause_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t paused_changed = PTHREAD_COND_INITIALIZER, go_on = PTHREAD_COND_INITIALIZER;
static bool pause_wanted;
static int paused, running = WORKERS;

static int answers[WORKERS];

static int answer(int request)
{
    pthread_mutex_lock(&config_lock); // culprit
    int result = request * config;
    pthread_mutex_unlock(&config_lock);
    return result;
}

static void pause_if_wanted(void)
{
    pthread_mutex_lock(&pause_lock);
    if (pause_wanted) {
        paused++;
        pthread_cond_signal(&paused_changed);
        while (pause_wanted)
            pthread_cond_wait(&go_on, &pause_lock);
        paused--;
    }
    pthread_mutex_unlock(&pause_lock);
}

static void leave(void)
{
    pthread_mutex_lock(&pause_lock);
    running--;
    pthread_cond_signal(&paused_changed);
    pthread_mutex_unlock(&pause_lock);
}

static void *work(void *arg)
{
    int *sum = arg;
    for (int i = 1; i <= REQUESTS; i++) {
        pause_if_wanted();
        *sum += answer(i);
    }
    leave();
    return NULL;
}

static void wait_for_pause(void)
{
    pthread_mutex_lock(&pause_lock);
    pause_wanted = true;
    while (paused < running)
        pthread_cond_wait(&paused_changed, &pause_lock); // culprit
    pthread_mutex_unlock(&pause_lock);
}

static void end_pause(void)
{
    pthread_mutex_lock(&pause_lock);
    pause_wanted = false;
    pthread_cond_broadcast(&go_on);
    pthread_mutex_unlock(&pause_lock);
}

static void reconfigure(int value)
{
#ifdef FIXED
    wait_for_pause();
    pthread_mutex_lock(&config_lock);
#else
    pthread_mutex_lock(&config_lock); // culprit
    wait_for_pause();                 // culprit
#endif
    config = value;
    pthread_mutex_unlock(&config_lock);
    end_pause();
}

int main(void)
{
    pthread_t workers[WORKERS];
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&workers[i], NULL, work, &answers[i]);
    reconfigure(2);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i], NULL);
    printf("%d %d\n", answers[0], answers[1]);
    return 0;
}
