/* A handler creates the second thread, when the program is patched, while the first one may stand between instructions
 * that move together with a short one: it went on in the middle of the jump.
 *
 * BUILD: gcc -O1 -g -no-pie -fno-pie -fno-align-functions -pthread -o %p %s
 * RUN: %p
 * RUN: pct run -n 12 -g -s 1 --memory=all --state none --timeout 60 -- %p
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

static volatile int made, counter;
static int word = 6;
static pthread_t thread;

static void *count(void *unused)
{
    counter++;
    return unused;
}

static void handle(int signal)
{
    (void)signal;
    if (pthread_create(&thread, NULL, count, NULL))
        _exit(2);
    made = 1;
}

/* The load has two bytes. No jump of five that keeps what follows leads anywhere, as its distance would be before all
 * memory, and there is no padding near: the next two move with it. */
#define BLOCK "mov (%%rsi), %%eax; cltd; lea 0x1000(%%rax), %%ebx;"
#define TEN(text) text text text text text text text text text text

static __attribute__((noinline)) int look(int *p)
{
    int result;
    __asm__ volatile(TEN(BLOCK) TEN(BLOCK) TEN(BLOCK) TEN(BLOCK)
                     : "=&b"(result)
                     : "S"(p)
                     : "rax", "rdx", "cc", "memory");
    return result;
}

int main(void)
{
    const struct itimerval soon = { .it_value.tv_usec = 2000 };
    signal(SIGALRM, handle);
    setitimer(ITIMER_REAL, &soon, NULL);
    while (!made)
        if (look(&word) != 6 + 0x1000)
            return 3;
    pthread_join(thread, NULL);
    return look(&word) != 6 + 0x1000;
}
