/* pthread_join: passes the result on, comes after the thread's destructors, is a cancellation point. */
/* ops: THREAD_JOIN */
#define _GNU_SOURCE
#include "check.h"
#include <sched.h>
#include <semaphore.h>

static sem_t gate, other_gate;
static pthread_key_t key;
static int destroyed;

static void *give(void *value)
{
    return value;
}

static void *wait_gate(void *value)
{
    CHECK_EQ(sem_wait(&gate), 0);
    return value;
}

static void *wait_other_gate(void *unused)
{
    CHECK_EQ(sem_wait(&other_gate), 0);
    return unused;
}

static void late(void *value)
{
    (void)value;
    for (int i = 0; i < 5; i++)
        sched_yield();
    destroyed++;
}

static void *with_destructor(void *value)
{
    CHECK_EQ(pthread_setspecific(key, value), 0);
    return NULL;
}

static void *join_self(void *unused)
{
    (void)unused;
    CHECK_RESULT(pthread_join(pthread_self(), NULL), EDEADLK);
    return NULL;
}

static void *join_other(void *thread)
{
    CHECK_OK(pthread_join(*(pthread_t *)thread, NULL));
    return NULL;
}

static int cleaned;

static void clean(void *unused)
{
    (void)unused;
    cleaned++;
}

static void *join_until_cancelled(void *thread)
{
    pthread_cleanup_push(clean, NULL);
    pthread_join(*(pthread_t *)thread, NULL);
    check_failed(__FILE__, __LINE__, "the join is cancelled", 0);
    pthread_cleanup_pop(0);
    return NULL;
}

static pthread_t main_thread;

static void *join_main(void *unused)
{
    pthread_join(main_thread, NULL);
    check_failed(__FILE__, __LINE__, "the join is cancelled", 0);
    return unused;
}

int main(void)
{
    int a = 0;
    void *result;
    CHECK_EQ(sem_init(&gate, 0, 0), 0);

    pthread_t thread = check_spawn(give, &a);
    CHECK_OK(pthread_join(thread, &result));
    CHECK(result == &a);
    thread = check_spawn(give, NULL);
    CHECK_OK(pthread_join(thread, NULL));

    /* The thread that joins comes first, or the thread that ends does: both are right. */
    thread = check_spawn(wait_gate, &a);
    pthread_t joiner = check_spawn(join_other, &thread);
    CHECK_EQ(sem_post(&gate), 0);
    check_join(joiner);

    CHECK_RESULT(pthread_join(pthread_self(), NULL), EDEADLK);
    check_join(check_spawn(join_self, NULL));

    /* A detached thread cannot be joined; it still exists, because it waits. */
    CHECK_EQ(sem_init(&other_gate, 0, 0), 0);
    thread = check_spawn(wait_other_gate, NULL);
    CHECK_EQ(pthread_detach(thread), 0);
    CHECK_RESULT(pthread_join(thread, NULL), EINVAL);
    CHECK_EQ(sem_post(&other_gate), 0);

    CHECK_EQ(pthread_key_create(&key, late), 0);
    for (int i = 1; i <= 3; i++) {
        CHECK_OK(pthread_join(check_spawn(with_destructor, &a), NULL));
        CHECK_EQ(destroyed, i);
    }

    /* A circle of two is refused, but not when the other one has been cancelled. */
    main_thread = pthread_self();
    thread = check_spawn(join_main, NULL);
    CHECK_EQ(pthread_cancel(thread), 0);
    CHECK_OK(pthread_join(thread, &result));
    CHECK(result == PTHREAD_CANCELED);

    /* A cancelled join leaves the other thread joinable. */
    thread = check_spawn(wait_gate, &a);
    joiner = check_spawn(join_until_cancelled, &thread);
    CHECK_EQ(pthread_cancel(joiner), 0);
    CHECK_OK(pthread_join(joiner, &result));
    CHECK(result == PTHREAD_CANCELED);
    CHECK_EQ(cleaned, 1);
    CHECK_EQ(sem_post(&gate), 0);
    CHECK_OK(pthread_join(thread, &result));
    CHECK(result == &a);
    return 0;
}
