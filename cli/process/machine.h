/* What this machine allows, and what follows for pct: each is tried, not guessed from versions. For `pct doctor
 * --system`. */
#ifndef PCT_CLI_MACHINE_H
#define PCT_CLI_MACHINE_H

#include <stdbool.h>
#include <stddef.h>

/* Nothing is lacking; worth knowing; something of pct does not work here, or claims are weaker; nothing works. */
enum pct_machine_kind { PCT_MACHINE_OK, PCT_MACHINE_NOTE, PCT_MACHINE_LIMITED, PCT_MACHINE_NOT };

enum { PCT_MACHINE_FACTS = 24 };

struct pct_machine {
    struct pct_machine_fact {
        enum pct_machine_kind kind;
        const char *what; /* a word or two */
        char text[320];   /* how it is, and what follows */
        const char *way;  /* out of it; "" if none is needed, or there is none */
    } facts[PCT_MACHINE_FACTS];
    size_t count;
};

/* Look at everything. Makes children, which end before it returns; changes nothing. library: as of --lib, may be NULL.
 */
void pct_machine_examine(struct pct_machine *machine, const char *library);

enum pct_machine_kind pct_machine_worst(const struct pct_machine *machine);

#endif
