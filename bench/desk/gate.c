/* A gate that lets two requests through at a time; others stand in line, for 5 ms at most. Who leaves gives its place
 * to the first in line.
 *
 * Bug: who has waited too long does not look whether it was given a place in the last moment: that place is lost.
 * Shows as: a failed assertion at the end: not all places are free.
 * FIXED: it looks. */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { PLACES = 2, CLIENTS = 4 };

struct waiter {
    pthread_cond_t turn;
    bool granted;
    struct waiter *next;
};

static struct {
    pthread_mutex_t lock;
    int free;
    struct waiter *first;
} gate = { .lock = PTHREAD_MUTEX_INITIALIZER, .free = PLACES };

static int served, refused;

static void leave_line(struct waiter *w)
{
    struct waiter **at = &gate.first;
    while (*at && *at != w)
        at = &(*at)->next;
    if (*at)
        *at = w->next;
}

static struct timespec in_ms(long ms)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_nsec += ms * 1000000;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

static bool enter(void)
{
    struct timespec until = in_ms(5);
    pthread_mutex_lock(&gate.lock);
    if (gate.free > 0) {
        gate.free--;
        pthread_mutex_unlock(&gate.lock);
        return true;
    }
    struct waiter w = { .turn = PTHREAD_COND_INITIALIZER }, **last = &gate.first;
    while (*last)
        last = &(*last)->next;
    *last = &w;
    int error = 0;
    while (!w.granted && error != ETIMEDOUT)
        error = pthread_cond_timedwait(&w.turn, &gate.lock, &until); /* culprit */
    leave_line(&w);
#ifdef FIXED
    bool in = w.granted;
#else
    bool in = error != ETIMEDOUT;
#endif
    pthread_mutex_unlock(&gate.lock);
    pthread_cond_destroy(&w.turn);
    return in;
}

static void leave(void)
{
    pthread_mutex_lock(&gate.lock); /* culprit */
    struct waiter *w = gate.first;
    if (w) {
        gate.first = w->next;
        w->granted = true;
        pthread_cond_signal(&w->turn); /* culprit */
    } else
        gate.free++;
    pthread_mutex_unlock(&gate.lock);
}

static void *client(void *arg)
{
    (void)arg;
    if (!enter()) {
        __atomic_add_fetch(&refused, 1, __ATOMIC_SEQ_CST);
        return NULL;
    }
    usleep(4900); /* the work */
    leave();
    __atomic_add_fetch(&served, 1, __ATOMIC_SEQ_CST);
    return NULL;
}

int main(void)
{
    pthread_t clients[CLIENTS];
    for (int i = 0; i < CLIENTS; i++)
        pthread_create(&clients[i], NULL, client, NULL);
    for (int i = 0; i < CLIENTS; i++)
        pthread_join(clients[i], NULL);
    printf("%d served, %d refused\n", served, refused);
    assert(gate.free == PLACES);
    return 0;
}
