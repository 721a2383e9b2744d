/* Loops that wait on memory: which of their instructions look at what they wait for. Decoded by Zydis, from bytes
 * alone; instruction_scan.c calls this for the loops of each function.
 *
 * A thread in such a loop passes no scheduling point at the levels that do not see its accesses, and the one that it
 * waits for does not run. So these looks are sites at every level (PCT_SITE_LOOK): the spin is then seen at the same
 * step in each run, and the watchdog, which needs milliseconds for it, has nothing to do.
 *
 * What is looked for is a loop that writes no memory, calls nothing, and reads at addresses that are the same in each
 * round; and what it reads decides where it branches. Such a read is no ordinary one: a compiler would have moved it
 * out of the loop. What changes from round to round (a counter, a pointer that goes along a string or a list) makes all
 * addresses that come from it different, so those reads are none. In a loop of loops, an inner one may walk over an
 * array, if it begins anew in each round of the outer one.
 *
 * A loop that holds an instruction which is a site at every level anyway (a lock prefix, an exchange, PAUSE) is left as
 * it is. What is found wrongly makes points that are not needed, what is missed is the watchdog's: neither makes a
 * result wrong. */
#ifndef PCT_CLI_SPIN_LOOPS_H
#define PCT_CLI_SPIN_LOOPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of a loop, at most; and looks in it. Longer ones do other things than wait. */
enum { PCT_SPIN_LOOPS_LONGEST = 128, PCT_SPIN_LOOPS_LOOKS = 8 };

/* The looks of a loop: `code` begins with the instruction that its last one, a branch, leads back to; size: up to the
 * end of that branch, at most PCT_SPIN_LOOPS_LONGEST. framed: rbp points into the stack. looks: where to put their
 * offsets, in ascending order. Returns how many there are; 0: it does not wait on memory, or may. */
unsigned pct_spin_loops_find(const uint8_t *code, size_t size, bool framed, uint8_t looks[PCT_SPIN_LOOPS_LOOKS]);

#endif
