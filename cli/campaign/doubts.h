/* Runs of the engine that were cut, as they took far longer than the others: each is made again without that, which
 * decides what it is (cli/process/time_limit.h). That takes up to --timeout, so where the engine defers it, other runs
 * are made first: as many as may wait for their turn, or until the source has none before this one is decided. For
 * engine.c alone, on its thread. */
#ifndef PCT_CLI_DOUBTS_H
#define PCT_CLI_DOUBTS_H

#include "engine_state.h"

/* The run in this place has ended. Whether it was cut, and is made again, now or later: the place is free then. */
bool pct_doubts_take(struct pct_engine *engine, unsigned place);

/* Nothing else can begin: make again what was cut, unless others have shown since that it can be believed. Returns
 * whether some are decided thereby, and wait for their turn. */
bool pct_doubts_decide(struct pct_engine *engine);

/* The run in this place has ended, and waits for its turn. If it was made again, it is decided which of the two does.
 */
void pct_doubts_put_aside(struct pct_engine_state *s, unsigned place);

/* Whether this worker makes a run again, which may take long: no other is to wait for that. */
bool pct_doubts_busy(const struct pct_engine *engine, unsigned worker);

/* The lowest number of those that were cut and are not decided; UINT64_MAX: there is none. */
uint64_t pct_doubts_lowest(const struct pct_engine_state *s);

/* Of this run, if it is one that is made again, what it was before; NULL: nothing. */
struct pct_engine_doubt *pct_doubts_find(struct pct_engine_state *s, const struct pct_process *process);

/* It is none any more. Its process is the caller's. */
void pct_doubts_close(struct pct_engine_state *s, struct pct_engine_doubt *doubt);

/* Those with these numbers, the last one included, that are not begun again, are not wanted. */
void pct_doubts_forget(struct pct_engine *engine, uint64_t first, uint64_t last);

/* Nothing goes on in this place any more. */
void pct_doubts_leave(struct pct_engine_state *s, unsigned place);

/* Remove this scratch file, if there is one. */
void pct_doubts_drop_list(struct pct_engine_list *list);

#endif
