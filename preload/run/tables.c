/* Relocations of constants with addresses in them, 1200 on five pages: no process needs them before a run begins, or a
 * variable asks for something, and for one that never comes there they were a tenth of what we cost. So scripts/
 * late-tables takes them from the loader. */
#include "tables.h"
#include <preload/core/shim.h>
#include <link.h>

extern const Elf64_Dyn dynamic[] __asm__("_DYNAMIC") __attribute__((visibility("hidden")));
extern const char image[] __asm__("__ehdr_start") __attribute__((visibility("hidden")));
extern const char image_end[] __asm__("_end") __attribute__((visibility("hidden")));
/* By preload/libpct.ld. */
extern const Elf64_Relr relocations[] __asm__("pct_relocations") __attribute__((visibility("hidden")));
extern const Elf64_Relr relocations_end[] __asm__("pct_relocations_end") __attribute__((visibility("hidden")));

/* What stands there is relative to the image if it is small: then others may do the same at the same time. */
static void relocate(Elf64_Addr *place)
{
    const Elf64_Addr value = __atomic_load_n(place, __ATOMIC_RELAXED);
    if (value < (uintptr_t)image_end - (uintptr_t)image)
        __atomic_store_n(place, (uintptr_t)image + value, __ATOMIC_RELAXED);
}

void pct_tables_relocate(void)
{
    PCT_OF_START static bool done;
    const Elf64_Relr *at = relocations;
    Elf64_Addr *place = NULL;
    if (done)
        return;
    for (const Elf64_Dyn *entry = dynamic; entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_RELRSZ)
            at += entry->d_un.d_val / sizeof *at;
    for (; at < relocations_end; at++) {
        if (!(*at & 1)) {
            place = (Elf64_Addr *)((uintptr_t)image + *at);
            relocate(place++);
            continue;
        }
        for (unsigned bit = 1; bit < 64; bit++)
            if (*at >> bit & 1)
                relocate(place + bit - 1);
        place += 63;
    }
    __atomic_store_n(&done, true, __ATOMIC_RELEASE);
}
