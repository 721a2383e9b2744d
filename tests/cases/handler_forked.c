/* A handler creates the second thread between two instructions that move together: a forked run had them made
 * ready before the fork, where no thread could stand between them, and went on in the middle of the jump.
 *
 * BUILD: gcc -O1 -g -no-pie -fno-pie -fno-align-functions -pthread -o %p %s
 * RUN: %p
 * RUN: ! pct run -n 12 -g -s 1 --memory=all --state none --timeout 60 -- %p 2>&1 | grep -E 'failed|by exec'
 * RUN: pct run -n 40 -g -s 1 --memory=all --engine=restore --state none --timeout 60 -- %p
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <ucontext.h>
#include <unistd.h>

enum { TRACE = 0x100, BETWEEN = 5 };

static int word = 6, traps;
static pthread_t thread;

static void *count(void *counter)
{
    ++*(int *)counter;
    return counter;
}

static void handle(int signal, siginfo_t *info, void *context)
{
    static int counter;
    (void)signal, (void)info;
    if (++traps != BETWEEN)
        return;
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~TRACE;
    if (pthread_create(&thread, NULL, count, &counter))
        _exit(2);
}

/* The load has two bytes. No jump of five that keeps what follows leads anywhere, as its distance would be before all
 * memory, and there is no padding near: the next two move with it. */
#define BLOCK "mov (%%rsi), %%eax; cltd; lea 0x1000(%%rax), %%ebx;"
#define TEN(text) text text text text text text text text text text

static __attribute__((noinline)) int look(int *p, long flags)
{
    int result;
    __asm__ volatile("pushfq; or %2, (%%rsp); popfq;" TEN(BLOCK) TEN(BLOCK) TEN(BLOCK) TEN(BLOCK)
                     : "=&b"(result)
                     : "S"(p), "r"(flags)
                     : "rax", "rdx", "cc", "memory");
    return result;
}

int main(void)
{
    struct sigaction action = { .sa_sigaction = handle, .sa_flags = SA_SIGINFO };
    sigaction(SIGTRAP, &action, NULL);
    if (look(&word, TRACE) != 6 + 0x1000)
        return 3;
    pthread_join(thread, NULL);
    return look(&word, 0) != 6 + 0x1000;
}
