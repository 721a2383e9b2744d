/* Chat rooms in a table; the last who leaves a room closes it.
 *
 * Bug: who enters looks the room up under the table's lock, and counts himself under the room's, behind that.
 * Shows as: a use of a lock that is destroyed.
 * FIXED: it counts itself before it lets go of the table. */
#include <pthread.h>
#include <stdlib.h>

struct room {
    pthread_mutex_t lock;
    int people;
};

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static struct room *lobby;

static struct room *enter(void)
{
    pthread_mutex_lock(&table_lock); /* culprit */
    struct room *room = lobby;
    if (!room) {
        room = lobby = calloc(1, sizeof *room);
        pthread_mutex_init(&room->lock, NULL);
    }
#ifdef FIXED
    pthread_mutex_lock(&room->lock);
    pthread_mutex_unlock(&table_lock);
#else
    pthread_mutex_unlock(&table_lock);
    pthread_mutex_lock(&room->lock); /* culprit */
#endif
    room->people++;
    pthread_mutex_unlock(&room->lock);
    return room;
}

static void leave(struct room *room)
{
    pthread_mutex_lock(&table_lock); /* culprit */
    pthread_mutex_lock(&room->lock);
    int left = --room->people;
    pthread_mutex_unlock(&room->lock);
    if (left == 0) {
        lobby = NULL;
        pthread_mutex_destroy(&room->lock); /* culprit */
        free(room);
    }
    pthread_mutex_unlock(&table_lock);
}

static void *person(void *unused)
{
    leave(enter());
    return unused;
}

int main(void)
{
    pthread_t people[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&people[i], NULL, person, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(people[i], NULL);
    return 0;
}
