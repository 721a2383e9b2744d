/* What is still to be tried in the place of an event, as a tree of sequences (a wakeup tree), and whose events sleep
 * there. Parts of the search (search.c). Memory from malloc. */
#ifndef PCT_CLI_WAKEUP_H
#define PCT_CLI_WAKEUP_H

#include "order.h"

/* A step of a sequence that is to be tried. There are many of these: the memory of an event here ends behind the last
 * touch that it has, so pct_event_copy() copies it. */
struct pct_branch {
    struct pct_branch *first, *next;
    bool alternative; /* of the event that was tried last in its place: another waiter is woken */
    bool ahead;       /* pct_search_ahead() has named it */
    struct pct_event event;
};

/* One who sleeps, of a list that several nodes share: along a path most sleep on. */
struct pct_sleeper {
    struct pct_sleeper *next;
    uint32_t lists;         /* that begin here, or go on here */
    struct pct_event event; /* likewise */
};

void pct_wakeup_free(struct pct_branch *branch);
void pct_sleepers_free(struct pct_sleeper *sleepers); /* what no other list shares */

/* A branch that is this event. NULL: no memory. */
struct pct_branch *pct_wakeup_new(const struct pct_event *event);

/* Whether the event that came is what was to be tried, as far as that was known. */
bool pct_wakeup_came(const struct pct_branch *branch, const struct pct_event *event);

/* A sleeper that is this event, before the others: the list that begins with it, in the place of theirs. NULL: no
 * memory. */
struct pct_sleeper *pct_sleeper_new(const struct pct_event *event, struct pct_sleeper *next);

enum { PCT_WAKEUP_ASKS = 2 };

/* Try this sequence, which is changed, too, unless what is tried already covers it, a sleeper could begin it, or one
 * that is held stands at its beginning. The rest (known: whether it is there) commutes with the last of the first
 * `least` events. It is tried only as far as it takes not to be covered; that one comes behind it, as it is not known
 * what it finds. Returns 1: it was added; 0: it was not; PCT_WAKEUP_ASKS: that depends on the rest; or -ENOMEM. */
int pct_wakeup_insert(struct pct_branch **open, const struct pct_sleeper *sleepers, const struct pct_sleeper *held,
                      struct pct_event *sequence, uint32_t count, uint32_t least, enum pct_rest known);

/* This event was tried, and turns out to commute with more than it was taken to: what is to be tried in its place, and
 * could as well begin with it, is to be tried behind it, where these sleep or are held. Returns how many sequences are
 * no longer to be tried at all, or -ENOMEM. */
int pct_wakeup_move(struct pct_branch **open, const struct pct_event *event, struct pct_branch **to,
                    const struct pct_sleeper *sleepers, const struct pct_sleeper *held);

uint64_t pct_wakeup_leaves(const struct pct_branch *branch);

/* *to: a list of those that still sleep behind this event; NULL: all. It shares with the other list what is the same to
 * the end, and is to be freed, too, also where there is no memory. Returns 0 or -ENOMEM. */
int pct_sleepers_pass(struct pct_sleeper *sleepers, const struct pct_event *made, struct pct_sleeper **to);

bool pct_sleepers_have(const struct pct_sleeper *sleepers, uint32_t thread);

#endif
