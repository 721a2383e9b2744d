/* The code of a source line, as the line table of a unit of debug information has it, for line_entries.h. */
#ifndef PCT_CLI_LINE_ROWS_H
#define PCT_CLI_LINE_ROWS_H

#include "line_entries.h"
#include "patterns.h"
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

struct pct_line_unit {
    Dwfl_Module *module;
    GElf_Addr module_bias; /* of libdwfl's addresses */
    Dwarf_Die *unit;
    GElf_Addr bias; /* of the unit's */
};

/* Add the rows of the line that this pattern means, and the functions and parts that they are in; line->file is the
 * name of its file, NULL: the unit has no code of it. */
void pct_line_read(struct pct_line_code *line, const struct pct_line_unit *u, const struct pct_pattern *pattern);

#endif
