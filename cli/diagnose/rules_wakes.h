/* Threads that wait on condition variables when a run has ended in a deadlock, for the rules of rules_wakes.c. */
#ifndef PCT_CLI_RULES_WAKES_H
#define PCT_CLI_RULES_WAKES_H

#include "rules.h"

/* A thread that waits at the end. */
struct pct_waiter {
    const struct pct_history *history;
    uint32_t wait, taken; /* steps: where its wait began, and where it had taken the lock with which it looked */
    const struct pct_hold *guard; /* that lock; NULL: not known */
    /* What it is woken with, which it has given up: a mutex, or a lock that is made of a word; and the step by which.
     */
    unsigned lock_class;
    uint32_t lock, since;
    const struct pct_moment *at;
};

static inline bool pct_moment_notifies(const struct pct_moment *m)
{
    return m->op == PCT_OP_COND_SIGNAL || m->op == PCT_OP_COND_BROADCAST;
}

/* Whether the thread of this return from a wait waited again at once: at this step; PCT_NO_STEP: it did not. */
uint32_t pct_waited_again(const struct pct_history *history, uint32_t wake);

/* The last section with this mutex, or with this word that is a lock (its class), that another thread began between the
 * two steps. PCT_NO_STEP: there is none. */
uint32_t pct_section_between(const struct pct_history *history, uint32_t from, uint32_t to, unsigned class_,
                             uint32_t mutex);

/* The notice to this condition variable that comes with a section: inside, or before the thread takes its next lock,
 * waits or ends. PCT_NO_STEP: there is none. */
uint32_t pct_notice_of(const struct pct_history *history, const struct pct_hold *section,
                       const struct pct_moment *cond);

/* Whether somebody signals this condition variable behind this step. */
bool pct_is_notified_behind(const struct pct_history *history, const struct pct_moment *cond, uint32_t step);

/* Whether the thread of this wait waits at this step and has not been woken for. */
bool pct_still_waits(const struct pct_history *history, uint32_t wait, uint32_t step);

/* Whether who takes the mutex here does so to wait on this condition variable, or was woken: then it may have what the
 * other one was woken for, which is no loss. evidence: may be NULL. */
bool pct_section_competes(const struct pct_history *history, uint32_t taken, const struct pct_moment *cond,
                          const struct pct_evidence *evidence);

/* The key of sections at this place that wait, on whatever; or that end without a wait. */
uint64_t pct_key_of_sections(uint64_t place, bool waits);

/* The key of a section at this place that waits on the condition variable at this address. */
uint64_t pct_key_of_waiters(uint64_t place, uint64_t address);

/* rules_left.c: who takes work from a pool, gives it more, and waits for that: with all others doing the same it is
 * never done. evidence: may be NULL. */
void pct_rules_nobody_left(struct pct_diagnoses *out, const struct pct_history *history,
                           const struct pct_evidence *evidence);

/* rules_silent.c: nobody signals behind the beginning of the wait, and a section since then may have changed what is
 * waited for: the last that has to signal, by other runs, or else the last that may. Of any run: which sections signal
 * nobody while somebody waits, and what comes of it. evidence: may be NULL. */
void pct_rules_silent(struct pct_diagnoses *out, const struct pct_waiter *waiter, const struct pct_evidence *evidence);
void pct_rules_silent_sections(const struct pct_history *history, struct pct_evidence *evidence, bool fails);

/* A signal woke another one, which waits again, or has done with it. Returns whether one waits again. */
bool pct_rules_wrong_waiter(struct pct_diagnoses *out, const struct pct_waiter *waiter);

/* The same of a futex that is a flag: who is woken goes on. */
void pct_rules_one_woken(struct pct_diagnoses *out, const struct pct_waiter *waiter);

/* rules_passed.c: the waiter looks behind the last of as many signals as come in runs that pass, each of them from a
 * section with its mutex, and none of them without: what it waits for was true between two of them. Returns whether it
 * does. evidence: may be NULL; then nobody knows how many come. */
bool pct_rules_passed(struct pct_diagnoses *out, const struct pct_waiter *waiter, const struct pct_evidence *evidence);

/* Steps by which threads were woken at the same place as the waiter, and did not come to wait there again. To be freed.
 */
struct pct_wakes {
    uint32_t *step, count, room;
};

/* Returns false if there is no memory. */
bool pct_waiter_find_through(const struct pct_waiter *waiter, struct pct_wakes *through);

/* Whether the thread of this section signals behind it, and wakes one of those: what the section changed was told of,
 * to one of several. */
bool pct_waiter_is_one_of_several(const struct pct_waiter *waiter, const struct pct_hold *section,
                                  const struct pct_wakes *through);

#endif
