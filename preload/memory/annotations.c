/* What the program says of its races: see annotations.h. */
#include "annotations.h"
#include "memory.h"
#include <preload/core/point.h>
#include <sched/races.h>

enum { MOST_BENIGN = 64 };

static struct {
    struct benign {
        uintptr_t from, to;
    } benign[MOST_BENIGN]; /* mostly from before there is a detector: constructors say it */
    unsigned count, told;  /* told: to this run's */
} said;

/* How often the calling thread's races do not matter: as it has said, and as the detector knows. */
static __thread struct {
    int now, told;
} ignored;

void pct_annotations_tell(const struct pct_shim_thread *self)
{
    struct pct_races *races = pct_sched_races(&pct_S);
    for (; said.told < said.count; said.told++)
        pct_races_benign(races, said.benign[said.told].from, said.benign[said.told].to);
    pct_races_ignore(races, self->core.id, ignored.now - ignored.told);
    ignored.told = ignored.now;
}

void pct_annotations_forget(void)
{
    said.told = 0;
    ignored.told = 0;
}

PCT_EXPORT void pct_memory_ignore(int change)
{
    const struct pct_shim_thread *self = pct_holder();
    ignored.now += change;
    if (ignored.now < 0) /* an end without a beginning */
        ignored.now = 0;
    if (self && pct_sched_races(&pct_S))
        pct_annotations_tell(self);
}

PCT_EXPORT void pct_memory_benign(const volatile void *address, size_t size)
{
    const struct pct_shim_thread *self = pct_holder();
    const struct benign new = { (uintptr_t)address, (uintptr_t)address + size };
    if (!self && pct_sched_is_on(&pct_S))
        return;
    unsigned i = 0;
    while (i < said.count && (said.benign[i].from != new.from || said.benign[i].to != new.to))
        i++;
    if (i == MOST_BENIGN)
        return;
    if (i == said.count) /* not said in the run before either, in the same memory */
        said.benign[said.count++] = new;
    if (self && pct_sched_races(&pct_S))
        pct_annotations_tell(self);
}
