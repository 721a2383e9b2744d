/* Where the linker puts addresses of libc's functions that use memory for their caller (patch/strings.h), in the file
 * of a module. */
#ifndef PCT_CLI_LINKER_SLOTS_H
#define PCT_CLI_LINKER_SLOTS_H

#include <libelf.h>
#include <patch/plan.h>
#include <stdbool.h>
#include <stddef.h>

/* *slots: to be freed, in the order of the file. False: no memory. */
bool pct_linker_slots(Elf *elf, struct pct_slot **slots, size_t *count);

#endif
