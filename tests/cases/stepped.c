/* A thread that waits by strcmp() is led through libc instruction by instruction, by the trap flag. Nothing of that
 * reaches the program, whatever comes in between: PUSHF, a system call of the program's own that masks signals or makes
 * a process, a signal whose handler returns, waits so itself, jumps or forks, a cancellation whose cleaning up waits
 * so.
 *
 * RUN: for how in flags masks processes timer waits alternate jumps forks cleans; do pct run -q -s 1 -- %p $how ||
 *     exit 1; done
 * RUN: for how in flags waits; do pct run -q -s 2 --memory=all -- %p $how || exit 1; done
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <x86intrin.h>

enum { TRAP_FLAG = 0x100, STACK = 1 << 16, SIGNALS = 30, PROCESSES = 300 };

static char first[8] = "not", second[8] = "not"; /* what is waited for */
static volatile int ready;
static const char *how;
static sigjmp_buf out;

static int is(const char *name)
{
    return !strcmp(how, name);
}

static void check(int fine)
{
    if (!fine)
        abort();
}

static int has_come(const char *word)
{
    __asm__ volatile("" : : : "memory");
    return !strcmp(word, "ready");
}

static void wait_for(const char *word)
{
    while (!has_come(word))
        ;
}

static void wait_for_second(void *unused)
{
    (void)unused;
    wait_for(second);
}

/* No library function makes it. */
static long inline_call(long number, long a, const void *b, void *c, long d)
{
    long result;
    register long r10 __asm__("r10") = d;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10) : "rcx", "r11", "memory");
    return result;
}

static void mask_all(void)
{
    const unsigned long all = ~0ul;
    unsigned long before;
    check(!inline_call(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof all));
    check(!inline_call(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof before));
}

static void make_process(void)
{
    static int count;
    int status;
    long child = inline_call(SYS_clone, SIGCHLD, NULL, NULL, 0);
    if (!child)
        inline_call(SYS_exit_group, 0, NULL, NULL, 0);
    check(inline_call(SYS_wait4, child, &status, NULL, 0) == child && !status);
    if (++count == PROCESSES) /* most of its time is theirs: a wait is seldom found */
        strcpy(first, "ready");
}

static void keep_flags(void)
{
    unsigned long long flags = __readeflags();
    check(!(flags & TRAP_FLAG));
    __writeeflags(flags);
}

static void on_signal(int signal)
{
    static volatile int count;
    ready = 2;
    if (signal == SIGVTALRM) { /* it comes too often for a wait to be found, perhaps */
        if (++count == SIGNALS)
            strcpy(first, "ready");
        return;
    }
    if (is("jumps"))
        siglongjmp(out, 1);
    if (is("forks") && !fork()) {
        strcpy(second, "ready");
        wait_for(second);
        _exit(0);
    }
    wait_for(second);
}

static void *spin(void *unused)
{
    const stack_t stack = { .ss_sp = malloc(STACK), .ss_size = STACK };
    check(!sigaltstack(&stack, NULL));
    ready = 1;
    if (is("cleans")) {
        pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &(int){ 0 });
        pthread_cleanup_push(wait_for_second, NULL);
        wait_for(first);
        pthread_cleanup_pop(0);
    } else if (is("jumps") && !sigsetjmp(out, 1)) {
        wait_for(second);
    }
    while (!has_come(first))
        if (is("flags"))
            keep_flags();
        else if (is("masks"))
            mask_all();
        else if (is("processes"))
            make_process();
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    struct sigaction action = { .sa_handler = on_signal };
    const struct itimerval often = { { 0, 1000 }, { 0, 1000 } };
    how = argc > 1 ? argv[1] : "waits";
    if (is("alternate"))
        action.sa_flags = SA_ONSTACK;
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGVTALRM, &action, NULL);
    if (is("timer"))
        setitimer(ITIMER_VIRTUAL, &often, NULL);
    check(!pthread_create(&thread, NULL, spin, NULL));
    while (!ready)
        usleep(10);
    usleep(50000); /* it goes round by now */
    if (is("cleans"))
        check(!pthread_cancel(thread));
    else if (is("waits") || is("alternate") || is("jumps") || is("forks"))
        check(!pthread_kill(thread, SIGUSR1));
    usleep(1000);
    strcpy(second, "ready");
    usleep(1000);
    strcpy(first, "ready");
    check(!pthread_join(thread, NULL));
    return is("forks") && (wait(NULL) < 0 || ready != 2);
}
