/* Double-checked initialisation: the pointer is published before the object is ready. For the measurements of
 * bench/.
 *
 * Source: classic (Bacon and others, "The 'double-checked locking is broken' declaration", 2000). There the compiler
 *   or the processor reorders the two writes; here they stand in that order, so that the bug does not depend on
 *   either.
 * Bug: the first caller makes the instance under a lock, but stores the pointer before it fills the fields. A second
 *   caller that finds the pointer set in its first test, which is made without the lock, uses fields that are not
 *   filled.
 * Depth 2: (caller 1 stores the pointer) before (caller 2 tests it), and (caller 2 uses a field) before (caller 1
 *   fills it). PCT needs caller 2 below caller 1 and its change point between caller 1's two writes. Or the two
 *   exchanged.
 * Shows as: a failed assertion in the caller that came second.
 * FIXED: the fields are filled before the pointer is stored. */
#include "shared.h"

struct instance {
    struct shared_int value;
};

static struct instance storage = { SHARED_INT(0) };
static struct shared_pointer instance = SHARED_POINTER(NULL);
static pthread_mutex_t creation = PTHREAD_MUTEX_INITIALIZER;

static struct instance *get_instance(void)
{
    struct instance *found = shared_load(&instance); /* culprit */
    if (found != NULL)
        return found;
    pthread_mutex_lock(&creation);
    found = shared_load(&instance);
    if (found == NULL) {
        found = &storage;
#ifdef FIXED
        shared_write(&found->value, 42);
        shared_store(&instance, found);
#else
        shared_store(&instance, found); /* culprit */
        shared_write(&found->value, 42);
#endif
    }
    pthread_mutex_unlock(&creation);
    return found;
}

static void *caller(void *unused)
{
    (void)unused;
    struct instance *mine = get_instance();
    int value = shared_read(&mine->value);
    assert(value == 42);
    return NULL;
}

int main(void)
{
    pthread_t caller1 = thread_start(caller, NULL);
    pthread_t caller2 = thread_start(caller, NULL);
    thread_join(caller1);
    thread_join(caller2);
    return 0;
}
