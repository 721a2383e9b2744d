/* The campaign of the strategy `maple` (strategies/maple.c): which of its runs are profile runs, and which iRoot each
 * of the others is to force. Yu et al., Maple, OOPSLA 2012, sections 3, 5 and 6.1.
 *
 * Every run is looked at, whatever it was: what it has exposed, and what it predicts (cli/trace/iroots.h, predict.h).
 * An iRoot that was predicted and not exposed is a candidate. Each is tried in up to PCT_DIRECTED_TRIES runs: with
 * older threads first, with younger ones first (Maple, section 4.3; of those in the same functions every other one the
 * other way round), then such as are up to some step one of the runs
 * that predicted it, so that what it needs to have happened before has; without one, in other orders. When something
 * has come from outside in some run, the first two wait for that (4.6). All are tried once before any is tried again,
 * but where some steps are known to expose one: that second try goes with the first ones.
 * One in three runs is a profile run, until three of them in a row have predicted nothing new; so the search begins
 * before the profile is complete, unlike the paper's. When no candidate is left but those of idiom 6, which no bug of
 * the paper's is, of four runs one forces one of these, two (three when these are tried, too) one of all once more, in
 * an order that changes at random; one is a profile run.
 *
 * What a run is depends on the runs before it, but not on how many are made at a time: later runs look less far ahead
 * than the first ones, of which each knows all before it. */
#ifndef PCT_CLI_DIRECTED_H
#define PCT_CLI_DIRECTED_H

#include "engine.h"

/* How runs of a campaign are directed, as its file has it: in `directed` where others are drawn, else in `tries`. What
 * other numbers have decided cannot be decided again. */
enum { PCT_DIRECTED_PART = 8, PCT_DIRECTED_WHOLE = 6 };

enum { PCT_DIRECTED_TRIES = 6, PCT_DIRECTED_WINDOW = 40 /* steps, of a thread */ };

struct pct_campaign;
struct pct_directed;

/* Whether the runs of a campaign with this strategy and these parameters are decided here. */
bool pct_directed_may(const struct pct_campaign *c);

/* If the strategy of this campaign is maple, and has no iRoot of its own, its runs are decided here from now on.
 * Returns 0, or an exit status after a message. Before pct_launch_prepare(). */
int pct_directed_begin(struct pct_campaign *c);

/* Whether the runs of a campaign are directed in part. */
bool pct_directed_is_part(const struct pct_campaign *c);

/* Whether the run of this number, which was begun, is to force an iRoot, in a campaign of which others are drawn. */
bool pct_directed_has(const struct pct_campaign *c, uint64_t index);

/* Whether the run of this number may be directed in such a campaign, whatever other parts it has. */
bool pct_directed_takes(const struct pct_campaign *c, uint64_t index);

/* Behind pct_launch_prepare(): where no run would show accesses to memory, a campaign has no directed part. */
void pct_directed_settle(struct pct_campaign *c);

/* What the run of this number is. Returns PCT_RUNS_ON; PCT_RUNS_WAIT: another run is to be looked at before; or an exit
 * status, after a message. */
int pct_directed_next(struct pct_campaign *c, uint64_t index, struct pct_run_spec *spec);

/* A run was looked at, in its order. Returns 0, or an exit status after a message. */
int pct_directed_take(struct pct_campaign *c, const struct pct_result *result);

/* Whether the campaign is to end by --until-saturated (c->until_saturated): this many runs in a row have exposed
 * nothing new, and of what was predicted all was exposed, or tried as often as it may be. Only runs that were looked at
 * count, so that it does not depend on how many are made at a time. */
bool pct_directed_is_saturated(const struct pct_campaign *c);

/* Write down what is new since the last time; take over what the file of this name has of the runs that are done.
 * Return 0, a negative errno of the store, or an exit status after a message: that contradicts itself.
 */
struct pct_store;
int pct_directed_save(struct pct_campaign *c, struct pct_store *store);
int pct_directed_load(struct pct_campaign *c, struct pct_store *store, const char *path);

/* Print what came of it, as lines of the summary. */
void pct_directed_say(const struct pct_campaign *c);

/* That no run has used anything that threads can share, and what to do. */
void pct_directed_say_unshared(const struct pct_campaign *c);

void pct_directed_free(struct pct_campaign *c);

#endif
