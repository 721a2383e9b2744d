/* An object that is made when it is first asked for.
 *
 * Source: classic (double-checked locking).
 * Bug: the pointer is stored before the object is filled, and read without the lock.
 * Depth 2: (the pointer's store) before (its first check), and (the load of the value) before (its store).
 * Shows as: an assertion: the value is not there.
 * Race: on the pointer, and on the value.
 * FIXED: the object is filled first; the pointer is atomic, with release and acquire. */
#include "shared.h"

static struct object {
    int value;
} object;
#ifdef FIXED
static struct object *_Atomic instance;
#else
static struct object *instance;
#endif
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *get(void *unused)
{
    (void)unused;
    struct object *found = instance;
    if (!found) {
        pthread_mutex_lock(&lock);
        found = instance;
        if (!found) {
            found = &object;
#ifdef FIXED
            found->value = 42;
            instance = found;
#else
            instance = found;  /* culprit */
            found->value = 42; /* culprit */
#endif
        }
        pthread_mutex_unlock(&lock);
    }
    int value = found->value;
    assert(value == 42);
    return NULL;
}

int main(void)
{
    run_both(get, get);
    return 0;
}
