/* Reading the code of a source line out of a unit's debug information: see line_rows.h. */
#include "line_rows.h"
#include "debug_info.h"
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

/* The function of which this symbol is the part that lies elsewhere, as f.cold is of f. */
static void add_whole(const struct pct_line_unit *u, struct pct_line_code *line, const char *part)
{
    const char *dot = strstr(part, ".cold");
    const size_t length = dot ? (size_t)(dot - part) : 0;
    for (int i = dwfl_module_getsymtab(u->module); dot && i-- > 1;) {
        GElf_Sym symbol;
        GElf_Addr address;
        const char *name = dwfl_module_getsym_info(u->module, i, &symbol, &address, NULL, NULL, NULL);
        if (name && GELF_ST_TYPE(symbol.st_info) == STT_FUNC && !strncmp(name, part, length) && !name[length])
            pct_line_add_part(line, address - u->module_bias, address - u->module_bias + symbol.st_size, true);
    }
}

/* The copy of an inlined function that this address is in; 0: none. */
static uint64_t instance_at(Dwarf_Die *unit, Dwarf_Addr address)
{
    Dwarf_Die *scopes = NULL;
    const int count = pct_debug_info_scopes(unit, address, &scopes);
    uint64_t instance = 0;
    for (int i = 0; i < count && !instance; i++)
        if (dwarf_tag(&scopes[i]) == DW_TAG_inlined_subroutine)
            instance = dwarf_dieoffset(&scopes[i]);
    free(scopes);
    return instance;
}

/* A stretch of code in the table of lines. */
struct stretch {
    Dwarf_Addr from, to;
    const char *file;
    int number;
    bool begins; /* a statement may begin there */
};

static bool stretch_at(Dwarf_Lines *lines, size_t i, struct stretch *stretch)
{
    Dwarf_Line *line = dwarf_onesrcline(lines, i);
    bool end;
    stretch->file = dwarf_linesrc(line, NULL, NULL);
    return stretch->file && !dwarf_lineendsequence(line, &end) && !end && !dwarf_lineaddr(line, &stretch->from) &&
           !dwarf_lineaddr(dwarf_onesrcline(lines, i + 1), &stretch->to) && !dwarf_lineno(line, &stretch->number) &&
           !dwarf_linebeginstatement(line, &stretch->begins);
}

/* One of a line that is meant. What belongs to no line belongs to that before. */
static void take_stretch(const struct pct_line_unit *u, struct pct_line_code *line, const struct stretch *stretch)
{
    GElf_Sym symbol;
    GElf_Off offset;
    struct pct_line_row *last = line->rows ? &line->row[line->rows - 1] : NULL;
    const uint64_t moved = u->bias - u->module_bias, from = stretch->from + moved, to = stretch->to + moved;
    if (!stretch->number) {
        if (last && last->to == from)
            last->to = to;
        return;
    }
    const char *name = dwfl_module_addrinfo(u->module, stretch->from + u->bias, &offset, &symbol, NULL, NULL, NULL);
    if (!name || offset >= symbol.st_size)
        return;
    pct_line_add_part(line, from - offset, from - offset + symbol.st_size, !strstr(name, ".cold"));
    add_whole(u, line, name);
    const struct pct_line_row row = {
        .from = from, .to = to, .own = to, .instance = instance_at(u->unit, stretch->from), .begins = stretch->begins
    };
    pct_line_add_row(line, &row);
}

void pct_line_read(struct pct_line_code *line, const struct pct_line_unit *u, const struct pct_pattern *pattern)
{
    Dwarf_Lines *lines;
    size_t count;
    const char *last = NULL;
    bool meant = false;
    uint64_t marked = UINT64_MAX;
    if (dwarf_getsrclines(u->unit, &lines, &count))
        return;
    for (size_t i = 0; i + 1 < count; i++) {
        struct stretch stretch;
        if (!stretch_at(lines, i, &stretch))
            continue;
        if (stretch.file != last)
            meant = pct_pattern_means_file(pattern, last = stretch.file);
        if (!(meant && (unsigned)stretch.number == pattern->at_line) && !(line->rows && !stretch.number))
            continue;
        /* The mark of a statement may stand alone, before what it has for code there. */
        if (stretch.begins)
            marked = stretch.from;
        stretch.begins |= marked == stretch.from;
        if (stretch.from < stretch.to)
            take_stretch(u, line, &stretch);
        if (meant && line->rows && !line->file)
            line->file = stretch.file;
    }
}
