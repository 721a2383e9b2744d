/* An order violation: an object is used before it is created. For the measurements of bench/; run by hand or by pct.
 *
 * Source: the PCT paper, figures 1(a) and 6(a).
 * Bug: thread 1 creates the object t; thread 2 uses t without making sure that it is there. Thread 2 is usually late
 *   enough, because it has other work to do first.
 * Depth 1: one constraint suffices, (thread 2 reads t) before (thread 1 assigns t). PCT meets it whenever thread 1
 *   has the lowest priority, without any change point, and no more often: main has to start thread 2 before thread 1
 *   is through.
 * Shows as: a failed assertion in thread 2.
 * FIXED: thread 2 is started after thread 1 has been joined. */
#include "shared.h"

enum { STEPS = 8 };

struct object {
    int state;
};

static struct shared_pointer t = SHARED_POINTER(NULL);
static struct shared_int progress[2] = { SHARED_INT(0), SHARED_INT(0) };

static void *create(void *unused)
{
    (void)unused;
    static struct object object;
    for (int i = 0; i < STEPS; i++)
        shared_add(&progress[0], 1);
    object.state = 1;
    shared_store(&t, &object); /* culprit */
    return NULL;
}

static void *use(void *unused)
{
    (void)unused;
    for (int i = 0; i < STEPS; i++) {
        local_work(10);
        shared_add(&progress[1], 1);
    }
    struct object *object = shared_load(&t); /* culprit */
    assert(object != NULL && object->state == 1);
    return NULL;
}

int main(void)
{
    pthread_t thread1 = thread_start(create, NULL);
#ifdef FIXED
    thread_join(thread1);
#endif
    pthread_t thread2 = thread_start(use, NULL);
#ifndef FIXED
    thread_join(thread1);
#endif
    thread_join(thread2);
    return 0;
}
