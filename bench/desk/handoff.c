// A pool of connections. Who finds none free queues up and waits for a while; who gives one back hands it to the first
// in the queue.
//
// Bug: who gave up waiting goes without a look whether it was handed a connection meanwhile, between the end of its
// time and its lock; that connection is lost.
// Shows as: an exit status of 1: fewer free connections at the end than at the start.
// FIXED: it looks.
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { CONNECTIONS = 1, CLIENTS = 3, REQUESTS = 2, PATIENCE_MS = 4, WORK_MS = 4 };

struct waiter {
    pthread_cond_t handed;
    int connection; // -1: none yet
    struct waiter *next;
};

static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;
static int free_connections[CONNECTIONS], free_count;
static struct waiter *waiters;

static void enqueue(struct waiter *self)
{
    struct waiter **end = &waiters;
    while (*end)
        end = &(*end)->next;
    self->next = NULL;
    *end = self;
}

static void dequeue(struct waiter *self)
{
    for (struct waiter **at = &waiters; *at; at = &(*at)->next)
        if (*at == self) {
            *at = self->next;
            return;
        }
}

static int acquire(void)
{
    struct waiter self = { .connection = -1 };
    struct timespec until;
    int error = 0;
    pthread_mutex_lock(&pool_lock);
    if (free_count > 0) {
        int connection = free_connections[--free_count];
        pthread_mutex_unlock(&pool_lock);
        return connection;
    }
    pthread_cond_init(&self.handed, NULL);
    enqueue(&self);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += PATIENCE_MS * 1000000L;
    if (until.tv_nsec >= 1000000000L) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000L;
    }
    while (self.connection < 0 && error != ETIMEDOUT)
        error = pthread_cond_timedwait(&self.handed, &pool_lock, &until); // culprit
#ifdef FIXED
    if (self.connection < 0)
        dequeue(&self);
#else
    if (error == ETIMEDOUT) {
        dequeue(&self);
        self.connection = -1;
    }
#endif
    pthread_mutex_unlock(&pool_lock);
    pthread_cond_destroy(&self.handed);
    return self.connection;
}

static void release(int connection)
{
    pthread_mutex_lock(&pool_lock);
    struct waiter *first = waiters;
    if (first) {
        waiters = first->next;
        first->connection = connection;
        pthread_cond_signal(&first->handed); // culprit
    } else {
        free_connections[free_count++] = connection;
    }
    pthread_mutex_unlock(&pool_lock);
}

static void *client(void *arg)
{
    for (int i = 0; i < REQUESTS; i++) {
        int connection = acquire();
        if (connection < 0)
            continue;
        usleep(WORK_MS * 1000);
        release(connection);
    }
    return arg;
}

int main(void)
{
    pthread_t clients[CLIENTS];
    for (int i = 0; i < CONNECTIONS; i++)
        free_connections[free_count++] = i;
    for (int i = 0; i < CLIENTS; i++)
        pthread_create(&clients[i], NULL, client, NULL);
    for (int i = 0; i < CLIENTS; i++)
        pthread_join(clients[i], NULL);
    printf("%d of %d free\n", free_count, CONNECTIONS);
    return free_count == CONNECTIONS ? 0 : 1;
}
