/* Handles: numbers of slots, which clients keep.
 *
 * Bug: a slot that is closed is given to the next who opens; who still has the old number uses the new one's.
 * Shows as: a failed assertion: a client reads what belongs to another one.
 * FIXED: a handle has the generation of its slot too. */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>

enum { SLOTS = 3 };

struct slot {
    bool used;
    int owner, generation;
};

struct handle {
    int slot, generation;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct slot slots[SLOTS];
static struct handle shared;

static struct handle slot_open(int owner)
{
    struct handle handle = { .slot = -1 };
    pthread_mutex_lock(&lock); /* culprit */
    for (int i = 0; i < SLOTS; i++)
        if (!slots[i].used) {
            slots[i].used = true;
            slots[i].owner = owner;
            handle = (struct handle){ i, ++slots[i].generation };
            break;
        }
    pthread_mutex_unlock(&lock);
    return handle;
}

static void slot_close(struct handle handle)
{
    pthread_mutex_lock(&lock); /* culprit */
    if (slots[handle.slot].generation == handle.generation)
        slots[handle.slot].used = false;
    pthread_mutex_unlock(&lock);
}

static int slot_owner(struct handle handle)
{
    pthread_mutex_lock(&lock); /* culprit */
    struct slot *slot = &slots[handle.slot];
    bool same = slot->used;
#ifdef FIXED
    same = same && slot->generation == handle.generation;
#endif
    int owner = same ? slot->owner : -1;
    pthread_mutex_unlock(&lock);
    return owner;
}

static void *user(void *unused)
{
    (void)unused;
    for (int i = 0; i < 2; i++) {
        int owner = slot_owner(shared);
        assert(owner == 1 || owner == -1);
    }
    return NULL;
}

static void *closer(void *unused)
{
    (void)unused;
    slot_close(shared);
    return NULL;
}

static void *opener(void *unused)
{
    (void)unused;
    struct handle handle = slot_open(2);
    assert(slot_owner(handle) == 2);
    slot_close(handle);
    return NULL;
}

int main(void)
{
    pthread_t threads[3];
    shared = slot_open(1);
    pthread_create(&threads[0], NULL, user, NULL);
    pthread_create(&threads[1], NULL, closer, NULL);
    pthread_create(&threads[2], NULL, opener, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
