/* A device that the first user opens and the last one closes; it can be in use by a maintenance thread.
 *
 * Bug: device_open() returns on its error path, when maintenance has the hardware, with the device's lock held.
 * Shows as: deadlock.
 * FIXED: it lets go of the lock. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

enum { USERS = 2, TRIES = 2, BUSY = -1 };

static struct device {
    pthread_mutex_t lock, hardware;
    int users, opened, refused;
} device = { .lock = PTHREAD_MUTEX_INITIALIZER, .hardware = PTHREAD_MUTEX_INITIALIZER };

static int device_open(struct device *d)
{
    pthread_mutex_lock(&d->lock); /* culprit */
    if (d->users == 0) {
        if (pthread_mutex_trylock(&d->hardware) != 0) {
            d->refused++;
#ifdef FIXED
            pthread_mutex_unlock(&d->lock);
#endif
            return BUSY;
        }
        d->opened++;
        pthread_mutex_unlock(&d->hardware);
    }
    d->users++;
    pthread_mutex_unlock(&d->lock);
    return 0;
}

static void device_close(struct device *d)
{
    pthread_mutex_lock(&d->lock);
    assert(d->users > 0);
    d->users--;
    pthread_mutex_unlock(&d->lock);
}

static void *user(void *unused)
{
    (void)unused;
    for (int i = 0; i < TRIES; i++) {
        if (device_open(&device) == BUSY)
            break;
        device_close(&device);
    }
    return NULL;
}

static void *maintain(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&device.hardware);
    pthread_mutex_unlock(&device.hardware);
    return NULL;
}

int main(void)
{
    pthread_t users[USERS], maintenance;
    for (int i = 0; i < USERS; i++)
        if (pthread_create(&users[i], NULL, user, NULL))
            return 3;
    if (pthread_create(&maintenance, NULL, maintain, NULL))
        return 3;
    for (int i = 0; i < USERS; i++)
        pthread_join(users[i], NULL);
    pthread_join(maintenance, NULL);
    pthread_mutex_lock(&device.lock);
    printf("opened %d times, refused %d times\n", device.opened, device.refused);
    pthread_mutex_unlock(&device.lock);
    return 0;
}
