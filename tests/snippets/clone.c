/* clone: a child, and a thread, are made as without pct, which counts them. */
/* outside: its children */
#define _GNU_SOURCE
#include "check.h"
#include "child.h"
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>

static char stack[65536] __attribute__((aligned(64)));
static volatile int stored;
static volatile pid_t tid;

static int store(void *value)
{
    stored = *(int *)value;
    return 7;
}

int main(void)
{
    int value = 3;
    CHECK_EXITED(child_wait(clone(store, stack + sizeof stack, SIGCHLD, &value)), 7);
    CHECK_EQ(stored, 0);
    CHECK_EXITED(child_wait(clone(store, stack + sizeof stack, CLONE_VM | SIGCHLD, &value)), 7);
    CHECK_EQ(stored, 3);
    pid_t parent = 0;
    value = 4;
    CHECK(clone(store, stack + sizeof stack, CLONE_VM | CLONE_PARENT_SETTID | SIGCHLD, &value, &parent) == parent);
    CHECK_EXITED(child_wait(parent), 7);
    CHECK_EQ(stored, 4);
    pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (!pid)
        _exit(5);
    CHECK_EXITED(child_wait(pid), 5);
    tid = 1;
    int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
    value = 5;
    CHECK(clone(store, stack + sizeof stack, flags | CLONE_CHILD_CLEARTID, &value, NULL, NULL, &tid) > 0);
    while (tid)
        sched_yield();
    CHECK_EQ(stored, 5);
    return 0;
}
