/* The linker's table in the file of a module: see linker_slots.h. */
#include "linker_slots.h"
#include <gelf.h>
#include <patch/strings.h>
#include <stdlib.h>
#include <string.h>

/* PCT_STRINGS_COUNT: none of those. */
static unsigned function_of(const char *name)
{
    static const char *const names[] = {
#define NAME(name) #name,
        PCT_STRINGS(NAME)
#undef NAME
    };
    unsigned i = 0;
    while (i < PCT_STRINGS_COUNT && strcmp(names[i], name) != 0)
        i++;
    return i;
}

static bool add(struct pct_slot **slots, size_t *count, const struct pct_slot *slot)
{
    struct pct_slot *larger = realloc(*slots, (*count + 1) * sizeof *larger);
    if (!larger)
        return false;
    larger[(*count)++] = *slot;
    *slots = larger;
    return true;
}

/* Of one table of relocations: those of functions that are called or whose address is taken through the linker's table.
 * What the module defines itself is not libc's. */
static bool read_table(Elf *elf, Elf_Scn *section, const GElf_Shdr *head, struct pct_slot **slots, size_t *count)
{
    GElf_Shdr symbols_head;
    Elf_Scn *symbols_section = elf_getscn(elf, head->sh_link);
    Elf_Data *table = elf_getdata(section, NULL), *symbols = elf_getdata(symbols_section, NULL);
    if (!table || !symbols || !head->sh_entsize || !gelf_getshdr(symbols_section, &symbols_head))
        return true;
    for (size_t i = 0; i < head->sh_size / head->sh_entsize; i++) {
        GElf_Rela entry;
        GElf_Sym symbol;
        if (!gelf_getrela(table, (int)i, &entry) ||
            (GELF_R_TYPE(entry.r_info) != R_X86_64_JUMP_SLOT && GELF_R_TYPE(entry.r_info) != R_X86_64_GLOB_DAT) ||
            !gelf_getsym(symbols, (int)GELF_R_SYM(entry.r_info), &symbol) || symbol.st_shndx != SHN_UNDEF)
            continue;
        const char *name = elf_strptr(elf, symbols_head.sh_link, symbol.st_name);
        const struct pct_slot slot = { entry.r_offset, name ? function_of(name) : PCT_STRINGS_COUNT };
        if (slot.function < PCT_STRINGS_COUNT && slot.address % sizeof(void *) == 0 && !add(slots, count, &slot))
            return false;
    }
    return true;
}

bool pct_linker_slots(Elf *elf, struct pct_slot **slots, size_t *count)
{
    for (Elf_Scn *section = elf_nextscn(elf, NULL); section; section = elf_nextscn(elf, section)) {
        GElf_Shdr head;
        if (gelf_getshdr(section, &head) && head.sh_type == SHT_RELA && head.sh_flags & SHF_ALLOC &&
            !read_table(elf, section, &head, slots, count))
            return false;
    }
    return true;
}
