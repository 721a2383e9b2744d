/* What the programs of this directory share: scheduling points at the accesses to memory that race, and, from the
 * programs with known bugs beside them, starting threads, arguments and assertions. Included by each program here.
 *
 * The PCT paper's implementation can switch threads before "accesses to flag variables, volatile accesses, and data
 * races" (section 4.2), because it instruments instructions; pct switches before calls of intercepted functions. Here a
 * call stands before each access that races: the sem_post() of a semaphore that belongs to the word and that nobody
 * ever waits for. Under pct it is a scheduling point and one step, on an object of the word's own, as strategies want
 * to know that look at objects; natively it is one atomic addition. What races is atomic, because in C it would have no
 * meaning otherwise.
 *
 * A program that pct-cc has compiled tells pct of its accesses by itself: then there are no such calls. */
#ifndef PCT_BENCH_PAPER_POINT_H
#define PCT_BENCH_PAPER_POINT_H

#include <bench/bugs/shared.h>
#include <math.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>

/* local_work() by which the main process of a SPLASH-2 kernel comes later to the numbers of the others: the original
 * prints a report in between. How often the bug shows natively depends on it; under pct it is nothing. */
enum { REPORT = 2 };

/* Before each access to memory that other threads may access at the same time, without a lock. `word` stands for it,
 * and may be zeroed memory, which on Linux is a semaphore of value 0. */
static inline void memory_point(sem_t *word)
{
#ifdef __SANITIZE_THREAD__
    (void)word;
#else
    sem_post(word);
#endif
}

#endif
