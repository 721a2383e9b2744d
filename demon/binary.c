/* The program's file: see binary.h. */
#include "binary.h"
#include <cli/binary/debug_info.h>
#include <ctype.h>
#include <gelf.h>
#include <stdio.h>
#include <string.h>

struct demon_binary demon_binary_open(const char *program)
{
    struct demon_binary b = { .dwfl = NULL };
    Dwarf_Addr bias;
    GElf_Addr elf_bias;
    b.dwfl = pct_debug_info_open(program, &b.module);
    b.elf = b.module ? dwfl_module_getelf(b.module, &elf_bias) : NULL;
    b.dwarf = b.elf ? dwfl_module_getdwarf(b.module, &bias) : NULL;
    return b;
}

void demon_binary_close(struct demon_binary *b)
{
    if (b->dwfl)
        dwfl_end(b->dwfl);
    *b = (struct demon_binary){ .dwfl = NULL };
}

/* Whether it is what the compiler has made of a function of this name, but for a part of one that is inlined. */
static bool is_copy(const char *symbol, const char *name)
{
    const size_t length = strlen(name);
    return !strncmp(symbol, name, length) && symbol[length] == '.' && strncmp(symbol + length, ".part.", 6) != 0;
}

static const char *find_symbol(Elf *elf, unsigned char kind, const char *name, bool copy, uint64_t address)
{
    for (Elf_Scn *section = elf_nextscn(elf, NULL); section; section = elf_nextscn(elf, section)) {
        GElf_Shdr header;
        Elf_Data *data = elf_getdata(section, NULL);
        if (!gelf_getshdr(section, &header) || header.sh_type != SHT_SYMTAB || !data || !header.sh_entsize)
            continue;
        for (size_t i = 0; i < header.sh_size / header.sh_entsize; i++) {
            GElf_Sym symbol;
            const char *is =
                gelf_getsym(data, (int)i, &symbol) ? elf_strptr(elf, header.sh_link, symbol.st_name) : NULL;
            if (!is || symbol.st_value != address || GELF_ST_TYPE(symbol.st_info) != kind)
                continue;
            if (!name ? GELF_ST_BIND(symbol.st_info) == STB_GLOBAL : copy ? is_copy(is, name) : !strcmp(is, name))
                return is;
        }
    }
    return NULL;
}

/* Where they were taken from the file, they are with the debug information. */
static const char *find(const struct demon_binary *b, unsigned char kind, const char *name, bool copy, uint64_t address)
{
    const char *found = b->elf ? find_symbol(b->elf, kind, name, copy, address) : NULL;
    Elf *separate = b->dwarf ? dwarf_getelf(b->dwarf) : NULL;
    return found || !separate || separate == b->elf ? found : find_symbol(separate, kind, name, copy, address);
}

const char *demon_binary_symbol(const struct demon_binary *b, unsigned char kind, const char *name, uint64_t address)
{
    return find(b, kind, name, false, address);
}

bool demon_binary_is_copy(const struct demon_binary *b, const char *name, uint64_t address)
{
    return find(b, STT_FUNC, name, true, address);
}

bool demon_binary_identify(const struct demon_binary *b, uint64_t address, struct pct_demon_plan *plan)
{
    GElf_Ehdr header;
    size_t count, size;
    const char *file = elf_rawfile(b->elf, &size);
    if (!file || !gelf_getehdr(b->elf, &header) || elf_getphdrnum(b->elf, &count))
        return false;
    plan->entry = header.e_entry;
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr h;
        if (!gelf_getphdr(b->elf, (int)i, &h) || h.p_type != PT_LOAD || address < h.p_vaddr ||
            address - h.p_vaddr >= h.p_filesz || h.p_offset + h.p_filesz > size)
            continue;
        const uint64_t left = h.p_filesz - (address - h.p_vaddr);
        plan->uncoded = left < PCT_DEMON_CODE ? (uint32_t)(PCT_DEMON_CODE - left) : 0;
        memcpy(plan->code, file + h.p_offset + (address - h.p_vaddr), PCT_DEMON_CODE - plan->uncoded);
        return true;
    }
    return false;
}

bool demon_binary_is_listed(const char *names, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = names; *at; at += strcspn(at, ",") + (strchr(at, ',') != NULL))
        if (strcspn(at, ",") == length && !strncmp(at, name, length))
            return true;
    return false;
}

/* How long it is in a token, where other letters than these are three. */
static size_t length_in_token(const char *name)
{
    size_t length = 0;
    for (; *name; name++)
        length += isalnum((unsigned char)*name) || strchr("_.*^$+-", *name) ? 1 : 3;
    return length;
}

bool demon_binary_list_sources(const char *program, char names[DEMON_SOURCE_NAMES])
{
    struct demon_binary binary = demon_binary_open(program);
    Dwarf_Off offset = 0, next;
    size_t header, length = 0;
    bool fine = binary.dwarf;
    *names = 0;
    for (; fine && !dwarf_nextcu(binary.dwarf, offset, &next, &header, NULL, NULL, NULL); offset = next) {
        Dwarf_Die unit;
        const char *path = dwarf_offdie(binary.dwarf, offset + header, &unit) ? dwarf_diename(&unit) : NULL;
        const char *slash = path ? strrchr(path, '/') : NULL, *name = slash ? slash + 1 : path;
        if (!name || demon_binary_is_listed(names, name))
            continue;
        length += length_in_token(name) + (*names != 0);
        fine = length < DEMON_SOURCE_NAMES && !strpbrk(name, ",*^$");
        if (fine)
            snprintf(names + strlen(names), DEMON_SOURCE_NAMES - strlen(names), "%s%s", *names ? "," : "", name);
    }
    demon_binary_close(&binary);
    return fine && *names;
}
