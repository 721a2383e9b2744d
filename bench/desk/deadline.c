/* Sessions with a deadline that a thread of their own looks after.
 *
 * Bug: session_close() takes the deadline off the list and frees the session; if the thread has taken it off just
 *   before, it is about to use the session.
 * Shows as: a failed assertion in session_expire(), or a crash.
 * FIXED: who closes waits until the thread is through with the deadline it has taken off. */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { SESSIONS = 2, LIVES = 0x5e55 };

struct session {
    int magic;
    pthread_mutex_t lock;
    bool expired;
    struct session *next;
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t idle;
    struct session *first, *firing;
} deadlines = { .lock = PTHREAD_MUTEX_INITIALIZER, .idle = PTHREAD_COND_INITIALIZER };

static struct session *session_open(void)
{
    struct session *s = calloc(1, sizeof *s);
    if (!s)
        exit(3);
    s->magic = LIVES;
    pthread_mutex_init(&s->lock, NULL);
    pthread_mutex_lock(&deadlines.lock);
    s->next = deadlines.first;
    deadlines.first = s;
    pthread_mutex_unlock(&deadlines.lock);
    return s;
}

static void session_expire(struct session *s)
{
    pthread_mutex_lock(&s->lock); /* culprit */
    assert(s->magic == LIVES);
    s->expired = true;
    pthread_mutex_unlock(&s->lock);
}

static void session_close(struct session *s)
{
    pthread_mutex_lock(&deadlines.lock); /* culprit */
    struct session **at = &deadlines.first;
    while (*at && *at != s)
        at = &(*at)->next;
    if (*at)
        *at = s->next;
#ifdef FIXED
    while (deadlines.firing == s)
        pthread_cond_wait(&deadlines.idle, &deadlines.lock);
#endif
    pthread_mutex_unlock(&deadlines.lock);
    s->magic = 0;
    pthread_mutex_destroy(&s->lock); /* culprit */
    free(s);                         /* culprit */
}

static void *expire_all(void *unused)
{
    (void)unused;
    for (int i = 0; i < SESSIONS; i++) {
        pthread_mutex_lock(&deadlines.lock); /* culprit */
        struct session *s = deadlines.first;
        if (s)
            deadlines.first = s->next;
        deadlines.firing = s;
        pthread_mutex_unlock(&deadlines.lock);
        if (s)
            session_expire(s);
        pthread_mutex_lock(&deadlines.lock);
        deadlines.firing = NULL;
        pthread_cond_broadcast(&deadlines.idle);
        pthread_mutex_unlock(&deadlines.lock);
    }
    return NULL;
}

static void *serve(void *unused)
{
    (void)unused;
    struct session *s = session_open();
    pthread_mutex_lock(&s->lock);
    int seen = s->expired;
    pthread_mutex_unlock(&s->lock);
    (void)seen;
    session_close(s);
    return NULL;
}

int main(void)
{
    pthread_t servers[SESSIONS], clock;
    for (int i = 0; i < SESSIONS; i++)
        if (pthread_create(&servers[i], NULL, serve, NULL))
            return 3;
    if (pthread_create(&clock, NULL, expire_all, NULL))
        return 3;
    for (int i = 0; i < SESSIONS; i++)
        pthread_join(servers[i], NULL);
    pthread_join(clock, NULL);
    printf("done\n");
    return 0;
}
