/* Parcels go through a depot with few places: semaphores count places and parcels, a mutex protects the shelf.
 *
 * Bug: who brings a parcel takes the shelf's lock before he waits for a place; who fetches one needs the lock to make
 *   room.
 * Shows as: deadlock.
 * FIXED: he waits for a place first. */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

enum { PLACES = 2, PARCELS = 6, DRIVERS = 2 };

struct parcel {
    int number, weight;
};

static struct depot {
    pthread_mutex_t lock;
    sem_t places, parcels;
    struct parcel shelf[PLACES];
    unsigned in, out;
} depot = { .lock = PTHREAD_MUTEX_INITIALIZER };

static pthread_mutex_t delivered_lock = PTHREAD_MUTEX_INITIALIZER;
static int delivered, weight;

static void bring(struct parcel parcel)
{
#ifdef FIXED
    sem_wait(&depot.places);
    pthread_mutex_lock(&depot.lock);
#else
    pthread_mutex_lock(&depot.lock); /* culprit */
    sem_wait(&depot.places);         /* culprit */
#endif
    depot.shelf[depot.in++ % PLACES] = parcel;
    pthread_mutex_unlock(&depot.lock);
    sem_post(&depot.parcels);
}

static struct parcel fetch(void)
{
    sem_wait(&depot.parcels);
    pthread_mutex_lock(&depot.lock); /* culprit */
    struct parcel parcel = depot.shelf[depot.out++ % PLACES];
    pthread_mutex_unlock(&depot.lock);
    sem_post(&depot.places);
    return parcel;
}

static void deliver(struct parcel parcel)
{
    pthread_mutex_lock(&delivered_lock);
    delivered++;
    weight += parcel.weight;
    pthread_mutex_unlock(&delivered_lock);
}

static void *supplier(void *unused)
{
    (void)unused;
    for (int i = 0; i < PARCELS; i++)
        bring((struct parcel){ .number = i, .weight = i + 1 });
    return NULL;
}

static void *driver(void *unused)
{
    (void)unused;
    for (int i = 0; i < PARCELS / DRIVERS; i++)
        deliver(fetch());
    return NULL;
}

int main(void)
{
    pthread_t threads[DRIVERS + 1];
    sem_init(&depot.places, 0, PLACES);
    sem_init(&depot.parcels, 0, 0);
    pthread_create(&threads[0], NULL, supplier, NULL);
    for (int i = 1; i <= DRIVERS; i++)
        pthread_create(&threads[i], NULL, driver, NULL);
    for (int i = 0; i <= DRIVERS; i++)
        pthread_join(threads[i], NULL);
    assert(delivered == PARCELS);
    printf("%d parcels, %d kg\n", delivered, weight);
    return 0;
}
