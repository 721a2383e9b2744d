/* Transfers, of which only some may run at the same time.
 *
 * Bug: a transfer that fails gives its permit back, and so does who called it: from then on one more may run.
 * Shows as: a failed assertion: too many at the same time.
 * FIXED: only who called gives it back. */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>

enum { CLIENTS = 3, LIMIT = 1 };

static sem_t permits;

static struct {
    pthread_mutex_t lock;
    int running, most, failed;
} server = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void server_enter(void)
{
    pthread_mutex_lock(&server.lock);
    server.running++;
    if (server.running > server.most)
        server.most = server.running;
    assert(server.running <= LIMIT);
    pthread_mutex_unlock(&server.lock);
}

static void server_leave(bool failed)
{
    pthread_mutex_lock(&server.lock);
    server.running--;
    server.failed += failed;
    pthread_mutex_unlock(&server.lock);
}

static bool open_file(int client)
{
    return client != 1;
}

static int transfer(int client)
{
    server_enter();
    if (!open_file(client)) {
        server_leave(true);
#ifndef FIXED
        sem_post(&permits); /* culprit */
#endif
        return -1;
    }
    server_leave(false);
    return 0;
}

static void *client(void *argument)
{
    int number = *(int *)argument;
    sem_wait(&permits);
    if (transfer(number) < 0)
        fprintf(stderr, "client %d: no such file\n", number);
    sem_post(&permits); /* culprit */
    return NULL;
}

int main(void)
{
    pthread_t clients[CLIENTS];
    int number[CLIENTS];
    sem_init(&permits, 0, LIMIT);
    for (int i = 0; i < CLIENTS; i++) {
        number[i] = i;
        if (pthread_create(&clients[i], NULL, client, &number[i]))
            return 3;
    }
    for (int i = 0; i < CLIENTS; i++)
        pthread_join(clients[i], NULL);
    printf("at most %d\n", server.most);
    sem_destroy(&permits);
    return 0;
}
