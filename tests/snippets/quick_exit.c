/* quick_exit: the handlers of at_quick_exit in reverse order, and no others; the status. Both symbol versions. */
/* ops: EXIT_NOW */
#define _GNU_SOURCE
#include "check.h"
#include "child.h"

/* As programs linked before glibc 2.24 refer to it. */
void old_quick_exit(int status);
__asm__(".symver old_quick_exit, quick_exit@GLIBC_2.10");

static char *log_;
static int logged;

static void handler_a(void)
{
    log_[logged++] = 'a';
}

static void handler_b(void)
{
    log_[logged++] = 'b';
}

static void wrong(void)
{
    if (log_)
        log_[logged++] = 'x';
}

static void leave(void *status)
{
    CHECK_EQ(atexit(wrong), 0);
    CHECK_EQ(at_quick_exit(handler_a), 0);
    CHECK_EQ(at_quick_exit(handler_b), 0);
    quick_exit(*(int *)status);
}

static void leave_old(void *status)
{
    CHECK_EQ(atexit(wrong), 0);
    CHECK_EQ(at_quick_exit(handler_a), 0);
    CHECK_EQ(at_quick_exit(handler_b), 0);
    old_quick_exit(*(int *)status);
}

static void *leave_from_thread(void *status)
{
    leave(status);
    return NULL;
}

static void leave_others(void *status)
{
    check_join(check_spawn(leave_from_thread, status));
}

int main(void)
{
    void (*const ways[])(void *) = { leave, leave_old, leave_others };
    log_ = child_shared(16);
    for (int i = 0; i < 3; i++) {
        int status = 7 + i;
        CHECK_EXITED(child_run(ways[i], &status), status);
        CHECK(strcmp(log_, "ba") == 0);
        memset(log_, 0, 16);
    }
    quick_exit(0);
}
