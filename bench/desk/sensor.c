/* A sensor is warmed up by a thread; the program reads it when that must be over.
 *
 * Bug: it sleeps as long as that takes, instead of waiting for the end of it.
 * Shows as: a failed assertion: nothing was measured yet.
 * FIXED: it waits for the thread. */
#include <assert.h>
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static double value;
static int samples;

static void *warm_up(void *unused)
{
    for (int i = 0; i < 3; i++) {
        usleep(300);
        pthread_mutex_lock(&lock); /* culprit */
        value += 0.5;
        samples++;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

static double measure(void)
{
    pthread_mutex_lock(&lock); /* culprit */
    assert(samples == 3);
    double mean = value / samples;
    pthread_mutex_unlock(&lock);
    return mean;
}

int main(void)
{
    pthread_t sensor;
    pthread_create(&sensor, NULL, warm_up, NULL);
#ifdef FIXED
    pthread_join(sensor, NULL);
    double mean = measure();
#else
    usleep(1000); /* culprit */
    double mean = measure();
    pthread_join(sensor, NULL);
#endif
    return mean > 0.5;
}
