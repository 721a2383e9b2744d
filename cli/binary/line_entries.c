/* Where control comes to a line: see line_entries.h. */
#include "line_entries.h"
#include "segments.h"
#include <Zydis/Zydis.h>
#include <common/bisect.h>
#include <stdlib.h>
#include <string.h>

/* --- Lists -------------------------------------------------------------------------------------------------------- */

/* The list with room for one more; NULL: there is no memory. */
static void *grow(struct pct_line_code *line, void *list, size_t count, size_t size)
{
    if (count & (count - 1) || line->no_memory)
        return line->no_memory ? NULL : list;
    void *more = realloc(list, (count ? 2 * count : 1) * size);
    line->no_memory |= !more;
    return more;
}

void pct_line_add_row(struct pct_line_code *line, const struct pct_line_row *row)
{
    struct pct_line_row *rows = grow(line, line->row, line->rows, sizeof *rows);
    if (!rows)
        return;
    line->row = rows;
    rows[line->rows++] = *row;
}

void pct_line_add_part(struct pct_line_code *line, uint64_t from, uint64_t to, bool called)
{
    for (size_t i = 0; i < line->parts; i++)
        if (line->part[i].from == from)
            return;
    struct pct_line_part *parts = grow(line, line->part, line->parts, sizeof *parts);
    if (!parts)
        return;
    line->part = parts;
    parts[line->parts++] = (struct pct_line_part){ .from = from, .to = to, .called = called };
}

static const struct pct_line_part *part_at(const struct pct_line_code *line, uint64_t address)
{
    for (size_t i = 0; i < line->parts; i++)
        if (address >= line->part[i].from && address < line->part[i].to)
            return &line->part[i];
    return NULL;
}

static const struct pct_line_row *row_at(const struct pct_line_code *line, uint64_t address)
{
    const size_t found = PCT_BISECT(i, 0, line->rows, line->row[i].to <= address);
    return found < line->rows && address >= line->row[found].from ? &line->row[found] : NULL;
}

static void add_edge(struct pct_line_code *line, uint64_t from, uint64_t to)
{
    struct pct_line_edge *edges = grow(line, line->edge, line->edges, sizeof *edges);
    if (!edges)
        return;
    line->edge = edges;
    edges[line->edges++] = (struct pct_line_edge){ .from = from, .to = to };
}

static void add_entry(struct pct_line_code *line, uint64_t at)
{
    const struct pct_line_part *part = part_at(line, at);
    const struct pct_line_row *row = row_at(line, at);
    for (size_t i = 0; i < line->entries; i++)
        if (line->entry[i].at == at)
            return;
    struct pct_line_entry *entries = part && row ? grow(line, line->entry, line->entries, sizeof *entries) : NULL;
    if (!entries)
        return;
    line->entry = entries;
    entries[line->entries++] = (struct pct_line_entry){
        .at = at, .to = part->to, .instance = row->instance, .begins = row->begins && at == row->from
    };
}

/* --- Instructions ------------------------------------------------------------------------------------------------- */

struct walk {
    struct pct_line_code *line;
    bool *reached; /* for each row: something goes on to where it begins */
};

/* Control may go from the instruction at `from` to the one at `to`. */
static void see_edge(const struct walk *w, uint64_t from, uint64_t to)
{
    const struct pct_line_row *row = row_at(w->line, to);
    if (!row)
        return;
    if (to == row->from)
        w->reached[row - w->line->row] = true;
    const struct pct_line_row *before = row_at(w->line, from);
    if (to < row->own && (!before || before->instance != row->instance))
        add_entry(w->line, to);
}

/* As far as it consists of instructions. */
static void see_part(const struct walk *w, const struct pct_line_part *part, const uint8_t *code)
{
    ZydisDecoder decoder;
    uint64_t before = 0; /* the instruction that goes on to the next one, plus 1; 0: it does not */
    if (!ZYAN_SUCCESS(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)))
        return;
    for (uint64_t at = part->from; at < part->to;) {
        ZydisDecodedInstruction instruction;
        if (!ZYAN_SUCCESS(
                ZydisDecoderDecodeInstruction(&decoder, NULL, code + (at - part->from), part->to - at, &instruction)))
            return;
        const ZydisInstructionCategory category = instruction.meta.category;
        const bool jumps = category == ZYDIS_CATEGORY_UNCOND_BR;
        const uint64_t to = at + instruction.length + (uint64_t)instruction.raw.imm[0].value.s;
        if (before)
            see_edge(w, before - 1, at);
        if ((jumps || category == ZYDIS_CATEGORY_COND_BR) && instruction.raw.imm[0].is_relative) {
            add_edge(w->line, at, to);
            see_edge(w, at, to);
        }
        before = jumps || category == ZYDIS_CATEGORY_RET || instruction.mnemonic == ZYDIS_MNEMONIC_UD2 ? 0 : at + 1;
        if (!before)
            add_edge(w->line, at + instruction.length, 0);
        at += instruction.length;
    }
}

/* Where the code at this address of the line only jumps elsewhere in that, it is there that control comes to it: what
 * begins a loop may do so, and no jump of ours fits in its place. */
static uint64_t follow(const struct pct_line_code *line, Elf *elf, uint64_t at)
{
    const struct pct_line_row *row = row_at(line, at);
    const struct pct_line_part *part = part_at(line, at);
    const uint8_t *code = part ? pct_segment_bytes(elf, part->from, part->to - part->from, 0) : NULL;
    ZydisDecoder decoder;
    ZydisDecodedInstruction instruction;
    if (!code || !ZYAN_SUCCESS(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)) ||
        !ZYAN_SUCCESS(
            ZydisDecoderDecodeInstruction(&decoder, NULL, code + (at - part->from), part->to - at, &instruction)) ||
        instruction.meta.category != ZYDIS_CATEGORY_UNCOND_BR || !instruction.raw.imm[0].is_relative)
        return at;
    const uint64_t to = at + instruction.length + (uint64_t)instruction.raw.imm[0].value.s;
    const struct pct_line_row *other = row_at(line, to);
    for (size_t i = 0; i < line->entries && other && other->instance == row->instance; i++)
        if (line->entry[i].at == to && !line->entry[i].dropped)
            return to;
    return at;
}

static int by_address(const void *a, const void *b)
{
    const struct pct_line_entry *x = a, *y = b;
    return (x->at > y->at) - (x->at < y->at);
}

/* Whether control comes to the second address from the first one only, straight on. */
static bool is_straight(const struct pct_line_code *line, uint64_t first, uint64_t second)
{
    for (size_t i = 0; i < line->edges; i++) {
        const struct pct_line_edge *edge = &line->edge[i];
        const bool inside = edge->from >= first && edge->from < second;
        const bool ends = !edge->to && edge->from > first && edge->from <= second;
        if (ends || (edge->to && !inside && edge->to > first && edge->to <= second))
            return false;
    }
    return true;
}

/* Whether control comes to this entry only by branches of the same copy of the line, and straight on from there. */
static bool comes_from_itself(const struct pct_line_code *line, const struct pct_line_entry *entry)
{
    const struct pct_line_part *part = part_at(line, entry->at);
    uint64_t block = part->from;
    for (size_t i = 0; i < line->edges; i++)
        if (line->edge[i].to > block && line->edge[i].to <= entry->at)
            block = line->edge[i].to;
    bool alone = block == part->from && !part->called, any = false;
    for (size_t i = 0; i < line->edges; i++) {
        const struct pct_line_edge *edge = &line->edge[i];
        const struct pct_line_row *row = edge->to == block ? row_at(line, edge->from) : NULL;
        alone |= !edge->to && edge->from == block;
        if (edge->to == block && (!row || row->instance != entry->instance))
            return false;
        any |= row != NULL;
    }
    return any && alone && is_straight(line, block, entry->at);
}

/* What a compiler has moved away from its statement is no place of its own where the rest of that comes straight before
 * it; where it comes before the rest, it is the statement's. */
static void drop_moved(struct pct_line_code *line)
{
    for (size_t i = 0; i < line->entries; i++) {
        struct pct_line_entry *entry = &line->entry[i];
        size_t before = i;
        entry->dropped = !entry->begins && comes_from_itself(line, entry);
        while (before-- > 0 && line->entry[before].instance != entry->instance)
            ;
        if (before != SIZE_MAX && line->entry[before].to == entry->to &&
            is_straight(line, line->entry[before].at, entry->at))
            entry->dropped = !entry->begins || (!line->entry[before].begins && !line->entry[before].dropped);
    }
}

void pct_line_find_entries(struct pct_line_code *line, Elf *elf)
{
    struct walk w = { .line = line, .reached = calloc(line->rows + 1, sizeof *w.reached) };
    line->no_memory |= !w.reached;
    for (size_t i = 0; i < line->parts && !line->no_memory; i++) {
        const struct pct_line_part *part = &line->part[i];
        const uint8_t *code = pct_segment_bytes(elf, part->from, part->to - part->from, 0);
        if (code)
            see_part(&w, part, code);
    }
    /* What nothing is known to go on to, control comes to in ways that are not known. */
    for (size_t i = 0; i < line->rows && !line->no_memory; i++) {
        const struct pct_line_part *part = part_at(line, line->row[i].from);
        if (part && (!w.reached[i] || (part->called && line->row[i].from == part->from)))
            add_entry(line, line->row[i].from);
    }
    if (line->entries)
        qsort(line->entry, line->entries, sizeof *line->entry, by_address);
    drop_moved(line);
    for (size_t i = 0; i < line->entries; i++)
        line->entry[i].dropped |= follow(line, elf, line->entry[i].at) != line->entry[i].at;
    size_t kept = 0;
    for (size_t i = 0; i < line->entries; i++)
        if (!line->entry[i].dropped)
            line->entry[kept++] = line->entry[i];
    line->entries = line->no_memory ? 0 : kept;
    free(w.reached);
}

void pct_line_free(struct pct_line_code *line)
{
    free(line->row);
    free(line->part);
    free(line->entry);
    free(line->edge);
    *line = (struct pct_line_code){ 0 };
}
