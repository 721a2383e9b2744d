/* Is a program controllable, and if not, why? For `pct doctor`, and for run and replay when the shim did not come up.
 */
#ifndef PCT_CLI_CONTROLLABILITY_H
#define PCT_CLI_CONTROLLABILITY_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

enum { PCT_CONTROLLABILITY_REASONS = 64 };

/* What a reason means: worth knowing; something is left uncontrolled; control is impossible. */
enum pct_controllability_kind { PCT_CONTROLLABILITY_NOTE, PCT_CONTROLLABILITY_PARTLY, PCT_CONTROLLABILITY_NOT };

struct pct_controllability {
    char program[PATH_MAX]; /* what would be executed; behind scripts, the interpreter */
    struct pct_controllability_reason {
        enum pct_controllability_kind kind;
        char text[512];
    } reasons[PCT_CONTROLLABILITY_REASONS];
    size_t count;
};

/* Look at the program that this word names, as a shell finds it; with its libraries, if wanted.
 * Returns 0, or the exit status for the command after a message. */
int pct_controllability_find(struct pct_controllability *d, const char *word, bool libraries);

/* The worst kind among the reasons. */
enum pct_controllability_kind pct_controllability_worst(const struct pct_controllability *d);

/* Why the linker did not preload the shim into this program (a path), as far as its file tells: lines with "pct: ".
 * Returns false, and prints nothing, if its file shows no reason. */
bool pct_controllability_explain(const char *program);

#endif
