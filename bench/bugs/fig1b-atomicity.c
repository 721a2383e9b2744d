/* An atomicity violation: a pointer is tested, and has changed when it is used. For the measurements of bench/.
 *
 * Source: the PCT paper, figures 1(b) and 6(b).
 * Bug: thread 2 tests x and then calls a method of x; thread 1 sets x to null. The test and the call are meant to be
 *   one step, but nothing keeps thread 1 out between them.
 * Depth 2: (thread 2 tests x) before (thread 1 sets x to null), and that before (thread 2 loads x again). With the
 *   first constraint alone, thread 2 may be through with x; with the second alone, the test may already see null.
 *   PCT needs thread 1 below thread 2 and its change point between the test and the call.
 * Shows as: a crash (SIGSEGV, null pointer).
 * FIXED: a mutex makes the test and the call one step, and thread 1 takes it too. */
#include "shared.h"

struct printer {
    void (*print)(struct printer *self);
    int printed;
};

static void print(struct printer *self)
{
    self->printed++;
}

static struct printer printer = { print, 0 };
static struct shared_pointer x = SHARED_POINTER(&printer);
static struct shared_int progress[2] = { SHARED_INT(0), SHARED_INT(0) };

#ifdef FIXED
static pthread_mutex_t x_lock = PTHREAD_MUTEX_INITIALIZER;
#endif

static void lock_x(void)
{
#ifdef FIXED
    pthread_mutex_lock(&x_lock);
#endif
}

static void unlock_x(void)
{
#ifdef FIXED
    pthread_mutex_unlock(&x_lock);
#endif
}

static void *clear(void *unused)
{
    (void)unused;
    for (int i = 0; i < 4; i++)
        shared_add(&progress[0], 1);
    lock_x();
    shared_store(&x, NULL); /* culprit */
    unlock_x();
    return NULL;
}

static void *use(void *unused)
{
    (void)unused;
    for (int i = 0; i < 4; i++)
        shared_add(&progress[1], 1);
    lock_x();
    if (shared_load(&x) != NULL) {              /* culprit */
        struct printer *self = shared_load(&x); /* culprit */
        self->print(self);
    }
    unlock_x();
    return NULL;
}

int main(void)
{
    pthread_t thread1 = thread_start(clear, NULL);
    pthread_t thread2 = thread_start(use, NULL);
    thread_join(thread1);
    thread_join(thread2);
    return 0;
}
