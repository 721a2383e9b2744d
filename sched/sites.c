/* Where in the target's code each step is made: an option of the trace, for those who explain or show a schedule. It
 * takes the fast path away, so that every step passes pct_sched_point() or pct_sched_wait(), and costs nothing where it
 * is off. On the turn of the thread that holds the baton. */
#include "internal.h"

/* Address space: 256 MB for 16 million steps, of which only what is used is ever touched. */
#define PCT_SITES_MAX (UINT64_C(1) << 24)

void pct_sites_start(struct pct_sched *s, bool callers, const uint64_t *stacks, uint32_t count)
{
    s->sites = s->host->map(PCT_SITES_MAX * sizeof *s->sites);
    s->sites_max = s->sites ? PCT_SITES_MAX : 0;
    s->callers = callers && s->sites && s->host->callers;
    s->stacks = stacks;
    s->stacks_count = count;
    if (s->sites)
        pct_set_due(s, PCT_DUE_SITES);
}

void pct_sites_note(struct pct_sched *s, struct pct_thread *self, const struct pct_object *object)
{
    self->site = (struct pct_site){ .call = s->host->site ? s->host->site(self) : 0,
                                    .callers = s->callers ? s->host->callers(self) : 0,
                                    .object = object ? object->address : 0 };
}

void pct_sites_stack(struct pct_sched *s, const struct pct_thread *self)
{
    uint64_t step = pct_steps(s) + 1;
    while (s->stacks_count && *s->stacks < step) {
        s->stacks++;
        s->stacks_count--;
    }
    if (s->stacks_count && *s->stacks == step)
        s->host->stack(self, step);
}

void pct_sites_keep_made(struct pct_sched *s)
{
    uint64_t steps = pct_steps(s);
    uint64_t most = steps < s->sites_max ? steps : s->sites_max;
    for (; s->sited < most; s->sited++)
        s->sites[s->sited] = s->thread_at(PCT_RECORD_THREAD(s->record[-(int64_t)(steps - s->sited)]))->site;
}
