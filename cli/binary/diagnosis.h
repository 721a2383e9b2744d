/* Is a program controllable, and if not, why? For `pct doctor`, and for run and replay when the shim did not come up.
 */
#ifndef PCT_CLI_DIAGNOSIS_H
#define PCT_CLI_DIAGNOSIS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

enum { PCT_DIAGNOSIS_REASONS = 64 };

/* What a reason means: worth knowing; something is left uncontrolled; control is impossible. */
enum pct_diagnosis_kind { PCT_DIAGNOSIS_NOTE, PCT_DIAGNOSIS_PARTLY, PCT_DIAGNOSIS_NOT };

struct pct_diagnosis {
    char program[PATH_MAX]; /* what would be executed; behind scripts, the interpreter */
    struct pct_diagnosis_reason {
        enum pct_diagnosis_kind kind;
        char text[512];
    } reasons[PCT_DIAGNOSIS_REASONS];
    size_t count;
};

/* Fill in the diagnosis of the program that this word names, as a shell finds it; with its libraries, if wanted.
 * Returns 0, or the exit status for the command after a message. */
int pct_diagnose(struct pct_diagnosis *d, const char *word, bool libraries);

/* The worst kind among the reasons. */
enum pct_diagnosis_kind pct_diagnosis_worst(const struct pct_diagnosis *d);

/* Why the linker did not preload the shim into this program (a path), as far as its file tells: lines with "pct: ".
 * Returns false, and prints nothing, if its file shows no reason. */
bool pct_diagnosis_explain(const char *program);

#endif
