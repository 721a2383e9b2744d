// A loop that computes while it waits on memory is taken for one that computes: the others wait until PCT_WATCHDOG is over. A time limit that
// ends such a run is no word about the program alone, and the report says who kept whom from running. One that does nothing but to count
// its rounds waits: others go on after some 20 ms, and it does not give up, which natively it never does.
//
// BUILD: gcc -O1 -g -pthread -o %p %s && gcc -O0 -g -pthread -o %p.O0 %s
// RUN: pct run -s 1 -n 1 -S round-robin --timeout 6 -- %p > %t/out 2>&1; grep 'note: thread 0 computed for [0-9]* ms without a call while others could go on; PCT_WATCHDOG' %t/out
// RUN: PCT_WATCHDOG=50 pct run -q -s 1 -n 1 -S round-robin --timeout 60 -- %p
// RUN: ! pct run -s 1 -n 1 -S round-robin -- %p gives up > %t/out 2>&1; grep '^thread 0 computed for [0-9]* ms without a call' %t/out
// RUN: ! pct run -s 1 -n 1 --timeout 2 -- sleep 100 2>&1 | grep computed
// RUN: ! pct run -s 1 -n 1 -S round-robin --timeout 3 -- %p alone 2>&1 | grep computed
// RUN: for p in %p %p.O0; do pct run -q -s 1 -n 1 -S round-robin -t %t/trace -- $p it only counts && pct replay -q %t/trace -- $p it only counts || exit 1; done
// RUN: for p in %p %p.O0; do ! pct run -s 1 -n 1 -S round-robin -- $p it only computes here 2>&1 | grep spin || exit 1; done
#include <pthread.h>
#include <stddef.h>

static volatile int flag;
static unsigned long count = 1;
static unsigned char zeros[1 << 20];

static void *set(void *unused)
{
    flag = 1;
    return unused;
}

/* The counters are far from the end of this frame; what is read is the same again and again. */
__attribute__((noinline)) static unsigned long sum(void)
{
    volatile char much[5000];
    unsigned long total = 1;
    much[0] = 1;
    for (unsigned i = 0; i < 200 * sizeof zeros; i++)
        total += zeros[i % sizeof zeros];
    return total * (unsigned char)much[0];
}

int main(int argc, char **argv)
{
    enum { NOTHING = 1, ALONE, GIVES_UP, ONLY_COUNTS, COMPUTES };
    const unsigned long most = 1000000000;
    unsigned long rounds = 0;
    pthread_t thread;
    (void)argv;
    while (argc == ALONE && !flag) /* nobody else is kept from anything */
        count++;
    pthread_create(&thread, NULL, set, NULL);
    if (argc == COMPUTES)
        count = sum();
    else if (argc == ONLY_COUNTS)
        while (!flag && rounds < most)
            rounds++;
    else
        while (!flag && (argc == NOTHING || rounds < most))
            count = count * 6364136223846793005 + 1, rounds++;
    if (rounds == most)
        return 3;
    pthread_join(thread, NULL);
    return count == 0;
}
