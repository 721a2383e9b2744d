/* What went wrong in a run: what the rules found, best first. The table of all rules. */
#ifndef PCT_CLI_DIAGNOSES_H
#define PCT_CLI_DIAGNOSES_H

#include "history.h"
#include <cli/base/table.h>

/* X(identifier, base, decides, words, sentence). base: how good a rule is, from 1 to 10. decides: one trace is enough;
 * of the others, other runs tell whether the pattern has to do with the failure. In a sentence, behind @ and a letter
 * stands the number of one of the diagnosis's steps: t: its thread; o: its object; s: its number; v: the operation. */
#define PCT_RULES(X)                                                                                                   \
    X(USE_AFTER_DESTROY, 10, true, "use after destroy",                                                                \
      "thread @t0 destroys @o0 (@s0) while thread @t1 is about to use it: @v1")                                        \
    X(WAITS_FOR_DESTROYED, 10, true, "use after destroy",                                                              \
      "thread @t0 destroys @o0 (@s0); thread @t1 waits for what is left at its address: @v1")                          \
    X(DESTROYED_WHILE_HELD, 10, true, "destroyed while held",                                                          \
      "thread @t1 destroys @o1 (@s1), which thread @t0 has held since @s0")                                            \
    X(FOREIGN_UNLOCK, 9, true, "unlocked by another thread",                                                           \
      "thread @t1 unlocks @o1 (@s1), which thread @t0 has held since @s0")                                             \
    X(ENDS_WITH_LOCK, 10, true, "a thread ends with a lock held",                                                      \
      "thread @t0 ends (@s1) and still holds @o0, for which thread @t2 waits")                                         \
    X(HELD_AT_FORK, 10, true, "held at a fork",                                                                        \
      "thread @t1 forks (@s1) while thread @t0 holds @o0, since @s0. The child has the lock and not the thread that "  \
      "would give it back, and waits for it")                                                                          \
    X(SELF_DEADLOCK, 10, true, "a thread waits for itself",                                                            \
      "thread @t0 waits for @o1, which it holds itself since @s0")                                                     \
    X(RELOCKED, 10, true, "wait cycle",                                                                                \
      "thread @t0 has @o0 for reading (@s0) and takes it for reading once more; thread @t2, which wants to write and " \
      "waits for thread @t0, comes first")                                                                             \
    X(WAIT_CYCLE, 10, true, "wait cycle",                                                                              \
      "threads wait for each other: each holds, or will not give, what the next one needs")                            \
    X(WAITS_WITH_LOCK, 9, true, "waits with a lock held",                                                              \
      "thread @t0 waits on @o1 and still holds @o0, which thread @t2 needs")                                           \
    X(NOBODY_LEFT, 8, true, "nobody is left to do it",                                                                 \
      "thread @t0 wakes those that wait on @o0 (@s0), but none does, and it waits for something else: @v1. "           \
      "So do all threads that wait on it at other times")                                                              \
    X(LOST_WAKEUP, 10, true, "lost wake-up",                                                                           \
      "thread @t1 signals @o1 (@s1) between thread @t0's look (@s0) and its wait (@s2), without the mutex "            \
      "that thread @t0 waits with")                                                                                    \
    X(WRONG_WAITER, 9.5, true, "the signal woke the wrong waiter",                                                     \
      "thread @t1's signal (@s1) woke thread @t2, which waited again at once, and not thread @t0, which "              \
      "waits at another place. One condition serves two purposes, and a signal wakes one thread: "                     \
      "broadcast, or use two conditions")                                                                              \
    X(WRONG_OF_SAME, 7.5, true, "the signal woke the wrong waiter",                                                    \
      "thread @t1's signal (@s1) woke thread @t2, which looked and waited again at once (@s2), and not "               \
      "thread @t0, which waited as well: it was not for the one that it woke. A signal wakes one thread: "             \
      "broadcast, or have a condition for each")                                                                       \
    X(NO_NOTICE, 8, true, "change without a notice",                                                                   \
      "thread @t0 waits on @o0; thread @t1 goes through this section (@s1) without a signal, and at other "            \
      "times one is sent there")                                                                                       \
    X(TELLS_OTHERS, 6.5, true, "change without a notice",                                                              \
      "thread @t0 waits on @o0; thread @t1 (@s1) wakes all who wait on @o2 with the same mutex, but nobody "           \
      "who waits on @o0, and no other thread does so later")                                                           \
    X(NO_POST, 7, true, "a missing post",                                                                              \
      "thread @t0 waits for @o0; thread @t1 comes through here (@s1) without a post, and at other times "              \
      "one is made here")                                                                                              \
    X(ONE_POST, 4.5, true, "a missing post",                                                                           \
      "thread @t1's post (@s1) lets thread @t2 go on, and nobody posts after that for thread @t0, which had come by "  \
      "then as well. A post lets one thread go on: each of them needs one")                                            \
    X(HAS_ENDED, 6, true, "who would signal has ended",                                                                \
      "thread @t0 waits on @o0; thread @t1, which signals it at other times, has ended (@s1)")                         \
    X(LEFT_BARRIER, 7, true, "who would come has ended",                                                               \
      "thread @t0 waits at @o0; thread @t1, which comes to it at other times, has ended (@s1)")                        \
    X(TAKEN_BACK, 6.2, true, "woken too late",                                                                         \
      "thread @t0 wakes thread @t2 (@s0), but thread @t1 comes first (@s1): what thread @t2 was woken for "            \
      "no longer holds, so it waits again (@s2), and nobody signals after that")                                       \
    X(OVERTAKEN, 6.4, true, "woken too late",                                                                          \
      "thread @t0 lets all go on (@s0), but thread @t1 comes here again (@s1) before thread @t2 has looked, which "    \
      "waits again (@s2), and nobody signals after that: what they look at has to tell one round from the next")       \
    X(HELD_BETWEEN, 6.2, true, "looked too late",                                                                      \
      "all that is signalled on @o3 in runs that pass has been, the last of it by thread @t1 (@s1), before thread "    \
      "@t2 looks (@s2) and waits: what it waits for came true by an earlier signal, and no longer is. It has to "      \
      "stay true until who waits has seen it")                                                                         \
    X(SIGNALLED_BEFORE, 8, true, "the signal came before the wait",                                                    \
      "thread @t1 signals @o1 (@s1) before anybody waits for it; thread @t0 then waits (@s2) without "                 \
      "looking whether it has come: in no run does it pass here without a wait. A wait belongs in a loop "             \
      "that looks first")                                                                                              \
    X(MERGED, 4.6, true, "lost wake-up",                                                                               \
      "thread @t0 (@s0) and thread @t1 (@s1) wake thread @t2 before it has looked, which sees one wake-up and then "   \
      "waits for another (@s2): each time it has to look until nothing is left")                                       \
    X(NOT_COME, 6.4, true, "who would come has ended",                                                                 \
      "thread @t0 waits on @o0; thread @t1 has ended (@s1) and has never taken the mutex of that wait, as others of "  \
      "its kind do")                                                                                                   \
    X(NOT_COUNTED, 6.4, true, "who would come has ended",                                                              \
      "thread @t0 waits on @o0; thread @t1 has ended (@s1) and has not come to it, as thread @t2 (@s2), which is "     \
      "one of its kind, did")                                                                                          \
    X(ALL_WAIT, 5, true, "nobody is left to do it",                                                                    \
      "thread @t0 waits on @o0, and all who signal it at other times wait, too: each may wait for what another one "   \
      "has to do")                                                                                                     \
    X(ONE_OF_SEVERAL, 4.5, true, "the signal woke one of several",                                                     \
      "thread @t1's signal (@s1) woke thread @t2 alone, and nobody wakes thread @t0, which had waited as well since "  \
      "@s0. A signal wakes one thread: if all are meant, broadcast")                                                   \
    X(UNTOLD, 4.4, true, "change without a notice",                                                                    \
      "thread @t0 waits on @o0; after that thread @t1 goes through this section (@s1), and neither it nor anybody "    \
      "else signals. If it changes what thread @t0 waits for, it has to")                                              \
    X(ALL_PARKED, 4.3, true, "nobody is left to do it",                                                                \
      "thread @t0 waits on @o0 (@s0) and thread @t1 on @o1 (@s1), and all others wait for the end of such threads: "   \
      "each may wait for what another one has to do")                                                                  \
    X(NOBODY_SIGNALS, 4, true, "nobody signals", "nothing signalled @o0 after thread @t0 began to wait at @s0")        \
    X(USE_AFTER_CLOSE, 8, false, "use after close",                                                                    \
      "thread @t0 closes @o0 (@s0) while thread @t1 is about to use that number: @v1. It may be another file's by "    \
      "then")                                                                                                          \
    X(CLOSED_TWICE, 8.8, false, "use after close",                                                                     \
      "thread @t0 closes @o0 (@s0), and thread @t2 closes that number once more (@s2), which is another file's by "    \
      "then, that thread @t1 uses (@s1)")                                                                              \
    X(NOT_WAITED_FOR, 7, false, "a thread is not waited for",                                                          \
      "thread @t0 ends the program (@s0) and then uses @o1 (@s1), which thread @t2, still running, uses "              \
      "after that (@s2)")                                                                                              \
    X(TIMED_OUT, 7, false, "the signal came before the wait",                                                          \
      "thread @t1 signals @o1 (@s1) before anybody waits for it; thread @t0 then waits (@s2) until its time is up, "   \
      "without looking whether it has come. A wait belongs in a loop that looks first")                                \
    X(SIGNALLED_LATE, 7, false, "the signal came too late",                                                            \
      "thread @t1 signals @o1 (@s1) when the time of thread @t0, which waits for it, is up: thread @t0 goes on as if " \
      "nothing had come (@s2)")                                                                                        \
    X(WRONG_IN_TIME, 7.5, false, "the signal woke the wrong waiter",                                                   \
      "thread @t1's signal (@s1) woke thread @t2, which looked and waited again at once (@s2), and not thread @t0, "   \
      "which waited as well, until its time was up (@s3). A signal wakes one thread: broadcast, or have a condition "  \
      "for each")                                                                                                      \
    X(ANSWERED_LATE, 7, false, "a wait that timed out",                                                                \
      "thread @t0 waits for a time (@s0) and then goes away (@s2), while thread @t1 has begun (@s1) what it waited "   \
      "for, and ends it all the same (@s3)")                                                                           \
    X(NOT_LOOKED_AGAIN, 5, false, "condition not looked at again",                                                     \
      "thread @t0 wakes thread @t2 (@s0); thread @t1 comes in between (@s1), and thread @t2 goes on (@s2) "            \
      "without waiting again. A wait belongs in a loop that looks again")                                              \
    X(WOKEN_SECOND, 5, false, "order violation",                                                                       \
      "thread @t0 wakes thread @t2 (@s0), but thread @t1 comes first (@s1), and thread @t2 goes on after "             \
      "it (@s2)")                                                                                                      \
    X(TAKEN_TWICE, 7, false, "order violation",                                                                        \
      "thread @t0 lets several go on by @o0 (@s0); thread @t1 goes (@s1), comes again and goes once more (@s2) "       \
      "before thread @t3 has: what lets them go has to tell one round from the next")                                  \
    X(NOT_THE_SAME_LOCK, 7, false, "not the same lock",                                                                \
      "thread @t0's accesses at @s0 and @s2 belong together under one lock; thread @t1's (@s1) comes between, under "  \
      "another lock")                                                                                                  \
    X(ATOMICITY, 6, false, "atomicity violation",                                                                      \
      "what thread @t0 does at @s0 and @s2 belongs together; thread @t1 comes between, at @s1")                        \
    X(ORDER_MISSING, 4.9, false, "order violation",                                                                    \
      "thread @t0 does this (@s0) before what came first in every run that passed")                                    \
    X(TWICE, 4.6, false, "done twice",                                                                                 \
      "thread @t0 (@s0) and thread @t1 (@s1) both do this, which in every run that passed one thread alone does")      \
    X(STARVES, 5.5, false, "starvation",                                                                               \
      "thread @t0 waits on @o0 since @s0; others come through here again and again (from @s1 to @s2), more often "     \
      "than "                                                                                                          \
      "in any run that passed")                                                                                        \
    X(TOO_MANY_POSTS, 9, false, "a post too many",                                                                     \
      "thread @t1 posts @o1 (@s1) although it has given back (@s0) all that it had taken: one too many may "           \
      "pass, such as thread @t2 (@s2)")                                                                                \
    X(POSTS_UNTAKEN, 8, false, "a post too many",                                                                      \
      "thread @t0 posts @o0 (@s0), which it has not taken; all others give back what they have: one too many may "     \
      "pass, such as thread @t1 (@s1)")

enum pct_rule {
#define PCT_RULE_ENUM(id, base, decides, words, sentence) PCT_RULE_##id,
    PCT_RULES(PCT_RULE_ENUM)
#undef PCT_RULE_ENUM
        PCT_RULE_COUNT
};

/* Whether the rule speaks only where other runs are known, by what those that passed have in common. */
bool pct_rule_compares(enum pct_rule rule);

/* Whether the pattern is seldom found, and seldom without a fault: one trace does not decide, but it is worth saying
 * where there is no run to compare with. */
bool pct_rule_is_rare(enum pct_rule rule);

/* Whether it tells of a time that is up, which is virtual. */
bool pct_rule_is_of_time(enum pct_rule rule);

const char *pct_rule_words(enum pct_rule rule);
const char *pct_rule_sentence(enum pct_rule rule);
bool pct_rule_decides(enum pct_rule rule);

enum { PCT_DIAGNOSIS_STEPS = 8 };

struct pct_diagnosis {
    enum pct_rule rule;
    unsigned count;
    uint32_t step[PCT_DIAGNOSIS_STEPS];    /* of the history; those that the sentence speaks of first */
    const char *note[PCT_DIAGNOSIS_STEPS]; /* beside a step, or NULL */
    uint64_t absent;           /* an address of code that the run did not come to, and others did; 0: none */
    uint32_t absent_step;      /* where one of those did; 0: there is none */
    double base;               /* of this one */
    double score;              /* from what is above, and from other runs (evidence.h) */
    uint64_t key;              /* the same in other runs: the rule and the ways to the places */
    uint64_t place_key;        /* the rule and the places alone */
    unsigned failing, passing; /* runs that had it */
    double share;              /* how well other runs tell, from 0 to 1 (evidence.h) */
    bool shows;                /* an operation of this run fails by it: what is not needed elsewhere is needed here */
    bool unneeded;             /* the smallest run that fails has not got it */
    bool common;               /* many of the runs that pass have it, too (evidence.h) */
    bool tried;                /* with what comes between the run fails, and without it passes */
    unsigned without;          /* of a rule that compares: runs that failed as well, and had not */
};

struct pct_diagnoses {
    const struct pct_history *history;
    struct pct_diagnosis *item; /* one for each key: the one with the best score */
    size_t count, room;
    struct pct_table by_key; /* numbers of items, from 1: uint32_t */
    bool full;               /* there was no memory for all */
};

/* Below this, say "likely". */
#define PCT_DIAGNOSIS_LIKELY 2.0

/* Above this part of a better one's score, nearly as good. */
#define PCT_DIAGNOSIS_CLOSE 0.75

/* The base of a rule that one run decides and that names what was done wrongly, not what came of it. */
#define PCT_DIAGNOSIS_DECISIVE 6.2

/* What other runs speak for scores less than this, whatever they show (rules' bases, near the end, and tried). */
#define PCT_DIAGNOSIS_FINAL 10.0

/* By which a pattern that good runs have, too, counts less where the run ended in a deadlock. */
#define PCT_DIAGNOSIS_IN_DEADLOCK 0.6

/* Whether no more than "likely" is to be said: what is common, and was not tried, may have come of the cause. */
static inline bool pct_diagnosis_is_likely(const struct pct_diagnosis *d)
{
    return d->score < PCT_DIAGNOSIS_LIKELY || (d->common && !d->tried);
}

/* Apply all rules. notices: of other runs, may be NULL (rules.h). To be freed in any case. */
struct pct_evidence;
void pct_diagnoses_find(struct pct_diagnoses *diagnoses, const struct pct_history *history,
                        const struct pct_evidence *evidence);
void pct_diagnoses_free(struct pct_diagnoses *diagnoses);

/* Best first; what is said of the same places by a lesser rule goes. */
void pct_diagnoses_rank(struct pct_diagnoses *diagnoses);

/* For the rules: one more; `count` steps follow, those with which the pattern begins and ends among them. base: 0: the
 * rule's. Returns it, to be completed, until the next call; NULL: there is a better one of the same key. */
struct pct_diagnosis *pct_diagnoses_add(struct pct_diagnoses *diagnoses, enum pct_rule rule, double base,
                                        unsigned count, const uint32_t *steps);

#endif
