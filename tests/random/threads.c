/* Events of threads that end in other ways: C11's, and those that let themselves be cancelled anywhere. */
#include "random.h"

static int end_by_c11(void *argument)
{
    struct event *event = argument;
    uint64_t place = event->seed;
    doze(&place);
    wake_thing(event->thing[0], &place);
    CHECK_OK(sem_post(&event->sem)); /* now the thing may go */
    thrd_exit(42);
}

static void run_c11(struct event *event, unsigned role, uint64_t *place)
{
    (void)role;
    CHECK_OK(sem_init(&event->sem, 0, 0));
    for (unsigned i = 0; i < event->rounds; i++) {
        bool detached = draw(place, 2);
        int result;
        thrd_t thread;
        CHECK_EQ(thrd_create(&thread, end_by_c11, event), thrd_success);
        if (detached)
            CHECK_EQ(thrd_detach(thread), thrd_success);
        CHECK(wait_thing(event->thing[0], FOREVER, place));
        CHECK_OK(RESTARTED(sem_wait(&event->sem)));
        if (detached)
            continue;
        CHECK_EQ(thrd_join(thread, &result), thrd_success);
        CHECK_EQ(result, 42);
    }
}

static void clean(void *count)
{
    atomic_fetch_add((atomic_uint *)count, 1);
}

/* What was asked for before acts when the type is set. */
static void *be_cancelled_anywhere(void *argument)
{
    struct event *event = argument;
    int old;
    CHECK_OK(sem_post(&event->sem));
    pthread_cleanup_push(clean, &event->left);
    for (;;) {
        CHECK_OK(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old));
        CHECK_OK(pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &old));
        CHECK_EQ(old, PTHREAD_CANCEL_ASYNCHRONOUS);
        sched_yield();
    }
    pthread_cleanup_pop(0);
    return NULL;
}

static void run_anywhere(struct event *event, unsigned role, uint64_t *place)
{
    (void)role;
    CHECK_OK(sem_init(&event->sem, 0, 0));
    for (unsigned i = 0; i < event->rounds; i++) {
        pthread_t thread = start_thread(be_cancelled_anywhere, event);
        void *value;
        doze(place);
        CHECK_OK(RESTARTED(sem_wait(&event->sem)));
        CHECK_OK(pthread_cancel(thread));
        CHECK_OK(pthread_join(thread, &value));
        CHECK(value == PTHREAD_CANCELED);
        CHECK_EQ(atomic_load(&event->left), i + 1);
    }
    CHECK_OK(sem_destroy(&event->sem));
}

const struct pattern thread_patterns[] = {
    { "C11 threads", 1, 1, 1, 0, ONCE, 0, 0, 0, NULL, run_c11, NULL },
    { "cancelled anywhere", 1, 1, 0, 0, 0, 0, 0, 0, NULL, run_anywhere, NULL },
    { NULL, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL },
};
