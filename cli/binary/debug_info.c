/* Files that are not loaded: see debug_info.h. */
#include "debug_info.h"
#include <cli/base/cli.h>
#include <cli/base/grow.h>
#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int find_nothing(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base, char **file, Elf **elf)
{
    (void)module, (void)data, (void)name, (void)base, (void)file, (void)elf;
    return -1;
}

int pct_debug_info_find(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base, const char *file,
                        const char *link, GElf_Word check, char **found)
{
    /* By DEBUGINFOD_URLS libdw would ask servers. Targets shall have it all the same. */
    char *none[] = { NULL }, **all = environ;
    environ = none;
    int fd = dwfl_standard_find_debuginfo(module, data, name, base, file, link, check, found);
    environ = all;
    return fd;
}

static const Dwfl_Callbacks callbacks = {
    .find_elf = find_nothing,
    .find_debuginfo = pct_debug_info_find,
    .section_address = dwfl_offline_section_address,
};

Dwfl *pct_debug_info_open(const char *path, Dwfl_Module **module)
{
    const char *slash = strrchr(path, '/');
    Dwfl *dwfl = dwfl_begin(&callbacks);
    *module = NULL;
    if (!dwfl)
        return NULL;
    dwfl_report_begin(dwfl);
    *module = dwfl_report_offline(dwfl, slash ? slash + 1 : path, path, -1);
    dwfl_report_end(dwfl, NULL, NULL);
    return dwfl;
}

/* libdw's own handler ends the process with status 1, which would be the target's. */
__attribute__((noreturn)) static void run_out(void)
{
    exit(pct_cli_no_memory(": the debug information of a program does not fit"));
}

/* Nothing is read of a module before its first unit. */
Dwarf_Die *pct_debug_info_next(Dwfl_Module *module, Dwarf_Die *unit, Dwarf_Addr *bias)
{
    Dwarf *dwarf = unit ? NULL : dwfl_module_getdwarf(module, bias);
    if (dwarf)
        dwarf_new_oom_handler(dwarf, run_out);
    return dwfl_module_nextcu(module, unit, bias);
}

/* clang writes no .debug_aranges, without which libdw finds nothing by an address. */
Dwarf_Die *pct_debug_info_unit(Dwfl_Module *module, Dwarf_Addr address, Dwarf_Addr *bias)
{
    Dwarf_Die *unit = pct_debug_info_next(module, NULL, bias);
    Dwarf_Die *found = unit ? dwfl_module_addrdie(module, address, bias) : NULL;
    for (; unit && !found; unit = pct_debug_info_next(module, unit, bias))
        if (dwarf_haspc(unit, address - *bias) > 0)
            found = unit;
    return found;
}

const char *pct_debug_info_source(Dwfl_Module *module, Dwarf_Addr address, int *line, Dwarf_Die **unit)
{
    Dwarf_Addr bias;
    *unit = pct_debug_info_unit(module, address, &bias);
    Dwarf_Line *at = *unit ? dwarf_getsrc_die(*unit, address - bias) : NULL;
    return at && !dwarf_lineno(at, line) ? dwarf_linesrc(at, NULL, NULL) : NULL;
}

const char *pct_debug_info_path(Dwarf_Die *unit, const char *file, char path[PATH_MAX])
{
    char joined[PATH_MAX];
    Dwarf_Attribute attribute;
    const char *directory = "";
    if (*file != '/')
        directory = dwarf_attr(unit, DW_AT_comp_dir, &attribute) ? dwarf_formstring(&attribute) : NULL;
    else if (!strstr(file, "/../"))
        return file;
    if (!directory || (*file != '/' && *directory != '/') ||
        (size_t)snprintf(joined, sizeof joined, "%s/%s", directory, file) >= sizeof joined || !realpath(joined, path))
        return file;
    return path;
}

/* --- Scopes ------------------------------------------------------------------------------------------------------- */

struct scopes {
    Dwarf_Die *item; /* innermost first */
    int count, room;
};

/* Where memory is short, there are fewer. */
static void push(struct scopes *s, const Dwarf_Die *die)
{
    if (!PCT_GROW(s->item, s->count, s->room))
        return;
    s->item[s->count++] = *die;
}

bool pct_debug_info_is_space(int tag)
{
    return tag == DW_TAG_namespace || tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
           tag == DW_TAG_enumeration_type || tag == DW_TAG_union_type;
}

/* The scopes in this one that have the address. Returns whether there are any. */
static bool descend(struct scopes *s, Dwarf_Die *in, Dwarf_Addr address)
{
    Dwarf_Die die;
    if (dwarf_child(in, &die))
        return false;
    do {
        int tag = dwarf_tag(&die);
        if (pct_debug_info_is_space(tag)) {
            if (descend(s, &die, address))
                return true;
            continue;
        }
        if ((tag != DW_TAG_subprogram && tag != DW_TAG_inlined_subroutine && tag != DW_TAG_lexical_block) ||
            dwarf_haspc(&die, address) <= 0)
            continue;
        descend(s, &die, address);
        push(s, &die);
        return true;
    } while (!dwarf_siblingof(&die, &die));
    return false;
}

int pct_debug_info_scopes(Dwarf_Die *unit, Dwarf_Addr address, Dwarf_Die **scopes)
{
    struct scopes s = { 0 };
    descend(&s, unit, address);
    *scopes = s.item;
    return s.count;
}

/* gcc writes the address there, clang its number in a table of the unit. */
bool pct_debug_info_address(Dwarf_Die *variable, Dwarf_Addr *address)
{
    Dwarf_Attribute location, entry;
    Dwarf_Op *operation;
    size_t count;
    if (!dwarf_attr_integrate(variable, DW_AT_location, &location) ||
        dwarf_getlocation(&location, &operation, &count) || count != 1)
        return false;
    if (operation->atom == DW_OP_addr) {
        *address = operation->number;
        return true;
    }
    return (operation->atom == DW_OP_addrx || operation->atom == DW_OP_GNU_addr_index) &&
           !dwarf_getlocation_attr(&location, operation, &entry) && !dwarf_formaddr(&entry, address);
}

/* In DWARF 5 the first of a unit's files has the number 0, by which clang names it, and libdw none. */
const char *pct_debug_info_file(Dwarf_Die *die)
{
    Dwarf_Die unit;
    Dwarf_Attribute attribute;
    Dwarf_Word number;
    Dwarf_Files *files;
    size_t count;
    Dwarf_Half version;
    const char *file = dwarf_decl_file(die);
    if (file || !dwarf_attr_integrate(die, DW_AT_decl_file, &attribute) || dwarf_formudata(&attribute, &number) ||
        number || !dwarf_diecu(die, &unit, NULL, NULL) ||
        dwarf_cu_info(unit.cu, &version, NULL, NULL, NULL, NULL, NULL, NULL) || version < 5 ||
        dwarf_getsrcfiles(&unit, &files, &count) || !count)
        return file;
    return dwarf_filesrc(files, 0, NULL, NULL);
}
