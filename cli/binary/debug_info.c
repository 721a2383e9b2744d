/* Files that are not loaded: see debug_info.h. */
#include "debug_info.h"
#include <stdlib.h>
#include <string.h>

static int find_nothing(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base, char **file, Elf **elf)
{
    (void)module, (void)data, (void)name, (void)base, (void)file, (void)elf;
    return -1;
}

static const Dwfl_Callbacks callbacks = {
    .find_elf = find_nothing,
    .find_debuginfo = dwfl_standard_find_debuginfo,
    .section_address = dwfl_offline_section_address,
};

Dwfl *pct_debug_info_open(const char *path, Dwfl_Module **module)
{
    const char *slash = strrchr(path, '/');
    Dwfl *dwfl = dwfl_begin(&callbacks);
    *module = NULL;
    if (!dwfl)
        return NULL;
    unsetenv("DEBUGINFOD_URLS");
    dwfl_report_begin(dwfl);
    *module = dwfl_report_offline(dwfl, slash ? slash + 1 : path, path, -1);
    dwfl_report_end(dwfl, NULL, NULL);
    return dwfl;
}

/* clang writes no .debug_aranges, without which libdw finds nothing by an address. */
Dwarf_Die *pct_debug_info_unit(Dwfl_Module *module, Dwarf_Addr address, Dwarf_Addr *bias)
{
    Dwarf_Die *unit = dwfl_module_addrdie(module, address, bias);
    if (unit)
        return unit;
    while ((unit = dwfl_module_nextcu(module, unit, bias)))
        if (dwarf_haspc(unit, address - *bias) > 0)
            return unit;
    return NULL;
}

const char *pct_debug_info_source(Dwfl_Module *module, Dwarf_Addr address, int *line)
{
    Dwarf_Addr bias;
    Dwarf_Die *unit = pct_debug_info_unit(module, address, &bias);
    Dwarf_Line *at = unit ? dwarf_getsrc_die(unit, address - bias) : NULL;
    return at && !dwarf_lineno(at, line) ? dwarf_linesrc(at, NULL, NULL) : NULL;
}
