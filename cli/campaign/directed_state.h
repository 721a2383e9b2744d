/* What a directed campaign knows: see directed.h. For its own files. */
#ifndef PCT_CLI_DIRECTED_STATE_H
#define PCT_CLI_DIRECTED_STATE_H

#include "iroot_sets.h"
#include "memo.h"
#include <cli/trace/orderings.h>
#include <common/config.h>

struct pct_run_spec;
struct pct_store;

/* An iRoot that was predicted: the one of this index in `sets.predicted`. */
struct pct_candidate {
    uint32_t tries, tried;   /* runs that were to force it, and of these such as were looked at */
    uint32_t alone, follows; /* of the first: those that follow no other run, and that do */
    bool younger;            /* these begin with younger threads first */
    enum { PCT_CANDIDATE_NEW, PCT_CANDIDATE_OPEN, PCT_CANDIDATE_KNOWN /* by the memo */ } state;
    const struct pct_iroot *exposed, *reverse; /* as far as it was, and (idiom 1) the other order; NULL: not so far */
};

/* A pattern that was guessed: the one of this index in `sets.guessed`. */
struct pct_further {
    uint32_t tries, tried;
    bool known;                      /* by the memo */
    const struct pct_iroot *exposed; /* as far as was looked */
};

/* A run that was decided. */
struct pct_directed_run {
    size_t forces; /* its candidate; SIZE_MAX: it is a profile run */
    bool further;  /* that is one of the guessed patterns */
    bool looked;   /* its steps have places, and it is looked at */
    uint64_t seed; /* and what else makes it the run that it is, for those that follow it */
    uint32_t order;
    uint32_t phases;         /* of its list, and that of a profile run */
    uint64_t followed, upto; /* the number of the run that it is, up to this step; 0: none */
    char *list;              /* NULL: none */
};

enum { PCT_DIRECTED_KIN = 1 << 12 /* counters: those of several kinds may be one */ };

/* What a campaign with directed runs knows. Runs are decided in candidates.c, with kin.c and further.c, and looked at,
 * in their order, in directed.c; directed_part.c and memo.c write what only they have. */
struct pct_directed {
    bool directs;      /* or it only looks at what the runs have exposed */
    bool part;         /* of the campaign's runs, a part: the others are drawn by another strategy */
    uint64_t turns;    /* of the part: runs that it could have had */
    uint64_t too_long; /* the first run that was too long to be looked at, which ends the part; 0: none was */
    struct pct_iroot_sets sets;
    struct pct_memo memo;
    struct pct_candidate *candidate;
    size_t candidates;                     /* there is room for */
    uint8_t begun[PCT_DIRECTED_KIN];       /* candidates of these functions (a hash) whose tries have begun */
    uint16_t begun_with[PCT_DIRECTED_KIN]; /* likewise, that have this dependency */
    struct pct_further *further;
    size_t furthers; /* likewise */
    uint64_t taken;  /* runs that were looked at */
    size_t *upto;    /* of run n, from 1: this many were predicted by it and the runs before it */
    size_t uptos;
    struct pct_directed_run *run; /* from 0; as many as were decided */
    size_t room;
    uint64_t decided;
    uint64_t shared;  /* accesses in all runs to what threads can share */
    uint64_t outside; /* the first run in which something came from outside while no thread could go on; 0: none */
    bool outside_saved;
};

enum { PCT_DIRECTED_TEXT = 64 };

/* An iRoot as tokens have it: the idiom, and operation and place of each access. Returns `text`, of PCT_DIRECTED_TEXT
 * bytes. */
const char *pct_directed_format(char *text, const struct pct_iroot_sets *sets, const struct pct_iroot *root);

/* Room for this many runs and one more, and for all that was predicted and guessed. False: there is no memory. */
bool pct_directed_make_room(struct pct_directed *d, uint64_t runs);

/* What is known when the run of this number is decided: what came of this many runs. */
uint64_t pct_directed_known_by(const struct pct_directed *d, uint64_t index);

bool pct_directed_is_profile_run(const struct pct_directed *d, uint64_t index);

/* Whether the last profile runs among the first `known` runs have predicted nothing new. */
bool pct_directed_is_profiled(const struct pct_directed *d, uint64_t known);

/* Whether this candidate is still to be tried: it was neither exposed nor tried often enough. */
bool pct_directed_is_left(struct pct_directed *d, size_t i);

/* Whether the runs of a default campaign may have a directed part, but for what its file says. */
bool pct_directed_may_be_part(const struct pct_campaign *c);

/* Likewise of pct_directed_next(), of such a part. */
int pct_directed_part_next(struct pct_campaign *c, uint64_t index, struct pct_run_spec *spec);

/* A run of the part had this many steps: note whether that ends it. Returns whether it is looked at all the same. */
bool pct_directed_part_looks(struct pct_directed *d, uint64_t run, uint64_t steps);

/* Find out again what the runs of the file have been, of which this many were made. Returns likewise of
 * pct_directed_read(). */
int pct_directed_part_replay(struct pct_directed *d, struct pct_store *store);

/* This run was looked at: if it forced something, that is one try more. */
void pct_directed_count_try(struct pct_directed *d, uint64_t index);

/* The run of this number, the next one, is drawn by another strategy. False: there is no memory. */
bool pct_directed_draw(struct pct_directed *d, uint64_t index, uint64_t seed, bool looked);

/* Decide what the run of this number is. fresh: it may only force what no run was to force yet. False: there is no
 * memory. */
bool pct_directed_choose(struct pct_directed *d, uint64_t index, bool fresh, struct pct_config *config);

/* The run of this number, the next one, is to force this candidate (SIZE_MAX: none), by what is known of this many
 * runs: make this, which is a profile run's, its configuration. False: there is no memory. For bench/maple/measure. */
bool pct_directed_decide(struct pct_directed *d, uint64_t index, size_t candidate, uint64_t known,
                         struct pct_config *config);

/* Whether the tries of this candidate, which begin now, begin with younger threads first: every other one of those
 * whose accesses are in the same functions does, the others begin with older ones. kin.c */
bool pct_directed_begins_younger(struct pct_directed *d, const struct pct_iroot *root);

/* How many candidates that have a dependency of this one's are tried already; now this one is, too. kin.c */
uint32_t pct_directed_kin(const struct pct_directed *d, const struct pct_iroot *root);
void pct_directed_begin_kin(struct pct_directed *d, const struct pct_iroot *root);

/* Begin: patterns that are guessed, and combined ones that are exposed, are as many as can be tried. further.c */
void pct_further_begin(struct pct_directed *d);

/* Guess from this run, which was looked at and has these accesses and orderings. first: none before it was asked.
 * Returns 0 or -ENOMEM. */
int pct_further_guess(struct pct_directed *d, const struct pct_orderings *orderings, const struct pct_access *accesses,
                      size_t count, uint64_t run, bool first);

/* Whether the run of this number may force one, where nothing else is left to be tried: two runs of four, of the first
 * that do; then one, as what chance draws may find more. */
bool pct_further_is_turn(const struct pct_directed *d, uint64_t index);

/* The guessed pattern that is to be forced next, by what is known of this many runs; SIZE_MAX: none is left. */
size_t pct_further_choose(struct pct_directed *d, uint64_t known);

/* It is to be forced once more: by this order of maple. */
uint32_t pct_further_order(struct pct_further *further);

/* Whether some run has exposed this one. */
bool pct_further_is_exposed(const struct pct_directed *d, size_t i);

/* Print what came of them, if some were forced. */
void pct_further_say(const struct pct_directed *d);

/* Whether the memo knows this iRoot: of idiom 5, with either dependency as the first; of a combined one, both. */
bool pct_directed_is_known(const struct pct_directed *d, const struct pct_iroot *root);

/* What the campaign of this file, which has this many runs, knows. *d has no more than where places are. Of files that
 * were merged it is not known what their runs have tried: then it directs nothing. Returns 0, or a negative errno of
 * the store; -EINVAL: its tables contradict themselves. */
int pct_directed_read(struct pct_directed *d, struct pct_store *store, uint64_t runs);

/* What d has, but for itself. */
void pct_directed_close(struct pct_directed *d);

#endif
