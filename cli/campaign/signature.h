/* What makes two failures the same one: how the run ended, what it said, and where the threads stood whose doing it is.
 * Addresses, numbers of threads, and line numbers are no part of it; functions and the files that they are in are. */
#ifndef PCT_CLI_SIGNATURE_H
#define PCT_CLI_SIGNATURE_H

#include <cli/process/launch.h>
#include <cli/trace/unwind.h>

enum { PCT_SIGNATURE_STACKS = 16 };

struct pct_signature_stack {
    uint32_t thread;
    char doing[160]; /* "waits for mutex 3 (lock), held by thread 2"; "" where it just runs */
    struct pct_stack frames;
};

struct pct_signature {
    uint64_t hash; /* never 0 */
    const char *verdict;
    int code;
    char title[512];    /* one line */
    char message[1024]; /* the assertion's text, what the oracle said; "" if there is none */
    char file[200];     /* the innermost place that has a source line, "" and 0 if none has */
    int line;
    size_t count; /* of stacks */
    struct pct_signature_stack *stacks;
};

/* Make the signature of a failing run. Unwinds stacks. Returns 0, or -ENOMEM. */
int pct_signature_make(struct pct_signature *signature, const struct pct_process *process,
                       const struct pct_result *result);
void pct_signature_free(struct pct_signature *signature);

/* Its hash alone: the same where two failures are the same one. 0: not known, as there was no memory. */
uint64_t pct_signature_of(const struct pct_process *process, const struct pct_result *result);

/* For the tests: the hash of what was filled in. */
uint64_t pct_signature_hash(const struct pct_signature *signature, enum pct_ending ending);

#endif
