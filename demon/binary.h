/* The program's file, and what it and its debug information say of addresses. */
#ifndef PCT_DEMON_BINARY_H
#define PCT_DEMON_BINARY_H

#include <common/demon.h>
#include <elfutils/libdwfl.h>
#include <stdbool.h>

enum { DEMON_SOURCE_NAMES = 128 };

struct demon_binary {
    Dwfl *dwfl;
    Dwfl_Module *module; /* the file, in that */
    Dwarf *dwarf;        /* of the file, or of a separate one where the system has it; NULL: there is none */
    Elf *elf;            /* of the file; NULL: it is no ELF file */
};

/* NULL for both where there is nothing; to be closed in any case. */
struct demon_binary demon_binary_open(const char *program);
void demon_binary_close(struct demon_binary *binary);

/* The symbol of this kind (STT_) at this address, by its name, or (name: NULL) any that other files can name. Copies of
 * a function that the compiler makes for special arguments have other names as symbols. NULL: there is none. */
const char *demon_binary_symbol(const struct demon_binary *binary, unsigned char kind, const char *name,
                                uint64_t address);

/* Whether the function at this address is such a copy of one of this name, "NAME.constprop.0". */
bool demon_binary_is_copy(const struct demon_binary *binary, const char *name, uint64_t address);

/* What the plan knows the program by: where it begins, and the first bytes of code at this address. False: its file is
 * damaged. */
bool demon_binary_identify(const struct demon_binary *binary, uint64_t address, struct pct_demon_plan *plan);

/* The names of its source files, with commas between them, as `pct run --focus` takes them. False: a token has no room
 * for them, or one has a comma itself. */
bool demon_binary_list_sources(const char *program, char names[DEMON_SOURCE_NAMES]);

/* Whether it stands between commas in there. */
bool demon_binary_is_listed(const char *names, const char *name);

#endif
