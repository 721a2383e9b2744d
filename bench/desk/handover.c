/* Messages with a count of references, handed to threads.
 *
 * Bug: the thread that is handed a message takes its reference itself, when it gets there; who hands it over may have
 *   given up the last one by then.
 * Shows as: a crash, a failed assertion or a deadlock, on a message that is gone.
 * FIXED: who hands it over takes the reference for the other one. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct message {
    pthread_mutex_t lock;
    int references;
    char text[200];
};

static pthread_mutex_t out = PTHREAD_MUTEX_INITIALIZER;
static size_t printed;

static struct message *message_new(const char *text)
{
    struct message *m = malloc(sizeof *m);
    pthread_mutex_init(&m->lock, NULL);
    m->references = 1;
    snprintf(m->text, sizeof m->text, "%s", text);
    return m;
}

static void message_get(struct message *m)
{
    pthread_mutex_lock(&m->lock); /* culprit */
    assert(m->references > 0);
    m->references++;
    pthread_mutex_unlock(&m->lock);
}

static void message_put(struct message *m)
{
    pthread_mutex_lock(&m->lock); /* culprit */
    int left = --m->references;
    pthread_mutex_unlock(&m->lock);
    if (left)
        return;
    pthread_mutex_destroy(&m->lock); /* culprit */
    memset(m->text, 0, sizeof m->text);
    free(m);
}

static void *deliver(void *argument)
{
    struct message *m = argument;
#ifndef FIXED
    message_get(m); /* culprit */
#endif
    pthread_mutex_lock(&out);
    printed += strlen(m->text);
    pthread_mutex_unlock(&out);
    message_put(m);
    return NULL;
}

static void hand_over(struct message *m, pthread_t *thread)
{
#ifdef FIXED
    message_get(m);
#endif
    pthread_create(thread, NULL, deliver, m);
}

int main(void)
{
    pthread_t threads[3];
    struct message *m = message_new("hello"), *n = message_new("to one");
    hand_over(m, &threads[0]);
    hand_over(m, &threads[1]);
    hand_over(n, &threads[2]);
    pthread_mutex_lock(&out);
    printed += 1;
    pthread_mutex_unlock(&out);
    message_put(m); /* culprit */
    message_put(n); /* culprit */
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return printed == 0;
}
