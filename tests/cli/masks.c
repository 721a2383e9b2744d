/* For explore_file.bats: two threads that block all signals in the way that the argument says, and then access memory
 * by an instruction that no jump fits into: an int3 stands there. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

struct job {
    int *sum, more;
};

/* Before it and behind it, there is no room for a jump within 127 bytes, and its own last bytes lead to none. */
void put(const struct job *job);
__asm__(".globl put\n"
        ".type put, @function\n"
        "put:\n"
        ".cfi_startproc\n"
        "movl 8(%rdi), %edx\n"
        "movq (%rdi), %rax\n"
        "addl %edx, (%rax)\n"
        "xorl %eax, %eax\n"
        "ret\n"
        ".fill 100, 2, 0xc031\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size put, .-put\n");

static const char *how;

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static void none(void)
{
}

static void block_by_context(const sigset_t *all)
{
    char stack[16384];
    ucontext_t here, there;
    volatile int again = 0;
    if (!strcmp(how, "uc_link")) {
        getcontext(&there);
        there.uc_stack = (stack_t){ .ss_sp = stack, .ss_size = sizeof stack };
        there.uc_link = &here;
        makecontext(&there, none, 0);
        pthread_sigmask(SIG_SETMASK, all, NULL);
        swapcontext(&here, &there);
        return;
    }
    getcontext(&here);
    if (again++)
        return;
    here.uc_sigmask = *all;
    if (!strcmp(how, "setcontext"))
        setcontext(&here);
    else
        swapcontext(&there, &here);
}

static void fill(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    (void)info;
    sigfillset(&((ucontext_t *)context)->uc_sigmask);
}

static void block_by_handler(void)
{
    struct sigaction action = { .sa_sigaction = fill, .sa_flags = SA_SIGINFO };
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
}

static void block_inline(const sigset_t *all)
{
    register long size __asm__("r10") = 8;
    long number = SYS_rt_sigprocmask;
    __asm__ volatile("syscall"
                     : "+a"(number)
                     : "D"(SIG_SETMASK), "S"(all), "d"(NULL), "r"(size)
                     : "rcx", "r11", "memory");
}

static void block(void)
{
    sigset_t all;
    sigfillset(&all);
    if (!strcmp(how, "sigsetmask"))
        sigsetmask(~0);
    else if (!strcmp(how, "sigblock"))
        sigblock(~0);
    else if (!strcmp(how, "sighold"))
        sighold(SIGTRAP);
    else if (!strcmp(how, "sigset"))
        sigset(SIGTRAP, SIG_HOLD);
    else if (!strcmp(how, "syscall"))
        syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, NULL, 8);
    else if (!strcmp(how, "syscall-same")) { /* the set is let in, and takes the mask of before, too */
        sigset_t one;
        syscall(SYS_rt_sigprocmask, SIG_BLOCK, &all, NULL, 8);
        sigemptyset(&one);
        sigaddset(&one, SIGTRAP);
        syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &one, &one, 8);
        if (!sigismember(&one, SIGTRAP) || !sigismember(&one, SIGUSR1))
            _exit(8);
        syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &one, 8);
        if (sigismember(&one, SIGTRAP))
            _exit(8);
        syscall(SYS_rt_sigprocmask, SIG_BLOCK, &all, NULL, 8);
    } else if (!strcmp(how, "syscall-block"))
        syscall(SYS_rt_sigprocmask, SIG_BLOCK, &all, &all, 8);
    else if (!strcmp(how, "inline"))
        block_inline(&all);
    else if (!strcmp(how, "handler"))
        block_by_handler();
    else if (strstr(how, "context") || !strcmp(how, "uc_link"))
        block_by_context(&all);
    else
        pthread_sigmask(SIG_SETMASK, &all, NULL);
    if (!strcmp(how, "pending"))
        raise(SIGTRAP);
}

static void *add(void *job)
{
    sigset_t now;
    block();
    put(job);
    pthread_sigmask(SIG_BLOCK, NULL, &now);
    if (!sigismember(&now, SIGTRAP))
        _exit(9);
    return NULL;
}

int main(int argc, char **argv)
{
    int sum = 0;
    struct job jobs[2] = { { &sum, 3 }, { &sum, 4 } };
    pthread_t threads[2];
    how = argc > 1 ? argv[1] : "";
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, add, &jobs[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return sum == 7 ? 0 : 3;
}
