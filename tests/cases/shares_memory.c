// A process that shares the memory (clone with CLONE_VM alone, by libc's function or by an instruction) wakes who waits
// for a futex, as natively: that was called a deadlock. Where it only waits itself, there is one.
//
// RUN: for w in function instruction; do for s in portfolio pos; do
//     %p $w && pct run -q -n 3 -s 1 -S $s --state none --timeout 30 -- %p $w || exit 1; done; done
// RUN 120: pct run -q -s 1 --state none --timeout 30 -- %p stuck
// RUN: pct run -n 5 -s 1 --state none -- %p function > %t/out 2>&1;
//     test $? = 0 && ! grep 'would have been missed' %t/out
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SIZE = 65536, WAKES = 9 };
static uint32_t word, never;
static int stuck;

/* It has the variables of the thread that made it: no function of libc's. */
static long by_instruction(long number, const void *a, long b, long c)
{
    long result;
    register long fourth __asm__("r10") = 0;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth)
                     : "rcx", "r11", "memory");
    return result;
}

static int child(void *unused)
{
    const struct timespec moment = { .tv_nsec = 20000000 };
    (void)unused;
    by_instruction(SYS_prctl, (void *)PR_SET_PDEATHSIG, SIGKILL, 0); /* a deadlock ends the other process alone */
    by_instruction(SYS_nanosleep, &moment, 0, 0);
    while (stuck)
        by_instruction(SYS_futex, &never, FUTEX_WAIT_PRIVATE, 0);
    __atomic_store_n(&word, 1, __ATOMIC_SEQ_CST);
    by_instruction(SYS_futex, &word, FUTEX_WAKE_PRIVATE, WAKES);
    by_instruction(SYS_exit, NULL, 0, 0);
    return 0;
}

static void *wait_for_it(void *unused)
{
    while (!__atomic_load_n(&word, __ATOMIC_SEQ_CST))
        syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
    return unused;
}

/* The child begins on its own stack, behind the call. */
static long clone_by_instruction(void *stack)
{
    void **top = (void **)stack - 1;
    long result;
    *top = (void *)child;
    register long fourth __asm__("r10") = 0;
    __asm__ volatile("syscall\n\ttestq %%rax, %%rax\n\tjnz 1f\n\tpopq %%rax\n\tandq $-16, %%rsp\n\tcall *%%rax\n1:"
                     : "=a"(result)
                     : "a"(SYS_clone), "D"(CLONE_VM | SIGCHLD), "S"(top), "d"(0), "r"(fourth)
                     : "rcx", "r11", "memory");
    return result;
}

int main(int count, char **arguments)
{
    pthread_t thread;
    int status;
    char *stack = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    stuck = count > 1 && !strcmp(arguments[1], "stuck");
    pthread_create(&thread, NULL, wait_for_it, NULL);
    long pid = count > 1 && !strcmp(arguments[1], "instruction") ? clone_by_instruction(stack + SIZE)
                                                                 : clone(child, stack + SIZE, CLONE_VM | SIGCHLD, NULL);
    pthread_join(thread, NULL);
    return waitpid((pid_t)pid, &status, 0) != pid;
}
