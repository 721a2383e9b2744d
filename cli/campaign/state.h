/* What `pct run` has learned about a command in earlier campaigns: how many steps its runs take, so that change points
 * can be spread over them (PCT, section 5.1.1). A small text file for each command; docs/GUARANTEE.md has its format.
 *
 * The file is only ever replaced as a whole, and only if it is this command's own. What cannot be read is ignored with
 * a message, and kept. */
#ifndef PCT_CLI_STATE_H
#define PCT_CLI_STATE_H

#include <common/config.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Steps and threads of runs. Zero runs: nothing is known. */
struct pct_learned {
    uint64_t runs;
    uint64_t most, least; /* steps */
    uint32_t threads;     /* at most */
    uint64_t plain;       /* of the steps, plain accesses to memory, if these are too many (sampling.h) */
};

enum pct_state_kind {
    PCT_STATE_OFF,     /* neither read nor written */
    PCT_STATE_NEW,     /* there is no file yet */
    PCT_STATE_OWN,     /* it was read */
    PCT_STATE_OTHER,   /* not ours: leave it alone */
    PCT_STATE_DAMAGED, /* ours, unreadable: put it aside before writing */
};

struct pct_state_file {
    enum pct_state_kind kind;
    char path[PATH_MAX];
    uint64_t command; /* hashes: of the program's path and its arguments, and of the program's contents */
    uint64_t binary;
    char title[256]; /* the command, for people who look into the file */
    struct pct_learned learned;
    uint64_t ordered; /* the digest of what these runs skipped (ordered.h), 0: nothing */
};

/* A hash of what decides what a strategy counts as a step: its name, and the parameters that the user gave, but for
 * those that are learned and the depth. */
uint64_t pct_state_counts_by(const struct pct_config *config, const struct pct_strategy *strategy);

/* Find the file of this command and read it. where: the path, "none", or NULL for its place in $XDG_STATE_HOME or
 * ~/.local/state. program: the path that is executed. strategy: pct_state_counts_by(). Says in one line if the file is
 * not as it should be. */
void pct_state_open(struct pct_state_file *state, const char *where, const char *program, char *const *command,
                    uint64_t strategy);

/* Replace the file by one with what the campaign has learned; makes the directories. If it fails: says so, unless
 * quiet. */
void pct_state_save(struct pct_state_file *state, const struct pct_learned *learned, bool quiet);

/* XXH3 of a file's contents; 0 if it cannot be read. */
uint64_t pct_state_hash_file(const char *path);

/* Add a run. */
void pct_learned_add(struct pct_learned *learned, uint64_t steps, uint32_t threads);

/* What is to be believed after `now`, when `before` was believed: all that was seen now, and of what was more or less
 * before a share that halves with every 64 runs. So k moves with the program, and a single odd run moves it little. */
struct pct_learned pct_learned_merge(const struct pct_learned *before, const struct pct_learned *now);

/* The k for the next runs: the most steps seen, and an eighth of the range on top where runs differ, so that a run that
 * is somewhat longer still has its steps within k. */
uint64_t pct_learned_k(const struct pct_learned *learned);

/* For the tests: the text of the file and back. format returns the length. parse returns false for damaged text; *other
 * says that the text is whole but no state file, or not one of this command. */
size_t pct_state_format(const struct pct_state_file *state, char *text, size_t size);
bool pct_state_parse(struct pct_state_file *state, const char *text, size_t length, const char **other);

#endif
