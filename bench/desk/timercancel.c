/* A timer wheel: its thread takes what is due off the wheel and calls it; who cancels takes it off, and then may free
 * what the call uses.
 *
 * Bug: cancel() does not wait for a call that is under way.
 * Shows as: a failed assertion: a call with a session that has been closed.
 * FIXED: it does. */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>

struct session {
    pthread_mutex_t lock;
    bool open;
    int ticks;
};

static struct session session = { PTHREAD_MUTEX_INITIALIZER, true, 0 };
static pthread_mutex_t wheel = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t idle = PTHREAD_COND_INITIALIZER;
static bool armed = true, calling;

static void tick(struct session *s)
{
    pthread_mutex_lock(&s->lock); /* culprit */
    assert(s->open);
    s->ticks++;
    pthread_mutex_unlock(&s->lock);
}

static void *turn(void *arg)
{
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&wheel); /* culprit */
        bool due = armed;
        calling = due;
        pthread_mutex_unlock(&wheel);
        if (due)
            tick(&session); /* culprit */
        pthread_mutex_lock(&wheel);
        calling = false;
        pthread_cond_signal(&idle);
        pthread_mutex_unlock(&wheel);
    }
    return arg;
}

static void cancel(void)
{
    pthread_mutex_lock(&wheel); /* culprit */
    armed = false;
#ifdef FIXED
    while (calling)
        pthread_cond_wait(&idle, &wheel);
#endif
    pthread_mutex_unlock(&wheel);
}

static void close_session(struct session *s)
{
    pthread_mutex_lock(&s->lock); /* culprit */
    s->open = false;
    pthread_mutex_unlock(&s->lock);
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, turn, NULL);
    cancel();
    close_session(&session);
    pthread_join(thread, NULL);
    return 0;
}
