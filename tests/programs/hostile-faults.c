/* A program that makes faults and handles them itself, in the way that its argument says. Run by
 * tests/programs/hostile, without pct and with it. */
#define _GNU_SOURCE
#include "hostile.h"
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static sigjmp_buf back;
static volatile int faults;

static void go_on(int signal)
{
    (void)signal;
    faults++;
    siglongjmp(back, 1);
}

static void die(int number)
{
    say("handler of", number);
    signal(number, SIG_DFL);
    raise(number);
}

static void handle(void (*handler)(int), size_t stack_size)
{
    struct sigaction action = { .sa_handler = handler, .sa_flags = SA_ONSTACK };
    stack_t stack = { .ss_size = stack_size };
    stack.ss_sp = mmap(NULL, stack_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack.ss_sp == MAP_FAILED || sigaltstack(&stack, NULL))
        fail("sigaltstack");
    if (handler && sigaction(SIGSEGV, &action, NULL))
        fail("sigaction");
}

static void *fault_often(void *unused)
{
    handle(go_on, 65536);
    for (int i = 0; i < 10; i++) {
        pthread_mutex_lock(&lock);
        if (!sigsetjmp(back, 1))
            crash(NULL);
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

static int go_on_after_faults(void)
{
    pthread_t one = start(fault_often, NULL, NULL), other = start(fault_often, NULL, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    say("faults", faults);
    work();
    return 3;
}

/* The program's last resort: no stack of its own for the handler, and an exit status that its callers know. */
static void give_up(int number)
{
    say("handler of", number);
    _exit(3);
}

static int exit_in_handler(void)
{
    signal(SIGSEGV, give_up);
    work();
    pthread_join(start(crash, NULL, NULL), NULL);
    return 98;
}

/* On the stack that overflows there is no room for a handler. Where it does so, in the program, in libc, or in whoever
 * is preloaded, depends on where it began: so from each place in turn. */
static sem_t steps;

static int dig(int depth)
{
    volatile char room[160];
    room[0] = (char)depth;
    sem_post(&steps);
    sem_trywait(&steps);
    return depth < 1 << 30 ? dig(depth + 1) + room[0] : 0;
}

static int dig_from(size_t offset)
{
    volatile char *room = __builtin_alloca(offset + 1);
    room[0] = 1;
    return dig(0) + room[0];
}

static void *overflow(void *unused)
{
    handle(go_on, 65536);
    for (volatile size_t offset = 0; offset < 512; offset += 16)
        if (!sigsetjmp(back, 1))
            dig_from(offset);
    return unused;
}

static int go_on_after_overflow(void)
{
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 32768);
    pthread_join(start(overflow, NULL, &attr), NULL);
    say("faults", faults);
    work();
    return 3;
}

/* A pointer to nothing in calls: libc's fault is the program's to handle. */
static void *fault_in_calls(void *unused)
{
    handle(go_on, 65536);
    for (volatile int i = 0; i < 5; i++) {
        if (sigsetjmp(back, 1))
            continue;
        if (i == 0)
            pthread_mutex_lock((pthread_mutex_t *)16);
        else if (i == 1)
            pthread_mutex_unlock((pthread_mutex_t *)16);
        else if (i == 2)
            sem_wait((sem_t *)16);
        else if (i == 3)
            pthread_rwlock_rdlock((pthread_rwlock_t *)16);
        else
            pthread_cond_wait((pthread_cond_t *)16, (pthread_mutex_t *)256);
    }
    return unused;
}

static int go_on_after_bad_calls(void)
{
    pthread_t thread = start(fault_in_calls, NULL, NULL);
    work();
    pthread_join(thread, NULL);
    say("faults", faults);
    return 3;
}

static int raise_again(void)
{
    handle(die, 65536);
    work();
    crash(NULL);
    return 3;
}

/* The kernel's least: what runs there, besides the handler, has little room. Below it is memory of the program's. */
static void *crash_on_small_stack(void *unused)
{
    handle(NULL, 8192);
    return crash(unused);
}

static int small_signal_stack(void)
{
    work();
    pthread_join(start(crash_on_small_stack, NULL, NULL), NULL);
    return 3;
}

int main(int argc, char **argv)
{
    static const struct mode modes[] = {
        { "go-on-after-faults", go_on_after_faults },
        { "exit-in-handler", exit_in_handler },
        { "go-on-after-overflow", go_on_after_overflow },
        { "go-on-after-bad-calls", go_on_after_bad_calls },
        { "raise-again", raise_again },
        { "small-signal-stack", small_signal_stack },
    };
    return run_mode(modes, sizeof modes / sizeof *modes, argc > 1 ? argv[1] : NULL);
}
