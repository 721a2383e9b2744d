/* Contexts bring back registers and the signal mask, from getcontext, swapcontext and makecontext, to their ends. */
/* tests: getcontext setcontext swapcontext makecontext */
#define _GNU_SOURCE
#include "check.h"
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <ucontext.h>
#include <xmmintrin.h>

enum { STACK = 1 << 16, ROUNDS = 3 };

static _Thread_local ucontext_t here, there, last;
static _Thread_local int rounds, ended;

static int blocks(int signal)
{
    sigset_t now;
    CHECK_OK(pthread_sigmask(SIG_BLOCK, NULL, &now));
    return sigismember(&now, signal);
}

/* As many arguments as go by registers, and more. */
static void work(int a, int b, int c, int d, int e, int f, int g, int h)
{
    double sum = 0.5;
    CHECK_EQ(a + 10 * b + 100 * c + 1000 * d + 10000 * e + 100000 * f + 1000000 * g + 10000000 * h, 87654321);
    CHECK_EQ((uintptr_t)__builtin_frame_address(0) % 16, 0);
    for (rounds = 0; rounds < ROUNDS; rounds++) {
        CHECK(blocks(SIGTRAP) && blocks(SIGUSR1) && !blocks(SIGUSR2));
        CHECK_EQ(_MM_GET_ROUNDING_MODE(), _MM_ROUND_UP);
        sum += rounds;
        CHECK_OK(swapcontext(&there, &here));
    }
    CHECK(sum == 3.5);
}

static void finish(void)
{
    ended++;
    CHECK(!blocks(SIGTRAP) && !blocks(SIGUSR1) && blocks(SIGUSR2));
}

static ucontext_t *make(ucontext_t *context, char *stack, ucontext_t *link)
{
    CHECK_OK(getcontext(context));
    sigemptyset(&context->uc_sigmask);
    context->uc_stack = (stack_t){ .ss_sp = stack, .ss_size = STACK };
    context->uc_link = link;
    return context;
}

static void *run(void *unused)
{
    char *stack = malloc(2 * STACK);
    sigset_t all, none;
    volatile int again = 0;
    sigemptyset(&none);
    sigfillset(&all);
    ended = 0;

    /* getcontext keeps what is blocked, and setcontext sets it. */
    CHECK_OK(pthread_sigmask(SIG_SETMASK, &all, NULL));
    CHECK_OK(getcontext(&here));
    CHECK(blocks(SIGTRAP) && blocks(SIGUSR1));
    CHECK(sigismember(&here.uc_sigmask, SIGTRAP) && sigismember(&here.uc_sigmask, SIGUSR1));
    CHECK_OK(pthread_sigmask(SIG_SETMASK, &none, NULL));
    if (!again++)
        CHECK_OK(setcontext(&here));
    CHECK_EQ(again, 2);

    /* A context with a stack of its own, and to and fro. */
    make(&last, stack + STACK, &here);
    sigaddset(&last.uc_sigmask, SIGUSR2);
    makecontext(&last, finish, 0);
    _MM_SET_ROUNDING_MODE(_MM_ROUND_UP);
    make(&there, stack, &last);
    sigaddset(&there.uc_sigmask, SIGTRAP);
    sigaddset(&there.uc_sigmask, SIGUSR1);
    makecontext(&there, (void (*)(void))work, 8, 1, 2, 3, 4, 5, 6, 7, 8);
    _MM_SET_ROUNDING_MODE(_MM_ROUND_NEAREST);
    for (int i = 0; i < ROUNDS; i++) {
        CHECK_EQ(ended, 0);
        CHECK_OK(swapcontext(&here, &there));
        CHECK_EQ(rounds, i);
        CHECK(!blocks(SIGTRAP) && !blocks(SIGUSR1) && !blocks(SIGUSR2));
        CHECK_EQ(_MM_GET_ROUNDING_MODE(), _MM_ROUND_NEAREST);
    }
    /* Its end goes on at its link, whose end goes on here. */
    CHECK_OK(pthread_sigmask(SIG_SETMASK, &all, NULL));
    CHECK_OK(swapcontext(&here, &there));
    CHECK_EQ(ended, 1);
    CHECK(blocks(SIGTRAP) && blocks(SIGUSR1) && blocks(SIGUSR2));
    CHECK(sigismember(&here.uc_sigmask, SIGTRAP));
    CHECK_OK(pthread_sigmask(SIG_SETMASK, &none, NULL));
    free(stack);
    return unused;
}

/* Without a link, the end is that of the process. */
static void exit_well(void)
{
    CHECK(blocks(SIGTRAP));
}

int main(void)
{
    static char stack[STACK];
    pthread_t thread;
    run(NULL);
    CHECK_OK(pthread_create(&thread, NULL, run, NULL));
    CHECK_OK(pthread_join(thread, NULL));
    run(NULL); /* pct makes SIGTRAP by now, if it does */
    make(&last, stack, NULL);
    sigaddset(&last.uc_sigmask, SIGTRAP);
    makecontext(&last, exit_well, 0);
    setcontext(&last);
    return 1;
}
