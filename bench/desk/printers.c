/* Two printers for four jobs, by a semaphore; a job that was cancelled in the meantime does not print.
 *
 * Bug: a cancelled job returns without giving its printer back.
 * Shows as: a deadlock.
 * FIXED: it gives it back. */
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>

enum { JOBS = 4 };

static sem_t printers;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool cancelled[JOBS];
static int printed;

static bool is_cancelled(int job)
{
    pthread_mutex_lock(&lock);
    bool is = cancelled[job];
    pthread_mutex_unlock(&lock);
    return is;
}

static void *print(void *argument)
{
    int job = *(int *)argument;
    sem_wait(&printers);     /* culprit */
    if (is_cancelled(job)) { /* culprit */
#ifdef FIXED
        sem_post(&printers);
#endif
        return NULL;
    }
    pthread_mutex_lock(&lock);
    printed++;
    pthread_mutex_unlock(&lock);
    sem_post(&printers); /* culprit */
    return NULL;
}

static void *cancel(void *unused)
{
    for (int job = 1; job < JOBS; job++) {
        pthread_mutex_lock(&lock);
        cancelled[job] = true;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(void)
{
    pthread_t jobs[JOBS], user;
    int number[JOBS];
    sem_init(&printers, 0, 2);
    for (int i = 0; i < JOBS; i++) {
        number[i] = i;
        pthread_create(&jobs[i], NULL, print, &number[i]);
    }
    pthread_create(&user, NULL, cancel, NULL);
    for (int i = 0; i < JOBS; i++)
        pthread_join(jobs[i], NULL);
    pthread_join(user, NULL);
    return 0;
}
