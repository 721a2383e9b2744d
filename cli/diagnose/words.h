/* Locks and condition variables that a program makes of a word of memory and a futex, as Rust's are: to pct exchanges
 * and updates of memory. */
#ifndef PCT_CLI_WORDS_H
#define PCT_CLI_WORDS_H

#include "history.h"

/* Mark, in a history whose steps are known and what they hold is not, the exchanges that take and give back such locks,
 * and those that fail to (struct pct_moment.word). A word is one if nothing but exchanges changes it, threads give back
 * what they have taken, elsewhere than there, or wait for it. And the updates of words of which each is one
 * of those, and is followed by a wake: they count notices. And words that exchanges take and updates of the same thread
 * give back, while others may have them, too, and for which somebody waits: locks of readers and writers. */
void pct_words_find(struct pct_history *history);

/* The address of the word for which a thread waits by this step, or pending one, on a futex: the futex itself, or, as
 * of who would write under one of Rust's locks, the word before it, which the thread has just tried to change. */
uint64_t pct_words_waited_for(const struct pct_history *history, const struct pct_moment *wait);

#endif
