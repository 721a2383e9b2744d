/* Where control comes to the code of a source line from code of another one, by the line table of debug information and
 * the instructions themselves. One line may have many such places: each copy of an inlined function or a template, each
 * part into which a loop was split, each way that leads into the middle of it. */
#ifndef PCT_CLI_LINE_ENTRIES_H
#define PCT_CLI_LINE_ENTRIES_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A stretch of code of the line. */
struct pct_line_row {
    uint64_t from, to; /* as the file has them; */
    uint64_t own;      /* up to here that of the line; behind that what belongs to none */
    uint64_t instance; /* of which copy of an inlined function it is; 0: of none */
    bool begins;       /* a statement begins with it; otherwise compilers may have moved it there */
};

/* A function, or a part of one, that has such code. */
struct pct_line_part {
    uint64_t from, to;
    bool called; /* where it begins, and not jumped to from the function of which it is a part */
};

struct pct_line_entry {
    uint64_t at, to; /* to: the end of the part */
    uint64_t instance;
    bool begins, dropped;
};

/* A branch; to 0: what ends at `from` never goes on there. */
struct pct_line_edge {
    uint64_t from, to;
};

struct pct_line_code {
    struct pct_line_row *row; /* by address */
    size_t rows;
    struct pct_line_part *part;
    size_t parts;
    struct pct_line_entry *entry; /* the result */
    size_t entries;
    struct pct_line_edge *edge; /* between instructions */
    size_t edges;
    const char *file; /* of the line, as the debug information has it; NULL: there are no rows */
    bool no_memory;
};

/* Add rows, in the order of their addresses. */
void pct_line_add_row(struct pct_line_code *line, const struct pct_line_row *row);
/* Add the part with some of the rows, or one that jumps to it; each once. */
void pct_line_add_part(struct pct_line_code *line, uint64_t from, uint64_t to, bool called);

/* Fill in the entries: of rows that are in none of the parts there are none. elf: the file. */
void pct_line_find_entries(struct pct_line_code *line, Elf *elf);

void pct_line_free(struct pct_line_code *line);

#endif
