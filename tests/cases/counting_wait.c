// A loop that counts while it waits on memory is taken for one that computes: the others wait until PCT_WATCHDOG is
// over. A time limit that ends such a run is no word about the program alone, and the report says who kept whom from
// running.
//
// RUN: pct run -s 1 -n 1 -S round-robin --timeout 2 -- %p > %t/out 2>&1;
//     grep 'note: thread 0 computed for [0-9]* ms without a call while others could go on; PCT_WATCHDOG' %t/out
// RUN: PCT_WATCHDOG=50 pct run -q -s 1 -n 1 -S round-robin --timeout 60 -- %p
// RUN: ! pct run -s 1 -n 1 -S round-robin -- %p gives up > %t/out 2>&1;
//     grep '^thread 0 computed for [0-9]* ms without a call' %t/out
// RUN: for as in json sarif junit html github gitlab; do reports+=" --report=$as:%t/$as"; done;
//     pct campaign -n 1 -s 1 -S round-robin --setup=true --db %t/db $reports -- %p gives up > %t/out 2>&1;
//     pct campaign report %t/db > %t/text; grep '^thread 0 computed for [0-9]* ms without a call' %t/out &&
//     grep '"held": *"thread 0 computed' %t/json &&
//     [ "$(cd %t && grep -l 'natively they do: should it wait in a.loop that counts, PCT_WATCHDOG=MILLISECONDS lets
//     them' text html json sarif github gitlab | wc -l)" = 6 ] && grep 'without a call while others' %t/junit
// RUN: pct explain --seconds 4 "$(pct run -s 1 -n 1 -S round-robin -- %p gives up 2>&1 | grep -o "pct1:[^']*" | tail -n
//     1)" -- %p gives up > %t/out; grep '^thread 0 computed for' %t/out
// RUN: ! pct run -s 1 -n 1 --timeout 2 -- sleep 100 2>&1 | grep computed
// RUN: ! pct run -s 1 -n 1 -S round-robin --timeout 1 -- %p alone 2>&1 | grep computed
#include <pthread.h>
#include <stddef.h>

static volatile int flag;
static unsigned long count;

static void *set(void *unused)
{
    flag = 1;
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    (void)argv;
    unsigned long most = argc > 2 ? 200000000 : -1ul; /* at a step a cycle, more than twice what the note is for */
    if (argc == 2)                                    /* nobody else is kept from anything */
        while (!flag)
            count++;
    pthread_create(&thread, NULL, set, NULL);
    while (!flag && count < most)
        count++;
    if (count == most)
        return 3;
    pthread_join(thread, NULL);
    return count == 0;
}
