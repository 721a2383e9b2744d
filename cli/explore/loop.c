/* Where in the program a loop is that the search has cut off: see explorer.h. */
#include "explorer.h"
#include <cli/binary/debug_info.h>
#include <gelf.h>
#include <string.h>

/* Where Linux maps a position-independent program when addresses are not random. */
#define PROGRAM_BASE UINT64_C(0x555555554000)

/* The place has the lower half of the address behind a call. */
static void name_place(char *text, size_t size, Dwfl_Module *module, uint32_t place)
{
    GElf_Addr bias;
    GElf_Ehdr head;
    Elf *elf = dwfl_module_getelf(module, &bias);
    if (!elf || !gelf_getehdr(elf, &head))
        return;
    uint32_t address = head.e_type == ET_DYN ? place - (uint32_t)PROGRAM_BASE : place;
    int number = 0;
    Dwarf_Die *unit;
    const char *function = dwfl_module_addrname(module, bias + address - 1);
    const char *file = pct_debug_info_source(module, bias + address - 1, &number, &unit);
    const char *base = file ? strrchr(file, '/') : NULL;
    if (file)
        snprintf(text, size, "%s:%d%s%s", base ? base + 1 : file, number, function ? ", " : "",
                 function ? function : "");
    else if (function)
        snprintf(text, size, "in %s", function);
}

void pct_explorer_name_loop(struct pct_explorer *e, const char *program)
{
    uint32_t place = pct_search_facts(e->search)->loop;
    Dwfl_Module *module;
    if (!place || e->loop[0])
        return;
    Dwfl *dwfl = pct_debug_info_open(program, &module);
    if (dwfl && module)
        name_place(e->loop, sizeof e->loop, module, place);
    if (dwfl)
        dwfl_end(dwfl);
}
