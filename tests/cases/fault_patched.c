/* A fault of an instruction that was moved into a trampoline, in a patched program: the handler is told the address
 * that the instruction has in the program, in the context and (a division) in si_addr, once in the trampoline;
 * backtrace() finds the callers.
 *
 * BUILD: gcc -O1 -g -rdynamic -pthread -o %p %s -lm
 * RUN: %p
 * RUN: for m in globals all stacks; do pct run -n 20 -s 1 --memory=$m --state none -- %p || exit; done
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <fenv.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

/* Not static: assembler names them. */
long counter, dividend = 100, divisor;
double large = 1e300, zero;
int *null;

static sigjmp_buf back;
static const char *volatile expected; /* the function that faults */

static const char *name_of(const void *address)
{
    Dl_info info;
    return dladdr(address, &info) && info.dli_sname ? info.dli_sname : "?";
}

static void check(int right, const char *what)
{
    if (right)
        return;
    fprintf(stderr, "%s: %s\n", expected, what);
    _exit(1);
}

static void handle(int signal, siginfo_t *info, void *context)
{
    const void *pc = (const void *)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
    check(!strcmp(name_of(pc), expected), "the context is of another place");
    check(info->si_addr == (signal == SIGFPE ? pc : NULL), "si_addr");
    void *frame[32];
    int found = 0;
    for (int i = 0, count = backtrace(frame, 32); i < count; i++)
        found |= !strcmp(name_of(frame[i]), expected) | !strcmp(name_of(frame[i]), "main") << 1;
    check(found == 3, "backtrace() does not find it and main");
    siglongjmp(back, 1);
}

#define FAULT(name, ...)                                                                                               \
    __attribute__((noinline)) void name(void)                                                                          \
    {                                                                                                                  \
        __asm__ volatile(__VA_ARGS__ : : : "rax", "rcx", "rdx", "xmm0", "cc", "memory");                               \
    }
FAULT(divide, "mov dividend(%%rip), %%rax; cqto; idivq divisor(%%rip)")
FAULT(divide_half, "mov dividend(%%rip), %%eax; cltd; idivl divisor(%%rip)")
FAULT(convert, "cvttsd2si large(%%rip), %%rax")
FAULT(narrow, "cvtsd2ss large(%%rip), %%xmm0")
FAULT(divide_real, "movsd large(%%rip), %%xmm0; divsd zero(%%rip), %%xmm0")
FAULT(load, "mov null(%%rip), %%rcx; mov (%%rcx), %%eax")
FAULT(store, "mov null(%%rip), %%rcx; movl $3, (%%rcx)")
FAULT(update, "mov null(%%rip), %%rcx; lock incl (%%rcx)")

static void *count(void *unused)
{
    for (int i = 0; i < 20; i++)
        counter++;
    return unused;
}

int main(void)
{
    static const struct {
        const char *name;
        void (*function)(void);
    } all[] = { { "divide", divide },
                { "divide_half", divide_half },
                { "convert", convert },
                { "narrow", narrow },
                { "divide_real", divide_real },
                { "load", load },
                { "store", store },
                { "update", update } };
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, count, NULL))
            return 2;
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    const struct sigaction action = { .sa_sigaction = handle, .sa_flags = SA_SIGINFO };
    sigaction(SIGFPE, &action, NULL);
    sigaction(SIGSEGV, &action, NULL);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        expected = all[i].name;
        feenableexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW);
        if (sigsetjmp(back, 1))
            continue;
        all[i].function();
        check(0, "no fault");
    }
    return 0;
}
