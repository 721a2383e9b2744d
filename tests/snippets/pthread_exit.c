/* pthread_exit: cleanup handlers, then destructors of thread-specific data, which may use locks; then the result. */
/* ops: THREAD_EXIT MUTEX_LOCK MUTEX_UNLOCK */
#define _GNU_SOURCE
#include "check.h"
#include "child.h"
#include <limits.h>
#include <semaphore.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_key_t key, rearmed;
static int order;
static int destructions;
static int rearmings;

static void clean(void *position)
{
    /* Last in, first out, and before any destructor. */
    CHECK_EQ(order, *(int *)position);
    order++;
}

static void destroy(void *value)
{
    CHECK(value == &order);
    CHECK_OK(pthread_mutex_lock(&lock));
    destructions++;
    CHECK_OK(pthread_cond_broadcast(&changed));
    CHECK_OK(pthread_mutex_unlock(&lock));
}

/* Stores itself again each time, so it runs in every round that there is. */
static void rearm(void *value)
{
    CHECK_OK(pthread_mutex_lock(&lock));
    rearmings++;
    CHECK_OK(pthread_mutex_unlock(&lock));
    CHECK_EQ(pthread_setspecific(rearmed, value), 0);
}

/* From the frame of a callee, with handlers pushed by its caller. */
__attribute__((noinline)) static void leave(void *result)
{
    pthread_exit(result);
}

static void *exit_deep(void *result)
{
    static int first = 0, second = 1;
    order = 0;
    pthread_cleanup_push(clean, &second);
    pthread_cleanup_push(clean, &first);
    leave(result);
    pthread_cleanup_pop(0);
    pthread_cleanup_pop(0);
    return NULL;
}

static void *with_data(void *result)
{
    CHECK_EQ(pthread_setspecific(key, &order), 0);
    pthread_exit(result);
}

static void *with_rearming(void *result)
{
    CHECK_EQ(pthread_setspecific(rearmed, result), 0);
    pthread_exit(result);
}

static void *end_process(void *main_thread)
{
    CHECK_EQ(pthread_join(*(pthread_t *)main_thread, NULL), 0);
    exit(7);
}

/* The main thread ends, another one goes on, and can even join it. */
static void main_first(void *unused)
{
    static pthread_t self;
    (void)unused;
    self = pthread_self();
    check_spawn(end_process, &self);
    pthread_exit(NULL);
}

static void *give(void *value)
{
    return value;
}

/* The process ends with status 0 when its last thread ends. */
static void all_end(void *unused)
{
    check_spawn(give, unused);
    check_spawn(give, unused);
    pthread_exit((void *)5);
}

static void kill_process(void)
{
    kill(getpid(), SIGUSR1);
}

static void *end_last(void *main_thread)
{
    CHECK_EQ(pthread_join(*(pthread_t *)main_thread, NULL), 0);
    return NULL;
}

/* What runs when it ends so is open to signals. GLIBC: since 2.43 it is not, and join does not wait for the kernel's
 * end of the main thread, which takes the signal if it is still there. */
static void all_end_killed(void *unused)
{
    static pthread_t self;
    (void)unused;
    self = pthread_self();
    CHECK_EQ(atexit(kill_process), 0);
    check_spawn(end_last, &self);
    pthread_exit(NULL);
}

/* GLIBC: since 2.43 it is not where the main thread is the last. */
static void main_last_killed(void *unused)
{
    CHECK_EQ(atexit(kill_process), 0);
    check_join(check_spawn(give, unused));
    pthread_exit(NULL);
}

int main(void)
{
    CHECK(check_join(check_spawn(exit_deep, &lock)) == &lock);
    CHECK_EQ(order, 2);
    CHECK(check_join(check_spawn(exit_deep, NULL)) == NULL);

    CHECK_EQ(pthread_key_create(&key, destroy), 0);
    CHECK_EQ(pthread_key_create(&rearmed, rearm), 0);
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        threads[i] = check_spawn(with_data, &threads[i]);
    /* Threads can be waited for by what their destructors do. */
    CHECK_OK(pthread_mutex_lock(&lock));
    while (destructions < 4)
        CHECK_OK(pthread_cond_wait(&changed, &lock));
    CHECK_OK(pthread_mutex_unlock(&lock));
    for (int i = 0; i < 4; i++)
        CHECK(check_join(threads[i]) == &threads[i]);

    CHECK(check_join(check_spawn(with_rearming, &lock)) == &lock);
    CHECK_EQ(rearmings, PTHREAD_DESTRUCTOR_ITERATIONS);

    CHECK_EXITED(child_run(main_first, NULL), 7);
    CHECK_EXITED(child_run(all_end, NULL), 0);
    int status = child_run(all_end_killed, NULL);
    if (check_libc_minor() < 43 || !WIFEXITED(status))
        CHECK_SIGNALED(status, SIGUSR1);
    else
        CHECK_EXITED(status, 0);
    if (check_libc_minor() < 43)
        CHECK_SIGNALED(child_run(main_last_killed, NULL), SIGUSR1);
    else
        CHECK_EXITED(child_run(main_last_killed, NULL), 0);
    return 0;
}
