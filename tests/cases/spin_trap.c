/* A thread that spins is gone through instruction by instruction, by traps: what the program has to do with traps and
 * signals itself stays as it is, and each of these loops is left.
 *
 * RUN: pct run -q -s 1 -n 40 --exec -- %p plain
 * RUN: pct run -q -s 1 -n 40 -- %p blocked
 * RUN: pct run -q -s 1 -n 40 -- %p ignored
 * RUN: pct run -q -s 1 -n 40 -- %p handled
 * RUN: pct run -q -s 1 -n 40 -- %p jumps
 * RUN: pct run -q -s 1 -n 40 -- %p counts
 * RUN 133: pct run -q -s 1 --slack=0 -- %p traps
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile int flag, ready, other, trapped;
static const char *what;
static sigjmp_buf out;

static void check(int fine)
{
    if (!fine)
        abort();
}

static void on_trap(int signal)
{
    trapped += signal == SIGTRAP;
}

static void on_interrupt(int signal)
{
    (void)signal;
    siglongjmp(out, 1);
}

static int is_blocked(void)
{
    sigset_t now;
    return !pthread_sigmask(SIG_BLOCK, NULL, &now) && sigismember(&now, SIGTRAP);
}

static void *spin(void *unused)
{
    unsigned rounds = 0;
    if (!strcmp(what, "counts"))
        while (!flag) {
            rounds++;
            __builtin_ia32_pause();
        }
    else if (!strcmp(what, "jumps"))
        while (!sigsetjmp(out, 1))
            for (ready = 1;;)
                ;
    else
        while (!flag)
            if (other)
                rounds++;
    check(is_blocked() == !strcmp(what, "blocked"));
    if (!strcmp(what, "traps"))
        __asm__("int3");
    return unused;
}

static void interrupt(pthread_t thread)
{
    while (!ready)
        usleep(10);
    check(!pthread_kill(thread, SIGUSR1));
}

int main(int argc, char **argv)
{
    pthread_t thread;
    sigset_t trap;
    what = argc > 1 ? argv[1] : "plain";
    sigemptyset(&trap);
    sigaddset(&trap, SIGTRAP);
    if (!strcmp(what, "blocked"))
        check(!pthread_sigmask(SIG_BLOCK, &trap, NULL));
    if (!strcmp(what, "ignored"))
        signal(SIGTRAP, SIG_IGN);
    if (!strcmp(what, "handled"))
        signal(SIGTRAP, on_trap);
    signal(SIGUSR1, on_interrupt);
    check(!pthread_create(&thread, NULL, spin, NULL));
    usleep(10);
    if (!strcmp(what, "jumps"))
        interrupt(thread);
    flag = 1;
    check(!pthread_join(thread, NULL));
    if (!strcmp(what, "handled"))
        check(!trapped && !raise(SIGTRAP) && trapped == 1);
    return 0;
}
