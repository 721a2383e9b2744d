/* A readers-writer lock by hand, which prefers writers, over a routing table.
 *
 * Bug: a writer that gives up tells nobody that it waits no more.
 * Shows as: a deadlock: readers who waited for it wait for ever.
 * FIXED: it wakes them. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

struct rw {
    pthread_mutex_t m;
    pthread_cond_t can_read, can_write;
    int readers, writer, writers_waiting;
};

static void rw_init(struct rw *l)
{
    pthread_mutex_init(&l->m, NULL);
    pthread_cond_init(&l->can_read, NULL);
    pthread_cond_init(&l->can_write, NULL);
    l->readers = l->writer = l->writers_waiting = 0;
}

static void read_lock(struct rw *l)
{
    pthread_mutex_lock(&l->m);
    while (l->writer || l->writers_waiting)
        pthread_cond_wait(&l->can_read, &l->m); /* culprit */
    l->readers++;
    pthread_mutex_unlock(&l->m);
}

static void read_unlock(struct rw *l)
{
    pthread_mutex_lock(&l->m);
    if (--l->readers == 0 && l->writers_waiting)
        pthread_cond_signal(&l->can_write);
    pthread_mutex_unlock(&l->m);
}

static int write_lock_for(struct rw *l, int ms)
{
    struct timespec t;
    int ret = 0;
    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_nsec += ms * 1000000L;
    t.tv_sec += t.tv_nsec / 1000000000L;
    t.tv_nsec %= 1000000000L;
    pthread_mutex_lock(&l->m);
    l->writers_waiting++;
    while ((l->writer || l->readers) && ret != ETIMEDOUT)
        ret = pthread_cond_timedwait(&l->can_write, &l->m, &t); /* culprit */
    l->writers_waiting--;
    if (l->writer || l->readers) {
#ifdef FIXED
        if (!l->writer && !l->writers_waiting)
            pthread_cond_broadcast(&l->can_read);
#endif
        pthread_mutex_unlock(&l->m); /* culprit */
        return ETIMEDOUT;
    }
    l->writer = 1;
    pthread_mutex_unlock(&l->m);
    return 0;
}

static void write_unlock(struct rw *l)
{
    pthread_mutex_lock(&l->m);
    l->writer = 0;
    if (l->writers_waiting)
        pthread_cond_signal(&l->can_write);
    else
        pthread_cond_broadcast(&l->can_read);
    pthread_mutex_unlock(&l->m);
}

static struct rw table_lock;
static int routes[4], version, given_up;
static pthread_mutex_t io = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t io_done = PTHREAD_COND_INITIALIZER;
static int io_finished;

static int lookup(int i)
{
    read_lock(&table_lock);
    int r = routes[i % 4];
    read_unlock(&table_lock);
    return r;
}

/* Holds the table for reading while it waits for the other reader. */
static void *dumper(void *arg)
{
    (void)arg;
    read_lock(&table_lock);
    pthread_mutex_lock(&io);
    while (!io_finished)
        pthread_cond_wait(&io_done, &io);
    pthread_mutex_unlock(&io);
    read_unlock(&table_lock);
    return NULL;
}

static void *forwarder(void *arg)
{
    (void)arg;
    lookup(1);
    lookup(2);
    pthread_mutex_lock(&io);
    io_finished = 1;
    pthread_cond_signal(&io_done);
    pthread_mutex_unlock(&io);
    return NULL;
}

static void *updater(void *arg)
{
    (void)arg;
    for (int i = 0; i < 2; i++) {
        if (write_lock_for(&table_lock, 50)) {
            given_up++;
            continue;
        }
        routes[i] = ++version;
        write_unlock(&table_lock);
    }
    return NULL;
}

int main(void)
{
    pthread_t d, f, u;
    rw_init(&table_lock);
    pthread_create(&d, NULL, dumper, NULL);
    pthread_create(&f, NULL, forwarder, NULL);
    pthread_create(&u, NULL, updater, NULL);
    pthread_join(d, NULL);
    pthread_join(f, NULL);
    pthread_join(u, NULL);
    printf("version %d, gave up %d times\n", version, given_up);
    return 0;
}
