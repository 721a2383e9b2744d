/* The linker's table of a module: calls of memcpy and its like are led to functions that tell of what these use
 * (preload/memory/strings.h). */
#ifndef PCT_PRELOAD_PATCH_SLOTS_H
#define PCT_PRELOAD_PATCH_SLOTS_H

#include <preload/memory/strings.h>
#include <stddef.h>

struct pct_patch_slots {
    struct pct_patch_slot {
        void **at;
        void *before, *after;
        bool locked; /* the loader has made it read-only */
    } * slots;       /* NULL: none */
    size_t count, room;
    struct pct_strings_module module;
};

/* What the plan says, of a module at this distance from where its file says that it is: made ready. False: out of
 * memory. With the baton, or before the run. */
bool pct_patch_slots_prepare(struct pct_patch_slots *slots, const struct pct_plan *plan, uint64_t bias);

/* Lead the calls there, with the baton. They stay where they are, and so must *slots. False: the system does not allow
 * it, and nothing has changed. */
bool pct_patch_slots_change(struct pct_patch_slots *slots);

/* Memory of a host is as at another time: those that the loader has locked lead where they did then, after they were
 * changed, or before. False: the system does not allow it. */
bool pct_patch_slots_put_back(const struct pct_patch_slots *slots, bool changed);

/* They are not to be led anywhere. */
void pct_patch_slots_abandon(struct pct_patch_slots *slots);

#endif
