/* pthread_once: the routine runs once and to its end before anybody returns; if it is cancelled, it has not run. */
/* ops: ONCE ONCE_DONE */
#define _GNU_SOURCE
#include "check.h"
#include <sched.h>
#include <semaphore.h>

enum { THREADS = 6 };

static pthread_once_t control = PTHREAD_ONCE_INIT, inner = PTHREAD_ONCE_INIT, cancelled = PTHREAD_ONCE_INIT,
                      left = PTHREAD_ONCE_INIT;
static int runs, inner_runs, attempts, exits;
static bool complete;
static sem_t running, never;

static void run_inner(void)
{
    inner_runs++;
}

static void run(void)
{
    runs++;
    for (int i = 0; i < 3; i++)
        sched_yield();
    CHECK_OK(pthread_once(&inner, run_inner));
    complete = true;
}

static void *call(void *unused)
{
    (void)unused;
    CHECK_OK(pthread_once(&control, run));
    CHECK(complete);
    CHECK_OK(pthread_once(&inner, run_inner));
    CHECK_EQ(inner_runs, 1);
    return NULL;
}

static void block_the_first_time(void)
{
    if (attempts++ == 0) {
        CHECK_EQ(sem_post(&running), 0);
        sem_wait(&never);
        check_failed(__FILE__, __LINE__, "the routine is cancelled", 0);
    }
}

static void *call_cancelled(void *unused)
{
    CHECK_EQ(pthread_once(&cancelled, block_the_first_time), 0);
    return unused;
}

static void leave_the_first_time(void)
{
    if (exits++ == 0)
        pthread_exit(&exits);
}

static void *call_left(void *unused)
{
    CHECK_EQ(pthread_once(&left, leave_the_first_time), 0);
    return unused;
}

int main(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        threads[i] = check_spawn(call, NULL);
    for (int i = 0; i < THREADS; i++)
        check_join(threads[i]);
    CHECK_EQ(runs, 1);
    call(NULL);
    CHECK_EQ(runs, 1);

    /* The second caller may already wait when the first is cancelled: it then runs the routine itself. */
    CHECK_EQ(sem_init(&running, 0, 0), 0);
    CHECK_EQ(sem_init(&never, 0, 0), 0);
    pthread_t first = check_spawn(call_cancelled, NULL);
    CHECK_EQ(sem_wait(&running), 0);
    pthread_t second = check_spawn(call_cancelled, &runs);
    CHECK_EQ(pthread_cancel(first), 0);
    CHECK(check_join(first) == PTHREAD_CANCELED);
    CHECK(check_join(second) == &runs);
    CHECK_EQ(attempts, 2);

    CHECK(check_join(check_spawn(call_left, NULL)) == &exits);
    CHECK(check_join(check_spawn(call_left, &runs)) == &runs);
    CHECK(check_join(check_spawn(call_left, &runs)) == &runs);
    CHECK_EQ(exits, 2);
    return 0;
}
