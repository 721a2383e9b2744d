/* The symbols and the debug information of a file that is not loaded, for libdwfl's functions. */
#ifndef PCT_CLI_DEBUG_INFO_H
#define PCT_CLI_DEBUG_INFO_H

#include <elfutils/libdwfl.h>
#include <limits.h>
#include <stdbool.h>

/* What finds separate debug information, for Dwfl_Callbacks: as libdw's own does, but without the network. */
int pct_debug_info_find(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base, const char *file,
                        const char *link, GElf_Word check, char **found);

/* Open this file, with its separate debug information where the system has it; the network is never asked. *module:
 * what is in it, NULL: it is no ELF file. Returns what dwfl_end() frees; NULL: out of memory. */
Dwfl *pct_debug_info_open(const char *path, Dwfl_Module **module);

/* The unit of this module behind this one, NULL: the first; *bias: what its own addresses lack. NULL: there is none.
 * pct ends, with its own status, where there is no memory to read them. */
Dwarf_Die *pct_debug_info_next(Dwfl_Module *module, Dwarf_Die *unit, Dwarf_Addr *bias);

/* The unit of this module that has code at this address, as the module lies; *bias: what its own addresses lack. NULL:
 * there is none. */
Dwarf_Die *pct_debug_info_unit(Dwfl_Module *module, Dwarf_Addr address, Dwarf_Addr *bias);

/* The source file, as debug information names it, (*line) the line and the unit of the code at this address; they live
 * as long as the module. NULL: it is not known. */
const char *pct_debug_info_source(Dwfl_Module *module, Dwarf_Addr address, int *line, Dwarf_Die **unit);

/* Where a source file lies that this unit names: relative names, which clang makes of whole ones too, are so to where
 * the compiler was called. The name itself, where there is no such file. */
const char *pct_debug_info_path(Dwarf_Die *unit, const char *file, char path[PATH_MAX]);

/* Whether there may be functions in what has this tag, though it has no addresses itself. */
bool pct_debug_info_is_space(int tag);

/* The scopes of this unit that have code at this address, as the unit has it: innermost first, up to the function that
 * is not inlined; in namespaces, too. Returns how many; *scopes is to be freed. */
int pct_debug_info_scopes(Dwarf_Die *unit, Dwarf_Addr address, Dwarf_Die **scopes);

/* Where this variable lies all the time, as its unit has it. False: it is on the stack, of each thread, or left out. */
bool pct_debug_info_address(Dwarf_Die *variable, Dwarf_Addr *address);

/* The source file that declares this function or variable, as its unit names it; it lives as long as that. NULL: it is
 * not known. */
const char *pct_debug_info_file(Dwarf_Die *die);

#endif
