/* The families of rules. Each looks at a whole history and adds what it finds. */
#ifndef PCT_CLI_RULES_H
#define PCT_CLI_RULES_H

#include "diagnosis.h"

/* rules_objects.c: locks and the like that are destroyed or unlocked while others use them. */
void pct_rules_objects(struct pct_diagnoses *out, const struct pct_history *history);

/* Of any run: descriptors that are closed while another thread is about to use them. */
void pct_rules_closed(struct pct_diagnoses *out, const struct pct_history *history);

/* rules_forked.c: of a run with a child process that waits for ever, what was locked when that was made. */
void pct_rules_forked(struct pct_diagnoses *out, const struct pct_history *history);

/* rules_waits.c: of a run that ended in a deadlock, who holds what the others wait for. */
void pct_rules_waits(struct pct_diagnoses *out, const struct pct_history *history, const struct pct_evidence *evidence);

/* rules_semaphores.c: of such a run, who did not post what others wait for. */
void pct_rules_semaphores(struct pct_diagnoses *out, const struct pct_history *history,
                          const struct pct_evidence *evidence);

/* Of any run: on which ways semaphores are posted, and which of them threads post that have not taken from them. */
void pct_rules_posts(const struct pct_history *history, struct pct_evidence *evidence, bool fails);

/* Whether the semaphore of this wait is used as a lock is, by this run and the others: who takes from it gives back.
 * evidence: may be NULL. */
bool pct_rules_semaphore_is_lock(const struct pct_history *history, const struct pct_moment *wait,
                                 const struct pct_evidence *evidence);

/* Whether the thread of this wait for a lock posts the semaphore of that step: it has done so before, or others who
 * come through the place of the wait do, in this run or by the evidence. evidence: may be NULL. */
bool pct_rules_comes_to_post(const struct pct_history *history, const struct pct_moment *wait,
                             const struct pct_moment *semaphore, const struct pct_evidence *evidence);

/* Of any run that fails: a semaphore that is given back twice; of any run that passes, those that were posted more
 * often than taken from. */
void pct_rules_too_many(struct pct_diagnoses *out, const struct pct_history *history,
                        const struct pct_evidence *evidence);
/* Of any run: who posts what it has not taken, where all others give back what they have. */
void pct_rules_untaken(struct pct_diagnoses *out, const struct pct_history *history);
void pct_rules_balances(const struct pct_history *history, struct pct_evidence *evidence);

/* rules_ended.c: of a run that ended in a deadlock, the thread that would wake this one (its wait on a condition
 * variable, a pending step) and has ended; or all who would, if they wait as well. Returns whether there is one. Of any
 * run: which threads signal what, and come to which barrier. */
bool pct_rules_ended(struct pct_diagnoses *out, const struct pct_history *history, uint32_t waiting,
                     const struct pct_evidence *evidence);

/* Of such a run, what has become of those others who signal what this thread waits for, in this run or at other times.
 */
enum pct_signallers { PCT_SIGNALLERS_UNKNOWN, PCT_SIGNALLERS_LEFT, PCT_SIGNALLERS_ENDED };
enum pct_signallers pct_rules_signallers(const struct pct_history *history, const struct pct_moment *wait,
                                         const struct pct_evidence *evidence);
void pct_rules_roles(const struct pct_history *history, struct pct_evidence *evidence, bool fails);

/* Of such a run, who does not come to a barrier any more, where others wait. */
void pct_rules_barriers(struct pct_diagnoses *out, const struct pct_history *history,
                        const struct pct_evidence *evidence);

/* Of such a run, a thread that has ended and did not come to the mutex of this wait, as others of its kind did, in this
 * run or in those that pass. Returns whether there is one. */
bool pct_rules_not_come(struct pct_diagnoses *out, const struct pct_history *history, uint32_t waiting,
                        const struct pct_evidence *evidence);

/* Of such a run, a thread that has ended and did not come to the word, such as a latch's, that another one waits for,
 * as others of its kind did. */
void pct_rules_not_counted(struct pct_diagnoses *out, const struct pct_history *history,
                           const struct pct_evidence *evidence);

/* rules_rounds.c: of such a run, who waits at a barrier that is made of a condition variable (this pending step),
 * because another one has come to the next round before it has looked. Returns whether it does. */
bool pct_rules_overtaken(struct pct_diagnoses *out, const struct pct_history *history, uint32_t waiting);

/* Of any run: who takes twice from a semaphore of what one of several who take from it has posted for all, while
 * another one stands there. */
void pct_rules_rounds(struct pct_diagnoses *out, const struct pct_history *history);

/* rules_parked.c: of such a run, who was woken twice before it looked, and waits; or that all who are left have
 * parked. */
void pct_rules_parked(struct pct_diagnoses *out, const struct pct_history *history);

/* rules_wakes.c: of such a run, why nobody woke those that wait on condition variables. */
void pct_rules_wakes(struct pct_diagnoses *out, const struct pct_history *history, const struct pct_evidence *evidence);

/* Of a run that fails in any way: who was woken, came second, and went on. */
void pct_rules_woken(struct pct_diagnoses *out, const struct pct_history *history, const struct pct_evidence *evidence);

/* Of such a run: who waited until its time was up, for a signal that had come before. */
void pct_rules_timed_out(struct pct_diagnoses *out, const struct pct_history *history,
                         const struct pct_evidence *evidence);

/* rules_late.c: of such a run, who was signalled, or is still worked for, when its time was up. */
void pct_rules_late(struct pct_diagnoses *out, const struct pct_history *history);

/* rules_passed.c: of a run that passes, how often each condition variable is signalled. */
void pct_rules_times(const struct pct_history *history, struct pct_evidence *evidence);

/* Of any run: at which places a section comes with a notice to a condition variable, or waits on one. */
void pct_rules_notices(const struct pct_history *history, struct pct_evidence *evidence, bool fails);

/* rules_atomicity.c: two steps of a thread that belong together, and another one comes between. */
void pct_rules_atomicity(struct pct_diagnoses *out, const struct pct_history *history);

/* rules_twice.c: what two threads do, and in every run that passed one alone; and what threads do in any run. */
void pct_rules_twice(struct pct_diagnoses *out, const struct pct_history *history, const struct pct_evidence *evidence);
void pct_rules_visits(const struct pct_history *history, struct pct_evidence *evidence, bool fails);

/* rules_starving.c: who waits on, while others come by more often than in any run that passed; and how often they do in
 * a run that passes. */
void pct_rules_starving(struct pct_diagnoses *out, const struct pct_history *history,
                        const struct pct_evidence *evidence);
void pct_rules_patience(const struct pct_history *history, struct pct_evidence *evidence);

/* rules_ending.c: what goes on while the program ends. */
void pct_rules_ending(struct pct_diagnoses *out, const struct pct_history *history);

/* rules_order.c: what came first in every run that passed and does not in this one; and what came first in any run. */
void pct_rules_order(struct pct_diagnoses *out, const struct pct_history *history, const struct pct_evidence *evidence);
void pct_rules_orders(const struct pct_history *history, struct pct_evidence *evidence, bool fails);

#endif
