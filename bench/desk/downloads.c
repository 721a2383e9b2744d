/* At most two downloads at a time, by a semaphore; a download can be cancelled, which gives its place back.
 *
 * Bug: a download that is cancelled while it runs gives its place back twice. */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>

#define PLACES 2
#define DOWNLOADS 4

enum state { WAITING, RUNNING, CANCELLED, DONE };

struct download {
    pthread_mutex_t lock;
    enum state state;
    int bytes;
};

static struct download downloads[DOWNLOADS];
static sem_t places;
static pthread_mutex_t count_lock = PTHREAD_MUTEX_INITIALIZER;
static int running;

static void enter(void)
{
    pthread_mutex_lock(&count_lock);
    running++;
    assert(running <= PLACES);
    pthread_mutex_unlock(&count_lock);
}

static void leave(void)
{
    pthread_mutex_lock(&count_lock);
    running--;
    pthread_mutex_unlock(&count_lock);
}

static bool set_state(struct download *d, enum state from, enum state to)
{
    pthread_mutex_lock(&d->lock);
    bool was = d->state == from;
    if (was)
        d->state = to;
    pthread_mutex_unlock(&d->lock);
    return was;
}

static void *transfer(void *arg)
{
    struct download *d = arg;
    sem_wait(&places);
    if (set_state(d, WAITING, RUNNING)) {
        enter();
        for (int i = 0; i < 2; i++) {
            pthread_mutex_lock(&d->lock);
            d->bytes += 100;
            pthread_mutex_unlock(&d->lock);
        }
        leave();
        set_state(d, RUNNING, DONE);
    }
    sem_post(&places);
    return NULL;
}

static void cancel(struct download *d)
{
    if (set_state(d, WAITING, CANCELLED))
        return;
#ifdef FIXED
    set_state(d, RUNNING, CANCELLED);
#else
    if (set_state(d, RUNNING, CANCELLED)) /* culprit */
        sem_post(&places);                /* culprit */
#endif
}

static void *user(void *arg)
{
    cancel(arg);
    return NULL;
}

int main(void)
{
    pthread_t t[DOWNLOADS], u;
    sem_init(&places, 0, PLACES);
    for (int i = 0; i < DOWNLOADS; i++) {
        pthread_mutex_init(&downloads[i].lock, NULL);
        pthread_create(&t[i], NULL, transfer, &downloads[i]);
    }
    pthread_create(&u, NULL, user, &downloads[0]);
    for (int i = 0; i < DOWNLOADS; i++)
        pthread_join(t[i], NULL);
    pthread_join(u, NULL);
    printf("%d\n", running);
    return 0;
}
