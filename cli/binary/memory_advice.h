/* Which scheduling points a program needs beside its calls, as far as its code tells: for `pct doctor`. */
#ifndef PCT_CLI_MEMORY_ADVICE_H
#define PCT_CLI_MEMORY_ADVICE_H

#include "elf_facts.h"
#include <common/config.h>
#include <stddef.h>

/* What it may need: points at calls alone, at atomic instructions, at accesses to global variables, or a build with
 * pct-cc, which tells of all accesses and of how each was meant. Each kind may stand beside others. */
enum pct_advice_kind { PCT_ADVICE_CALLS, PCT_ADVICE_ATOMICS, PCT_ADVICE_GLOBALS, PCT_ADVICE_REBUILD, PCT_ADVICE_KINDS };

struct pct_memory_advice {
    char why[PCT_ADVICE_KINDS][384]; /* a line for the user: what is needed, and the reason; "": not needed */
};

/* Look at the code of a program (a path) that makes threads; *facts are those of its file. Runs nothing. */
void pct_memory_advise(struct pct_memory_advice *advice, const char *path, const struct pct_elf_facts *facts);

/* Whether a run of this command (its first word) with this configuration may access memory unseen: neither is all of it
 * patched, nor does the program tell. false where the program is not found. */
bool pct_memory_is_unseen(const struct pct_config *config, const char *command);

#endif
