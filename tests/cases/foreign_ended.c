// Threads and processes that pct does not make, and that have ended before anybody looks: "n = 1 thread, which has one
// schedule: nothing was missed" was said of these programs, though another thread had run beside it.
//
// Arguments: by "clone", "child" (shares the memory), "syscall", "inline"; none: nobody.
//
// RUN: pct run -s 1 -n 20 --state none -- %p > %t/out 2>&1;
//     grep -x 'pct: n = 1 thread, which has one schedule: nothing was missed' %t/out
// RUN: pct run -s 1 -n 20 --state none -- %p clone > %t/out 2>&1;
//     grep 'no guarantee.*not all was controlled.*threads that pct did not see' %t/out
// RUN: pct run -s 1 -n 20 --state none -- %p child > %t/out 2>&1;
//     grep '^  20 child processes' %t/out && grep 'no guarantee.*not all was controlled' %t/out
// RUN: pct run -s 1 -n 20 --state none -- %p syscall > %t/out 2>&1;
//     grep '^  20 child processes' %t/out && grep 'no guarantee.*not all was controlled' %t/out
// RUN: pct run -s 1 -n 20 --state none -- %p inline > %t/out 2>&1;
//     grep 'no guarantee.*not all was controlled.*threads that pct did not see' %t/out
#define _GNU_SOURCE
#include <assert.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    THREAD = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_CHILD_CLEARTID
};

static char stack[65536] __attribute__((aligned(64)));
static volatile int shared, tid = 1;

static int store(void *unused)
{
    (void)unused;
    shared = 1;
    return 0;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    if (!strcmp(how, "clone")) {
        assert(clone(store, stack + sizeof stack, THREAD, NULL, NULL, NULL, &tid) > 0);
    } else if (!strcmp(how, "inline")) {
        long made = SYS_clone;
        register volatile int *child __asm__("r10") = &tid;
        register long tls __asm__("r8") = 0;
        __asm__ volatile("syscall\n\t"
                         "test %%rax, %%rax\n\t"
                         "jnz 1f\n\t"
                         "movl $1, %[shared]\n\t"
                         "mov %[exit], %%eax\n\t"
                         "xor %%edi, %%edi\n\t"
                         "syscall\n"
                         "1:"
                         : "+a"(made), [shared] "=m"(shared)
                         : "D"((long)THREAD), "S"(stack + sizeof stack), "d"(0L), "r"(child),
                           "r"(tls), [exit] "i"(SYS_exit)
                         : "rcx", "r11", "memory");
        assert(made > 0);
    } else if (!strcmp(how, "child") || !strcmp(how, "syscall")) {
        int pid = *how == 'c' ? clone(store, stack + sizeof stack, CLONE_VM | SIGCHLD, NULL)
                              : (int)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
        if (!pid)
            _exit(0);
        assert(waitpid(pid, NULL, 0) == pid);
        return 0;
    } else {
        return 0;
    }
    while (tid)
        __asm__ volatile("pause");
    return 0;
}
