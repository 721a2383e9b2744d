/* call_once: the function runs once, and to its end before anybody returns. */
/* ops: ONCE ONCE_DONE */
#define _GNU_SOURCE
#include "check.h"
#include <threads.h>

enum { THREADS = 6 };

static once_flag flag = ONCE_FLAG_INIT, inner = ONCE_FLAG_INIT;
static int runs, inner_runs;
static bool complete;

static void run_inner(void)
{
    inner_runs++;
}

static void run(void)
{
    runs++;
    for (int i = 0; i < 3; i++)
        thrd_yield();
    call_once(&inner, run_inner);
    complete = true;
}

static int call(void *unused)
{
    (void)unused;
    errno = CHECK_ERRNO;
    call_once(&flag, run);
    CHECK_EQ(errno, CHECK_ERRNO);
    CHECK(complete);
    return 0;
}

int main(void)
{
    thrd_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        CHECK_EQ(thrd_create(&threads[i], call, NULL), thrd_success);
    call(NULL);
    for (int i = 0; i < THREADS; i++)
        CHECK_EQ(thrd_join(threads[i], NULL), thrd_success);
    CHECK_EQ(runs, 1);
    CHECK_EQ(inner_runs, 1);
    return 0;
}
