/* Connections that either side may close: the reader at the end of its input, and the manager when it is told to.
 *
 * Bug: whether a connection is open is looked at under its lock, and what it holds is freed outside.
 * Shows as: a double free.
 * FIXED: who looks takes what is to be freed, under the same lock. */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct connection {
    pthread_mutex_t lock;
    bool open;
    char *buffer;
    int received;
};

static struct connection *connection_new(void)
{
    struct connection *new = calloc(1, sizeof(*new));
    pthread_mutex_init(&new->lock, NULL);
    new->open = true;
    new->buffer = malloc(256);
    return new;
}

static void connection_close(struct connection *c)
{
    char *freed = NULL;
    pthread_mutex_lock(&c->lock); /* culprit */
    bool open = c->open;
#ifdef FIXED
    c->open = false;
    freed = c->buffer;
    c->buffer = NULL;
#endif
    pthread_mutex_unlock(&c->lock);
    if (!open)
        return;
#ifdef FIXED
    free(freed);
#else
    (void)freed;
    free(c->buffer);
    pthread_mutex_lock(&c->lock); /* culprit */
    c->open = false;
    pthread_mutex_unlock(&c->lock);
#endif
}

static void connection_receive(struct connection *c, const char *text)
{
    pthread_mutex_lock(&c->lock);
    if (c->open) {
        c->received += (int)strlen(text);
        snprintf(c->buffer, 256, "%s", text);
    }
    pthread_mutex_unlock(&c->lock);
}

static void *reader(void *argument)
{
    struct connection *c = argument;
    connection_receive(c, "hello");
    connection_receive(c, "world");
    connection_close(c);
    return NULL;
}

static void *manager(void *argument)
{
    struct connection **all = argument;
    for (int i = 0; i < 2; i++)
        connection_close(all[i]);
    return NULL;
}

int main(void)
{
    struct connection *all[2] = { connection_new(), connection_new() };
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, reader, all[0]);
    pthread_create(&threads[1], NULL, reader, all[1]);
    pthread_create(&threads[2], NULL, manager, all);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 2; i++) {
        printf("%d\n", all[i]->received);
        pthread_mutex_destroy(&all[i]->lock);
        free(all[i]);
    }
    return 0;
}
