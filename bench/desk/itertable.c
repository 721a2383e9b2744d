// A table of sessions: a thread that cleans up goes through it, and lets others in while it tells each that it is idle.
//
// Bug: the next session is remembered while the table is not locked: it may be removed and freed meanwhile.
// Shows as: a failed assertion: a session that is visited has been closed.
// FIXED: the next one is looked up behind the lock.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

enum { OPEN = 0x4f50454e, CLOSED = 0x434c4f53 };

struct session {
    struct session *next;
    int id, state, idle;
};

static struct {
    pthread_mutex_t lock;
    struct session *first;
    int notices;
} table = { .lock = PTHREAD_MUTEX_INITIALIZER };

static struct session *graveyard; // so that memory stays readable
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;

static void table_add(int id)
{
    struct session *s = calloc(1, sizeof *s);
    s->id = id;
    s->state = OPEN;
    pthread_mutex_lock(&table.lock);
    s->next = table.first;
    table.first = s;
    pthread_mutex_unlock(&table.lock);
}

static void table_remove(int id)
{
    pthread_mutex_lock(&table.lock); // culprit
    for (struct session **at = &table.first; *at; at = &(*at)->next)
        if ((*at)->id == id) {
            struct session *s = *at;
            *at = s->next;
            s->state = CLOSED;
            s->next = graveyard;
            graveyard = s;
            break;
        }
    pthread_mutex_unlock(&table.lock);
}

static void notify(int id)
{
    pthread_mutex_lock(&log_lock);
    table.notices += id;
    pthread_mutex_unlock(&log_lock);
}

static struct session *after(int id)
{
    struct session *s = table.first;
    while (s && s->id >= id)
        s = s->next;
    return s;
}

static void *clean(void *argument)
{
    (void)argument;
    pthread_mutex_lock(&table.lock); // culprit
    struct session *s = table.first;
    while (s) {
        assert(s->state == OPEN);
        s->idle++;
        int id = s->id;
        struct session *next = s->next;
        pthread_mutex_unlock(&table.lock);
        notify(id);
        pthread_mutex_lock(&table.lock); // culprit
#ifdef FIXED
        next = after(id);
#else
        (void)after;
#endif
        s = next;
    }
    pthread_mutex_unlock(&table.lock);
    return NULL;
}

static void *client(void *argument)
{
    (void)argument;
    table_add(4);
    table_remove(2);
    return NULL;
}

int main(void)
{
    pthread_t cleaner, user;
    for (int id = 1; id < 4; id++)
        table_add(id);
    pthread_create(&cleaner, NULL, clean, NULL);
    pthread_create(&user, NULL, client, NULL);
    pthread_join(cleaner, NULL);
    pthread_join(user, NULL);
    return 0;
}
