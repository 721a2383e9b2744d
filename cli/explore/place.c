/* Where in the program that is which speaks against "verified": see explorer.h. */
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
    if (function && !strncmp(function, "_Z", 2)) /* of C++ and Rust, nobody reads these */
        function = NULL;
    const char *file = pct_debug_info_source(module, bias + address - 1, &number, &unit);
    const char *base = file ? strrchr(file, '/') : NULL;
    if (file)
        snprintf(text, size, "%s:%d%s%s", base ? base + 1 : file, number, function ? ", " : "",
                 function ? function : "");
    else if (function)
        snprintf(text, size, "in %s", function);
}

void pct_explorer_name_places(struct pct_explorer *e, const char *program)
{
    const struct pct_search_facts *facts = pct_search_facts(e->search);
    struct {
        char *text;
        uint32_t place;
    } all[PCT_DOUBT_COUNT + 2] = { { e->loop, facts->loop }, { e->moved, facts->moved ? facts->moved_at : 0 } };
    bool unnamed = false;
    for (unsigned i = 0; i < PCT_DOUBT_COUNT; i++) {
        all[i + 2].text = e->doubt[i];
        all[i + 2].place = facts->place[i];
    }
    for (unsigned i = 0; i < PCT_DOUBT_COUNT + 2; i++)
        unnamed |= all[i].place && !*all[i].text;
    Dwfl_Module *module;
    Dwfl *dwfl = unnamed ? pct_debug_info_open(program, &module) : NULL;
    for (unsigned i = 0; dwfl && module && i < PCT_DOUBT_COUNT + 2; i++)
        if (all[i].place && !*all[i].text)
            name_place(all[i].text, sizeof e->loop, module, all[i].place);
    if (dwfl)
        dwfl_end(dwfl);
}
