/* An order violation behind an event: the event is set before what it announces is there. For the measurements of
 * bench/.
 *
 * Source: the PCT paper, figure 3.
 * Bug: thread 1 sets the event e and only then creates t; thread 2 waits for e and uses t.
 * Depth 1: (thread 2 reads t) before (thread 1 assigns t). That thread 2 can do so only between the two statements
 *   of thread 1 follows from the program and needs no constraint: with thread 1 at the lowest priority, thread 2
 *   runs as soon as it is set free. So the bug needs a preemption, but no change point.
 * Shows as: a failed assertion in thread 2.
 * FIXED: thread 1 creates t before it sets the event. */
#include "shared.h"
#include <semaphore.h>

struct object {
    int state;
};

static sem_t e;
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
    sem_post(&e);
#else
    sem_post(&e);
    create(); /* culprit */
#endif
    return NULL;
}

static void *thread2(void *unused)
{
    (void)unused;
    while (sem_wait(&e) != 0) {
    }
    for (int i = 0; i < 4; i++) {
        local_work(5);
        shared_add(&progress[1], 1);
    }
    struct object *object = shared_load(&t); /* culprit */
    assert(object != NULL && object->state == 1);
    return NULL;
}

int main(void)
{
    setup_check(sem_init(&e, 0, 0), "cannot make a semaphore");
    pthread_t first = thread_start(thread1, NULL);
    pthread_t second = thread_start(thread2, NULL);
    thread_join(first);
    thread_join(second);
    return 0;
}
