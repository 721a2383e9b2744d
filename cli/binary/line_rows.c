/* Reading the code of a source line out of a unit's debug information: see line_rows.h. */
#include "line_rows.h"
#include "debug_info.h"
#include <common/bisect.h>
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

/* Whether this scope has rows; they are of this copy of an inlined function, if it is one. Scopes without addresses may
 * have functions in them. */
static bool take_scope(struct pct_line_code *line, Dwarf_Die *scope, uint64_t moved)
{
    const uint64_t instance = dwarf_tag(scope) == DW_TAG_inlined_subroutine ? dwarf_dieoffset(scope) : 0;
    Dwarf_Addr base, begin, end;
    ptrdiff_t next = 0;
    bool any = false;
    while ((next = dwarf_ranges(scope, next, &base, &begin, &end)) > 0) {
        size_t row = PCT_BISECT(i, 0, line->rows, line->row[i].from < begin + moved);
        for (; row < line->rows && line->row[row].from < end + moved; row++) {
            any = true;
            if (instance)
                line->row[row].instance = instance;
        }
    }
    return any;
}

/* Of which copy of an inlined function the rows are: of the innermost one, which comes behind those that it is in. */
static void find_instances(struct pct_line_code *line, Dwarf_Die *in, uint64_t moved)
{
    Dwarf_Die die;
    if (dwarf_child(in, &die))
        return;
    do {
        const int tag = dwarf_tag(&die);
        const bool has = tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block
                             ? take_scope(line, &die, moved)
                             : pct_debug_info_is_space(tag);
        if (has)
            find_instances(line, &die, moved);
    } while (!dwarf_siblingof(&die, &die));
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
    const struct pct_line_row row = { .from = from, .to = to, .own = to, .begins = stretch->begins };
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
    if (line->rows)
        find_instances(line, u->unit, u->bias - u->module_bias);
}
