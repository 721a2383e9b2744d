/* What decides the schedules of `pct run`, `pct campaign` and `pct explore`: strategy, seed, time. The options for it
 * as an argp parser for all (its input is a struct pct_run_options), and the configuration that they and the variables
 * of the environment make. */
#ifndef PCT_CLI_CONFIGURE_H
#define PCT_CLI_CONFIGURE_H

#include <cli/campaign/campaign_file.h>
#include <cli/process/options.h>
#include <argp.h>

/* As given on the command line, NULL: not. */
struct pct_run_options {
    const char *strategy, *seed, *depth, *points, *time, *max_steps, *memory_points, *races, *memory, *modules, *epoch,
        *focus, *watch, *functions, *sample, *slack;
    bool exec, spurious;
};

/* Their parser; and those of what starts runs, decides their schedules, and says what is no failure, as the first
 * children of a command's own. */
extern const struct argp pct_configure_argp;
#define PCT_CONFIGURE_CHILDREN                                                                                         \
    { &pct_options_launch_argp, 0, NULL, 0 }, { &pct_configure_argp, 0, NULL, 0 },                                     \
    {                                                                                                                  \
        &pct_options_ok_argp, 0, NULL, 0                                                                               \
    }

/* Fill in the campaign's config, strategy, k, depth and learns. *drawn: no seed was given, it is a random one. Returns
 * 0 or PCT_EXIT_USAGE after a message. */
int pct_configure(struct pct_campaign *c, const struct pct_run_options *given, bool *drawn);

/* The same for `pct COMMAND`, explore or script, whose strategy has its name and is told what to do: the seed is 0
 * unless one is given, all memory accesses count, time stands between deadlines. Changes what is given accordingly.
 * Returns 0 or PCT_EXIT_USAGE after a message, also for --time, --ready and --drive. */
int pct_configure_own(struct pct_campaign *c, struct pct_run_options *given, const char *command);

/* When the command is known: choose --memory=atomics, and say so unless quiet, where nobody has said what it shall be
 * and the program has locks of its own, whose taking is no call. Before pct_launch_prepare(). */
void pct_configure_memory(struct pct_campaign *c, bool quiet);

/* Print what was given of what decides schedules, as options that another command takes, each with a space behind it.
 * Not --strategy, --seed, --depth and --points, which that has of its own, nor --races, --memory-sample and
 * --spurious. */
void pct_configure_print(FILE *out, const struct pct_run_options *given);

/* --shard, which needs an epoch, and a seed where that is drawn: of plan->drawn and plan->has_epoch. NULL: not given,
 * it is 1 of 1. Returns 0 or PCT_EXIT_USAGE after a message. */
int pct_configure_shard(const char *text, const struct pct_campaign *c, struct pct_campaign_plan *plan);

/* The value of an option, else of a variable, else NULL. An empty one counts as none. */
const char *pct_configure_choose(const char *option, const char *variable);

#endif
