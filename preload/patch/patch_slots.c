/* The linker's table of a module: see patch_slots.h. */
#include "patch_slots.h"
#include <preload/core/apart.h>
#include <preload/core/host.h>
#include <preload/core/maps.h>
#include <preload/core/sys.h>
#include <sys/mman.h>

enum { PAGE = 4096 };

/* The loader has bound the call to libc's function, or not yet: then its own code stands there. Else somebody has led
 * it elsewhere, as a debugger of memory may. */
static bool is_free(const struct pct_patch_slots *slots, const struct pct_slot *slot, const void *now)
{
    const struct pct_plan_range *image = &slots->module.image;
    return pct_strings_lead((unsigned)slot->function) && (now == pct_strings_libc((unsigned)slot->function) ||
                                                          (uintptr_t)now - image->from < image->to - image->from);
}

bool pct_patch_slots_prepare(struct pct_patch_slots *slots, const struct pct_plan *plan, uint64_t bias)
{
    struct pct_mapping mapping = { 0 };
    const struct pct_slot *planned = pct_plan_slots(plan);
    slots->module.image = (struct pct_plan_range){ plan->image.from + bias, plan->image.to + bias };
    for (unsigned i = 0; i < PCT_PLAN_WRITTEN && plan->written[i].to; i++)
        slots->module.written[i] = (struct pct_plan_range){ plan->written[i].from + bias, plan->written[i].to + bias };
    if (!plan->slots)
        return true;
    slots->slots = pct_apart_map(plan->slots * sizeof *slots->slots);
    if (!slots->slots)
        return false;
    slots->room = plan->slots;
    for (uint64_t i = 0; i < plan->slots; i++) {
        void **at = (void **)(uintptr_t)(planned[i].address + bias);
        if (((uintptr_t)at < mapping.from || (uintptr_t)at >= mapping.to) && !pct_maps_find(at, &mapping, NULL, 0))
            continue;
        if (mapping.readable && is_free(slots, &planned[i], *at))
            slots->slots[slots->count++] =
                (struct pct_patch_slot){ at, *at, pct_strings_told((unsigned)planned[i].function), !mapping.writable };
    }
    return true;
}

/* Those pages of the table that the loader has locked. */
static bool protect(const struct pct_patch_slots *slots, int protection)
{
    uintptr_t last = 0;
    for (size_t i = 0; i < slots->count; i++) {
        const uintptr_t page = (uintptr_t)slots->slots[i].at & ~(uintptr_t)(PAGE - 1);
        if (slots->slots[i].locked && page != last && pct_host_sys4(SYS_mprotect, (long)page, PAGE, protection, 0))
            return false;
        last = page;
    }
    return true;
}

bool pct_patch_slots_change(struct pct_patch_slots *slots)
{
    bool allowed = protect(slots, PROT_READ | PROT_WRITE);
    for (size_t i = 0; i < slots->count && allowed; i++)
        __atomic_store_n(slots->slots[i].at, slots->slots[i].after, __ATOMIC_RELEASE);
    protect(slots, PROT_READ);
    if (allowed)
        pct_strings_take(&slots->module);
    return allowed;
}

bool pct_patch_slots_put_back(const struct pct_patch_slots *slots, bool changed)
{
    bool same = true;
    for (size_t i = 0; i < slots->count && same; i++) {
        const struct pct_patch_slot *slot = &slots->slots[i];
        same = !slot->locked || *slot->at == (changed ? slot->after : slot->before);
    }
    if (same)
        return true;
    if (!protect(slots, PROT_READ | PROT_WRITE))
        return false;
    for (size_t i = 0; i < slots->count; i++)
        if (slots->slots[i].locked)
            *slots->slots[i].at = changed ? slots->slots[i].after : slots->slots[i].before;
    return protect(slots, PROT_READ);
}

void pct_patch_slots_abandon(struct pct_patch_slots *slots)
{
    if (slots->slots)
        PCT_SYS2(SYS_munmap, slots->slots, slots->room * sizeof *slots->slots);
    *slots = (struct pct_patch_slots){ 0 };
}
