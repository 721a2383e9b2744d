/* A search that is divided among shards, which know nothing of each other. Each makes the same first runs, and so comes
 * to the same parts: beginnings of schedules, and who is held behind them (search.h), so that each class of schedules
 * belongs to one part. A shard searches those parts whose turn it is. Knows nothing of processes; the part of search.h
 * that makes searches of shards. Memory from malloc; one thread. */
#ifndef PCT_CLI_DIVIDED_H
#define PCT_CLI_DIVIDED_H

#include "search.h"

struct pct_divided;

/* As pct_search_new_shard(). */
struct pct_divided *pct_divided_new(unsigned shard, unsigned of, unsigned parts);
void pct_divided_free(struct pct_divided *d);

/* As those of search.h; *facts: of all that was searched so far. Runs that divide count as redundant. */
bool pct_divided_next(struct pct_divided *d, const uint32_t **plan, uint32_t *count, struct pct_search_facts *facts);
bool pct_divided_ahead(struct pct_divided *d, const uint32_t **plan, uint32_t *count);
int pct_divided_take(struct pct_divided *d, struct pct_execution *execution, uint64_t *class_,
                     struct pct_search_facts *facts);

#endif
