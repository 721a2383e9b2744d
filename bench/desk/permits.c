/* Clients that fetch pages, as many at a time as there are permits.
 *
 * Bug: a client whose server is busy gives up, and its permit with it.
 * Shows as: deadlock; another client waits for a permit.
 * FIXED: it gives the permit back. */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

enum { PERMITS = 1, CLIENTS = 3 };

static sem_t permits;
static pthread_mutex_t server = PTHREAD_MUTEX_INITIALIZER, results = PTHREAD_MUTEX_INITIALIZER;
static int fetched, refused;

static int fetch(void)
{
    if (pthread_mutex_trylock(&server) != 0)
        return -1;
    pthread_mutex_unlock(&server);
    return 200;
}

static void count(int *counter)
{
    pthread_mutex_lock(&results);
    ++*counter;
    pthread_mutex_unlock(&results);
}

static void *client(void *unused)
{
    (void)unused;
    sem_wait(&permits); /* culprit */
    if (fetch() < 0) {
        count(&refused);
#ifdef FIXED
        sem_post(&permits);
#endif
        return NULL;
    }
    count(&fetched);
    sem_post(&permits);
    return NULL;
}

static void *restart(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&server);
    count(&refused);
    pthread_mutex_unlock(&server);
    return NULL;
}

int main(void)
{
    pthread_t clients[CLIENTS], admin;
    sem_init(&permits, 0, PERMITS);
    for (int i = 0; i < CLIENTS; i++)
        if (pthread_create(&clients[i], NULL, client, NULL))
            return 3;
    if (pthread_create(&admin, NULL, restart, NULL))
        return 3;
    for (int i = 0; i < CLIENTS; i++)
        pthread_join(clients[i], NULL);
    pthread_join(admin, NULL);
    printf("%d fetched\n", fetched);
    return 0;
}
