/* How many classes of schedules there are, at least, before they are explored: from random schedules, and how often
 * each class came among them (Chao: Nonparametric Estimation of the Number of Classes in a Population, 1984; the
 * interval: Chao 1987). Classes that random schedules hardly ever come to count less than they should, so that it is an
 * estimate of a lower bound. Knuth's estimator, of the tree that sleep sets prune, was tried: most probes end in a
 * redundant run, and 300 of them often say 0. Pure; memory from malloc. */
#ifndef PCT_CLI_ESTIMATE_H
#define PCT_CLI_ESTIMATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Classes that were seen, and how often. Begin with zeroes. */
struct pct_estimate {
    struct pct_seen {
        uint64_t class_, times;
    } * seen;
    size_t count, room;
    uint64_t probes; /* all random schedules, */
    uint64_t passed; /* and those that were of no class */
};

struct pct_estimate_result {
    double classes, low, high; /* 95 % */
    bool open;                 /* hardly any came twice: nothing is known of how many there are beyond `low` */
};

/* A random schedule was of this class. Returns 0 or -ENOMEM. */
int pct_estimate_add(struct pct_estimate *estimate, uint64_t class_);

/* A random schedule was of no class: a loop that waits for memory has made a round without progress. */
void pct_estimate_pass(struct pct_estimate *estimate);

struct pct_estimate_result pct_estimate_result(const struct pct_estimate *estimate);
void pct_estimate_free(struct pct_estimate *estimate);

#endif
