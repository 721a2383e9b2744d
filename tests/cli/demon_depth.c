/* A counter that sells tickets. The visitor finds it closed, unless others open it meanwhile; TICKETS: that there are.
 * Corrected, it is locked from the question for one to the taking. */
#include <assert.h>
#include <pthread.h>
#ifndef TICKETS
#define TICKETS 1
#endif

struct counter {
    int open, tickets;
    pthread_mutex_t lock;
};

static void look(struct counter *c)
{
    (void)c;
}

static void take(struct counter *c)
{
    assert(c->tickets > 0);
    c->tickets--;
}

/* Others. */
__attribute__((used)) static void open_counter(struct counter *c)
{
    pthread_mutex_lock(&c->lock);
    c->open = 1;
    pthread_mutex_unlock(&c->lock);
}

__attribute__((used)) static void sell(struct counter *c)
{
    pthread_mutex_lock(&c->lock);
    if (c->tickets > 0)
        c->tickets--;
    pthread_mutex_unlock(&c->lock);
}

static void visit(struct counter *c)
{
    look(c);
    if (!c->open)
        return;
    pthread_mutex_lock(&c->lock);
#ifdef FIXED
    int some = c->tickets > 0;
#else
    int some = 1;
    pthread_mutex_unlock(&c->lock);
#endif
    if (some)
        take(c);
#ifdef FIXED
    pthread_mutex_unlock(&c->lock);
#endif
}

int main(void)
{
    static struct counter c = { 0, TICKETS, PTHREAD_MUTEX_INITIALIZER };
    visit(&c);
    return 0;
}
