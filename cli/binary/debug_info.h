/* The symbols and the debug information of a file that is not loaded, for libdwfl's functions. */
#ifndef PCT_CLI_DEBUG_INFO_H
#define PCT_CLI_DEBUG_INFO_H

#include <elfutils/libdwfl.h>

/* Open this file, with its separate debug information where the system has it; the network is never asked. *module:
 * what is in it, NULL: it is no ELF file. Returns what dwfl_end() frees; NULL: out of memory. */
Dwfl *pct_debug_info_open(const char *path, Dwfl_Module **module);

#endif
