/* What calls do with the program's memory: see calls.h. */
#include "calls.h"
#include "memory.h"
#include "memory_quick.h"
#include "strings.h"
#include <preload/core/maps.h>
#include <preload/core/point.h>
#include <preload/core/shim.h>
#include <sched/races.h>
#include <sys/uio.h>

enum { MOST_CODE = 32 };

static struct {
    uintptr_t from, to;
} code[MOST_CODE]; /* that has told the race detector of accesses */
static unsigned codes;

static bool has_told(uintptr_t pc)
{
    for (unsigned i = 0; i < codes; i++)
        if (pc - code[i].from < code[i].to - code[i].from)
            return true;
    return false;
}

void pct_memory_of_object(const struct pct_shim_thread *self, const volatile void *object, enum pct_object_use use,
                          const void *pc)
{
    if (PCT_LIKELY(!pct_sched_races(&pct_S)) || pct_sched_threads(&pct_S) < 2)
        return;
    const bool told = has_told((uintptr_t)pc);
    if (!told && (!pct_strings_calls(pc) || !pct_strings_wants((const void *)object, 1)))
        return;
    const unsigned what = (use == PCT_OBJECT_WHOLE ? PCT_MEMORY_WRITE | PCT_MEMORY_PLAIN : PCT_MEMORY_ATOMIC_READ) |
                          (told ? 0 : PCT_MEMORY_SEEN);
    pct_memory_met(
        pct_races_access(pct_sched_races(&pct_S), &(struct pct_access){ (uintptr_t)object, 1, (uintptr_t)pc, UINT64_MAX,
                                                                        self->core.id, pct_memory_kind(what) }));
}

void pct_memory_learn_code(uintptr_t pc)
{
    struct pct_mapping mapping = { .from = pc, .to = pc + 1 };
    if (pct_shim.confined || has_told(pc) || codes == MOST_CODE) /* few filters let it look */
        return;
    pct_maps_find((const void *)pc, &mapping, NULL, 0);
    code[codes].from = mapping.from;
    code[codes++].to = mapping.to;
}

void pct_memory_of_call(const struct iovec *parts, size_t count, size_t size, bool writes, const void *pc)
{
    const struct pct_shim_thread *self = pct_sched_races(&pct_S) ? pct_holder() : NULL;
    const bool told = self && has_told((uintptr_t)pc);
    if (!self || pct_sched_threads(&pct_S) < 2 || (!told && !pct_strings_calls(pc)))
        return;
    const unsigned what =
        (writes ? PCT_MEMORY_WRITE : PCT_MEMORY_READ) | (told ? 0 : PCT_MEMORY_SEEN | PCT_MEMORY_PLAIN);
    for (size_t i = 0; i < count && size; i++) {
        const size_t part = parts[i].iov_len < size ? parts[i].iov_len : size;
        const size_t length = told ? part : pct_strings_wants(parts[i].iov_base, part);
        size -= part;
        if (length)
            pct_memory_met(pct_races_access(pct_sched_races(&pct_S),
                                            &(struct pct_access){ (uintptr_t)parts[i].iov_base, length, (uintptr_t)pc,
                                                                  UINT64_MAX, self->core.id, pct_memory_kind(what) }));
    }
}
