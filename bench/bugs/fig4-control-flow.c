/* An order violation that control flow makes deeper: a flag is set before what it announces is there. For the
 * measurements of bench/.
 *
 * Source: the PCT paper, figure 4 and section 2.3.2.
 * Bug: thread 1 sets init and then creates t; thread 2 uses t if init is set.
 * Depth 2: (thread 1 sets init) before (thread 2 tests init), and (thread 2 reads t) before (thread 1 assigns t).
 *   Without the first constraint thread 2 skips the use. This is the program for which the paper calls its bound
 *   tight: PCT needs thread 2 below thread 1 and its change point between two neighbouring statements of thread 1.
 * Shows as: a failed assertion in thread 2.
 * FIXED: thread 1 creates t before it sets init. */
#include "shared.h"

struct object {
    int state;
};

static struct shared_int init = SHARED_INT(0);
static struct shared_pointer t = SHARED_POINTER(NULL);
static struct shared_int progress[2] = { SHARED_INT(0), SHARED_INT(0) };

static void create(void)
{
    static struct object object;
    object.state = 1;
    shared_store(&t, &object);
}

static void *thread1(void *unused)
{
    (void)unused;
    for (int i = 0; i < 4; i++)
        shared_add(&progress[0], 1);
#ifdef FIXED
    create();
    shared_write(&init, 1);
#else
    shared_write(&init, 1); /* culprit */
    create();               /* culprit */
#endif
    return NULL;
}

static void *thread2(void *unused)
{
    (void)unused;
    for (int i = 0; i < 4; i++)
        shared_add(&progress[1], 1);
    if (shared_read(&init)) {
        struct object *object = shared_load(&t); /* culprit */
        assert(object != NULL && object->state == 1);
    }
    return NULL;
}

int main(void)
{
    pthread_t first = thread_start(thread1, NULL);
    pthread_t second = thread_start(thread2, NULL);
    thread_join(first);
    thread_join(second);
    return 0;
}
