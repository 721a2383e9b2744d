/* Which accesses of a run come before which: by place, thread and object. For predict.h. Pure functions, with memory
 * from malloc. */
#ifndef PCT_CLI_ACCESS_LINKS_H
#define PCT_CLI_ACCESS_LINKS_H

#include "iroots.h"

/* Of each access another one, by its index plus 1; 0: there is none. */
struct pct_access_links {
    const struct pct_access *access;
    uint32_t *next;    /* the next one of its thread */
    uint32_t *earlier; /* its thread's last one before it at the same place */
    uint32_t *wrote;   /* its thread's last one before it that writes what several threads use */
    uint32_t *write;   /* the last one before it on its object that writes */
    uint32_t *own;     /* its thread's last one before it on its object */
};

/* sorted: the accesses as sorted_accesses.h has them. False: there is no memory. */
bool pct_access_links_read(struct pct_access_links *links, const struct pct_access *accesses, size_t count,
                           uint32_t threads, const struct pct_access *const *sorted);
void pct_access_links_free(struct pct_access_links *links);

/* How often the thread of this access comes to its place, from this record on, up to it. 0: more often than is counted.
 */
uint8_t pct_access_links_visits(const struct pct_access_links *links, const struct pct_access *access, uint32_t from);

#endif
