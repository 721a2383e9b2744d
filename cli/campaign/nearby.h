/* Runs near a failing one: its list of switches with a few of them left out, moved, made to another thread, or one
 * more. About half of them fail as it does, and what tells those apart from the others is what the failure needs:
 * unrelated schedules tell that of a failure that is rare no better than by what most runs have. Pure; on the command's
 * only thread. */
#ifndef PCT_CLI_NEARBY_H
#define PCT_CLI_NEARBY_H

#include <cli/trace/switches.h>

struct pct_nearby {
    struct pct_switches switches; /* of the failing run */
    uint32_t threads;             /* ids are below this */
    struct pct_config config;     /* of all of these runs, by the strategy `schedule`; the list is given apart */
};

/* config: of the run with this trace. False: it has no such runs, since it has no switches, or memory is short. To be
 * closed in any case. */
bool pct_nearby_open(struct pct_nearby *nearby, const struct pct_config *config, const struct pct_trace *trace);
void pct_nearby_close(struct pct_nearby *nearby);

/* The list of the run of this number, any. To be freed; NULL if there is no memory. */
char *pct_nearby_get(const struct pct_nearby *nearby, uint64_t number);

#endif
