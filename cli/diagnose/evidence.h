/* What other runs say about a failing one: how often each pattern is found in runs that fail and in runs that pass. */
#ifndef PCT_CLI_EVIDENCE_H
#define PCT_CLI_EVIDENCE_H

#include "diagnosis.h"

/* In a run that passed, an access at one place came before the first one at another, on the same object. */
struct pct_evidence_pair {
    uint64_t address, first, then;
    uint64_t code; /* of the first one (struct pct_moment) */
    uint32_t step; /* of the first one, in the first such run */
    bool ways;     /* these are ways to places */
};

/* This many runs that pass say something about one that fails; fewer do not. */
enum { PCT_EVIDENCE_ENOUGH = 3 };

/* By which the score of what half of the runs that pass have, too, is less: no more than "likely". */
#define PCT_EVIDENCE_HINT 0.3

/* What one in this many of the runs that pass have, too, is common. */
enum { PCT_EVIDENCE_COMMON = 4 };

/* And no more than this. */
#define PCT_EVIDENCE_GUESS (0.95 * PCT_DIAGNOSIS_LIKELY)

/* By which the score of what the smallest run that fails does not have is less. */
#define PCT_EVIDENCE_NOT_NEEDED 0.4

/* This part of the runs that fail is nearly all of them. */
#define PCT_EVIDENCE_NEARLY_ALL 0.8

struct pct_evidence {
    unsigned failing, passing;  /* runs that were looked at */
    unsigned made, enough;      /* all that ended, those that failed otherwise among them; as many tell that all fail */
    unsigned drawn, drawn_fail; /* those with the failing one's random numbers, if it drew some; that fail alike */
    unsigned otherwise;         /* those that pass with other choices than failing ones: they are not looked at */
    struct pct_table rows;      /* by key */
    struct pct_evidence_pair *pairs;
    size_t pair_count, pair_room;
    bool least;        /* the smallest one that fails is known */
    bool full;         /* there was no memory for all */
    bool one_schedule; /* the failing run has no other: no more were made */
};

void pct_evidence_free(struct pct_evidence *evidence);

/* Whether every run fails, and there were enough: then nobody knows an order that passes. */
bool pct_evidence_all_fail(const struct pct_evidence *evidence);

/* Whether every run with the failing one's random numbers fails: then these may be to blame, and runs that have others
 * and pass tell nothing of an order. To say so takes PCT_EVIDENCE_DRAWN of them. */
enum { PCT_EVIDENCE_DRAWN = 10 };
bool pct_evidence_by_numbers(const struct pct_evidence *evidence);

/* Whether runs pass that have other choices (pct_choose()) than the failing one, and hardly one that has the same: then
 * these may be to blame. */
bool pct_evidence_by_choices(const struct pct_evidence *evidence);

/* That being so, keep what one run decides, and nothing else. */
void pct_evidence_drop(struct pct_diagnoses *diagnoses);

/* One more run: what the rules find in it, and what sections notify. */
void pct_evidence_add(struct pct_evidence *evidence, const struct pct_history *history, bool fails);

/* The smallest run that fails in the same way, behind all others: what is not found in it is not needed. */
void pct_evidence_least(struct pct_evidence *evidence, const struct pct_history *history);

/* Weigh the diagnoses of a run that was added as a failing one: those that one trace does not decide by the geometric
 * mean of their precision ef / (ef + ep), three times, and their recall ef / F, of F failing runs, ef and ep failing
 * and passing runs with the same key. Ochiai's coefficient (Abreu, Zoeteweij and van Gemund, "On the accuracy of
 * spectrum-based fault localization", 2007) has each once; but a program fails in several ways, and this one is to be
 * explained. A precision from few runs counts for less. Ranks them. */
void pct_evidence_weigh(const struct pct_evidence *evidence, struct pct_diagnoses *diagnoses);

/* For the rules. The key of a section at this place that notifies the condition variable at this address, or
 * of a way to a post of the semaphore there. */
uint64_t pct_evidence_notice(uint64_t place, uint64_t address);

/* Remember this key of the run that is being added, once; and whether any run had it. */
void pct_evidence_note(struct pct_evidence *evidence, uint64_t key, bool fails);
bool pct_evidence_has(const struct pct_evidence *evidence, uint64_t key);

/* The same of a run that passes, with what the key stands for; and how many of those, or of those
 * that fail, had a key. */
void pct_evidence_note_pair(struct pct_evidence *evidence, uint64_t key, const struct pct_evidence_pair *pair);
unsigned pct_evidence_passing(const struct pct_evidence *evidence, uint64_t key);
unsigned pct_evidence_failing(const struct pct_evidence *evidence, uint64_t key);

#endif
