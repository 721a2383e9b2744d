/* The modules that are compiled for us: see modules.h. Each object file calls __tsan_init when it is loaded. */
#include "modules.h"
#include "events.h"
#include <link.h>

enum { MODULES = 512 /* beyond, they are as if not compiled for us */ };

static struct module {
    uintptr_t from, to;
    uintptr_t written; /* where what can be written begins */
} modules[MODULES];
static unsigned count;

bool pct_module_is_known(const void *pc)
{
    const uintptr_t at = (uintptr_t)pc;
    const unsigned last = __atomic_load_n(&count, __ATOMIC_ACQUIRE);
    for (unsigned i = 0; i < last; i++)
        if (at - modules[i].from < modules[i].to - modules[i].from)
            return true;
    return false;
}

bool pct_module_is_constant(const void *at)
{
    const unsigned last = __atomic_load_n(&count, __ATOMIC_ACQUIRE);
    for (unsigned i = 0; i < last; i++)
        if ((uintptr_t)at - modules[i].from < modules[i].written - modules[i].from)
            return true;
    return false;
}

/* For dl_iterate_phdr. Returns 1 when the module is found. What was at its addresses before is gone. */
static int find(struct dl_phdr_info *info, size_t size, void *pc)
{
    struct module module = { .from = UINTPTR_MAX, .written = UINTPTR_MAX };
    (void)size;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD)
            continue;
        uintptr_t from = info->dlpi_addr + segment->p_vaddr, to = from + segment->p_memsz;
        module.from = from < module.from ? from : module.from;
        module.to = to > module.to ? to : module.to;
        if (segment->p_flags & PF_W && from < module.written)
            module.written = from;
    }
    if ((uintptr_t)pc < module.from || (uintptr_t)pc >= module.to)
        return 0;
    if (PCT_WATCHED)
        pct_memory_renewed((void *)module.from, module.to - module.from);
    module.written = module.written < module.to ? module.written : module.to;
    modules[count] = module;
    __atomic_store_n(&count, count + 1, __ATOMIC_RELEASE);
    return 1;
}

/* With the loader's lock, which its caller has: nobody else adds a module. */
void pct_module_tells(const void *pc)
{
    if (!pct_module_is_known(pc) && count < MODULES)
        dl_iterate_phdr(find, (void *)pc);
}
