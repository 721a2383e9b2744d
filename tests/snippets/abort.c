/* abort: SIGABRT, also if it is blocked, ignored or handled; a handler may only jump out. */
#define _GNU_SOURCE
#include "check.h"
#include "child.h"
#include <setjmp.h>
#include <signal.h>

static char *marks;
static sigjmp_buf back;

static void handler(int number)
{
    (void)number;
    marks[0]++;
}

static void jump(int number)
{
    siglongjmp(back, number);
}

static void at_exit(void)
{
    marks[1]++;
}

static void plainly(void *unused)
{
    (void)unused;
    CHECK_EQ(atexit(at_exit), 0);
    abort();
}

static void blocked(void *unused)
{
    sigset_t set;
    sigfillset(&set);
    CHECK_EQ(pthread_sigmask(SIG_BLOCK, &set, NULL), 0);
    plainly(unused);
}

static void ignored(void *unused)
{
    CHECK(signal(SIGABRT, SIG_IGN) != SIG_ERR);
    plainly(unused);
}

static void handled(void *unused)
{
    CHECK(signal(SIGABRT, handler) != SIG_ERR);
    plainly(unused);
}

static void *abort_in_thread(void *unused)
{
    plainly(unused);
    return NULL;
}

static void in_thread(void *unused)
{
    check_join(check_spawn(abort_in_thread, unused));
}

static void jumped(void *unused)
{
    (void)unused;
    CHECK(signal(SIGABRT, jump) != SIG_ERR);
    int number = sigsetjmp(back, 1);
    if (number == 0)
        abort();
    _exit(number);
}

int main(void)
{
    void (*const ways[])(void *) = { plainly, blocked, ignored, handled, in_thread };
    marks = child_shared(2);
    for (int i = 0; i < 5; i++)
        CHECK_SIGNALED(child_run(ways[i], NULL), SIGABRT);
    CHECK_EQ(marks[0], 1);
    CHECK_EQ(marks[1], 0);
    CHECK_EXITED(child_run(jumped, NULL), SIGABRT);
    return 0;
}
