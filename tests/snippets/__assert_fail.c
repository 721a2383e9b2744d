/* __assert_fail: says what failed and where, on standard error; then SIGABRT. */
#define _GNU_SOURCE
#undef NDEBUG
#include "check.h"
#include "child.h"
#include <assert.h>
#include <signal.h>

static int pipe_ends[2];

static void fail(void *value)
{
    CHECK_EQ(dup2(pipe_ends[1], STDERR_FILENO), STDERR_FILENO);
    assert(*(int *)value == 41 + 1);
}

static void *fail_in_thread(void *value)
{
    fail(value);
    return NULL;
}

static void in_thread(void *value)
{
    check_join(check_spawn(fail_in_thread, value));
}

static void on_abort(int number)
{
    _exit(number + 50);
}

static void fail_handled(void *value)
{
    CHECK(signal(SIGABRT, on_abort) != SIG_ERR);
    fail(value);
}

static void expect_message(void)
{
    char text[4096] = "";
    CHECK(read(pipe_ends[0], text, sizeof(text) - 1) > 0);
    CHECK(strstr(text, "__assert_fail.c:") != NULL);
    CHECK(strstr(text, "Assertion `*(int *)value == 41 + 1' failed.") != NULL);
}

int main(void)
{
    int right = 42, wrong = 43;
    CHECK_EQ(pipe(pipe_ends), 0);
    CHECK_EXITED(child_run(fail, &right), 99);
    CHECK_SIGNALED(child_run(fail, &wrong), SIGABRT);
    expect_message();
    CHECK_SIGNALED(child_run(in_thread, &wrong), SIGABRT);
    expect_message();
    CHECK_EXITED(child_run(fail_handled, &wrong), SIGABRT + 50);
    expect_message();
    return 0;
}
