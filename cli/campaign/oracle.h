/* The oracle of a campaign: whether a run is a failure, by more than how it ended: sanitizers' reports in its output,
 * its output against a reference, and a command of the user's. Called by the recorder, for runs that ended in an
 * orderly way (or crashed, which sanitizers like to do). */
#ifndef PCT_CLI_ORACLE_H
#define PCT_CLI_ORACLE_H

#include <argp.h>
#include <cli/process/launch.h>

/* Bytes that were written, or the last of them: behind this many. */
struct pct_oracle_text {
    char *text;
    size_t size;
    off_t from;
};

struct pct_oracle {
    const bool *ok;                   /* by exit status: no failure */
    const char *expect;               /* --expect: a file with the output that is right, or NULL */
    bool same;                        /* --expect-same: the output of the first run of the calibration is */
    const char *command;              /* --oracle: for sh -c, or NULL */
    struct pct_oracle_text reference; /* what is compared with, if has_reference */
    bool has_reference;
};

/* The parser of --expect and --oracle, whose input is a struct pct_oracle. */
extern const struct argp pct_oracle_argp;

/* Read --expect's file. Returns 0 or PCT_EXIT_USAGE after a message. */
int pct_oracle_prepare(struct pct_oracle *oracle);
void pct_oracle_close(struct pct_oracle *oracle);

/* Print the options that make an oracle like this one, each with a space behind. */
void pct_oracle_print(FILE *out, const struct pct_oracle *oracle);

/* Make the output of this run the reference. Returns 0 or -ENOMEM. */
int pct_oracle_take_reference(struct pct_oracle *oracle, const struct pct_process *process);

/* Change the result's ending, code and complaint, if there is something to complain about. Returns 0, or an exit status
 * that ends the campaign: the oracle could not be run (after a message), or was interrupted. */
int pct_oracle_run(const struct pct_oracle *oracle, struct pct_launch *launch, const struct pct_process *process,
                   struct pct_result *result);

/* For the tests: what a sanitizer reports in this output, as one line in buffer; false: nothing. */
bool pct_oracle_find_report(const char *output, size_t output_size, char *buffer, size_t size);

/* The same of the first assertion that a test framework reports (GoogleTest, Catch2, Rust, Python) when it ends with a
 * status of its own: it tells failures with the same status apart. */
bool pct_oracle_find_assertion(const char *output, size_t output_size, char *buffer, size_t size);

#endif
