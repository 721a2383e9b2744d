/* Who owns what others wait for, as far as operations show: who took an object last, and has not given it back. For the
 * strategies that hold threads back (hold.c, maple.c): one that stands with a lock which another thread needs must not
 * be held for ever. A member of their state, zeroed at first; its table is apart, as all but its beginning is mostly
 * untouched. */
#ifndef PCT_STRATEGIES_OWNERS_H
#define PCT_STRATEGIES_OWNERS_H

#include "one_object.h"
#include <pct/layout.h>
#include <pct/operations.h>

enum { PCT_OWNERS = 1 << 12 };

struct pct_owners {
    uint16_t *of; /* by object, of which some share a place: the thread, plus 1 */
};

static inline void pct_owners_lay_out(struct pct_owners *owners, struct pct_layout *layout)
{
    owners->of = pct_layout_take(layout, PCT_OWNERS, sizeof *owners->of);
}

/* This thread has made this operation. Whether a try has taken is not known: not what another one has, and of a
 * semaphore, for which many try until one posts, nothing. */
static inline void pct_owners_made(struct pct_owners *owners, const struct pct_operation *made, uint32_t thread)
{
    uint16_t *owner = &owners->of[made->object % PCT_OWNERS];
    if (!pct_object_counts(made->object))
        return;
    if (pct_operation_gives(made->op))
        *owner = *owner == thread + 1 ? 0 : *owner;
    else if (!pct_operation_tries(made->op) || (!*owner && made->op != PCT_OP_SEM_TRYWAIT))
        *owner = (uint16_t)(thread + 1);
}

/* The owner of this object; PCT_NO_THREAD: nobody, or it is not known. */
static inline uint32_t pct_owners_of(const struct pct_owners *owners, uint32_t object)
{
    return pct_object_counts(object) ? owners->of[object % PCT_OWNERS] - 1u : PCT_NO_THREAD;
}

#endif
