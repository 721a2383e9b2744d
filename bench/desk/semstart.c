/* A server with a thread that its start waits for.
 *
 * Bug: the thread posts that it is there before it has entered its handlers.
 * Shows as: a failed assertion: a request finds no handler.
 * FIXED: it posts behind that. */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stddef.h>

enum { HANDLERS = 2, CLIENTS = 2 };

typedef int handler(int);

static sem_t started;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t stop_now = PTHREAD_COND_INITIALIZER;
static handler *handlers[HANDLERS];
static bool stopped;

static int twice(int value)
{
    return 2 * value;
}

static int square(int value)
{
    return value * value;
}

static void enter(int number, handler *function)
{
    pthread_mutex_lock(&lock); /* culprit */
    handlers[number] = function;
    pthread_mutex_unlock(&lock);
}

static void *server(void *unused)
{
    (void)unused;
#ifndef FIXED
    sem_post(&started); /* culprit */
#endif
    enter(0, twice);
    enter(1, square);
#ifdef FIXED
    sem_post(&started);
#endif
    pthread_mutex_lock(&lock);
    while (!stopped)
        pthread_cond_wait(&stop_now, &lock);
    pthread_mutex_unlock(&lock);
    return NULL;
}

static int request(int number, int value)
{
    pthread_mutex_lock(&lock); /* culprit */
    handler *function = handlers[number];
    pthread_mutex_unlock(&lock);
    assert(function != NULL);
    return function(value);
}

static void *client(void *argument)
{
    int *number = argument;
    *number = request(*number, 3);
    return NULL;
}

int main(void)
{
    pthread_t thread, clients[CLIENTS];
    int numbers[CLIENTS] = { 0, 1 };
    sem_init(&started, 0, 0);
    pthread_create(&thread, NULL, server, NULL);
    sem_wait(&started); /* culprit */
    for (int i = 0; i < CLIENTS; i++)
        pthread_create(&clients[i], NULL, client, &numbers[i]);
    for (int i = 0; i < CLIENTS; i++)
        pthread_join(clients[i], NULL);
    pthread_mutex_lock(&lock);
    stopped = true;
    pthread_cond_signal(&stop_now);
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    return numbers[0] != 6 || numbers[1] != 9;
}
