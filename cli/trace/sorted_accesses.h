/* The accesses of a run by object, thread and time, for predict.h. A pure function, with memory from malloc. */
#ifndef PCT_CLI_SORTED_ACCESSES_H
#define PCT_CLI_SORTED_ACCESSES_H

#include "iroots.h"

/* sorted: room for count; accesses: in the order in which they were made, of threads below `threads`. False: there is
 * no memory. */
bool pct_accesses_sort(const struct pct_access *accesses, size_t count, uint32_t threads,
                       const struct pct_access **sorted);

/* The thread's last write to the object of the access at this place of the sorted ones before it (direction -1), or its
 * next one behind it (1). NULL: it is not near. */
const struct pct_access *pct_accesses_own_write(const struct pct_access *const *sorted, size_t count, size_t at,
                                                int direction);

#endif
