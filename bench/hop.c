/* The least that a patched instruction could do, to see what pct's trampolines add: a loop of increments with lock,
 * each reached by a jump to code that steps over the red zone, saves a register, counts in thread-local memory, asks
 * whether the count has come to its end, and jumps back. Flags are left alone. Prints ns an increment, the median of
 * 101 short rounds. Run natively. */
#include "measure.h"
#include <stdio.h>

enum { ROUNDS = 20000, MEASURED = 101 };

static int counter;
__thread long budget = 1L << 62; /* the name is known to the assembly */

static void work(void)
{
    for (int i = 0; i < ROUNDS; i++)
        __asm__ volatile("jmp 2f\n\t"
                         ".balign 64\n"
                         "1: ud2\n" /* the count has come to its end */
                         "2: leaq -128(%%rsp), %%rsp\n\t"
                         "pushq %%rcx\n\t"
                         "movq %%fs:budget@tpoff, %%rcx\n\t"
                         "leaq -1(%%rcx), %%rcx\n\t"
                         "movq %%rcx, %%fs:budget@tpoff\n\t"
                         "jrcxz 1b\n\t"
                         "popq %%rcx\n\t"
                         "leaq 128(%%rsp), %%rsp\n\t"
                         "lock addl $1, %0\n\t"
                         "jmp 3f\n\t"
                         ".balign 64\n"
                         "3:"
                         : "+m"(counter)
                         :
                         : "memory", "cc");
}

int main(void)
{
    double ns[MEASURED];
    for (int round = 0; round < MEASURED; round++) {
        double start = real_ns();
        work();
        ns[round] = (real_ns() - start) / ROUNDS;
    }
    printf("%.3f\n", median(ns, MEASURED));
    return budget > 0 && counter == ROUNDS * MEASURED ? 0 : 1;
}
