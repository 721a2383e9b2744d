/* What a run is made of, as text and as a struct: strategy, parameters, seed, token. Shared by the shim (inside the
 * target, so: no malloc, no stdio, no locale) and by the `pct` command, which therefore can never disagree.
 * docs/TOKEN.md has the grammar. */
#ifndef PCT_COMMON_CONFIG_H
#define PCT_COMMON_CONFIG_H

#include "end.h"
#include <pct/strategy.h>
#include <pct/trace.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Which memory accesses are scheduling points, in programs that tell of them: sched/memory.h. */
#define PCT_POINTS_WORDS                                                                                               \
    {                                                                                                                  \
        "shared", "all", "off", "learned"                                                                              \
    }
enum { PCT_POINTS_SHARED, PCT_POINTS_ALL, PCT_POINTS_OFF, PCT_POINTS_LEARNED, PCT_POINTS_COUNT };

/* What becomes of data races: sched/races.h. */
#define PCT_RACES_WORDS                                                                                                \
    {                                                                                                                  \
        "off", "report", "fail"                                                                                        \
    }
enum { PCT_RACES_OFF, PCT_RACES_REPORT, PCT_RACES_FAIL, PCT_RACES_COUNT };

#define PCT_LIST_MAX 321u /* with its end: as much as a token has room for beside the rest */
/* Which accesses of unmodified code are made to tell of themselves: patch/plan.h. Each level has those of the one
 * before. */
#define PCT_MEMORY_WORDS                                                                                               \
    {                                                                                                                  \
        "off", "atomics", "globals", "all", "stacks"                                                                   \
    }
enum { PCT_PATCH_OFF, PCT_PATCH_ATOMICS, PCT_PATCH_GLOBALS, PCT_PATCH_ALL, PCT_PATCH_STACKS, PCT_PATCH_COUNT };

/* Flags of a configuration that stand in a token as NAME=all, in this order. X(name) */
#define PCT_CONFIG_ALL(X) X(rounds) X(calls) X(strings) X(statics) X(explored) X(streams)

struct pct_config {
    char strategy[256];      /* a built-in name, or a path (it has a slash) */
    uint32_t given;          /* bit i: parameter i was given by the user */
    struct pct_run run;      /* seed and the values of the parameters */
    uint64_t epoch;          /* seconds since 1970 at which virtual time begins; 0: the time of the start */
    bool real_time;          /* PCT_TIME=real */
    bool still;              /* time=still: it only goes on to deadlines, when nobody can run. Of explored runs */
    uint64_t slack;          /* of deadlines, in ns (slack.c); PCT_SLACK_UNSAID until it is settled */
    uint64_t max_steps;      /* step bound, 0: none */
    uint8_t memory_points;   /* PCT_POINTS_* */
    uint8_t races;           /* PCT_RACES_* */
    char list[PCT_LIST_MAX]; /* the text of the strategy's list, or that packed (list.h), "" if it is empty; run.list is
                                for whoever starts it to set */
    uint8_t memory;          /* PCT_PATCH_* */
    char modules[48];        /* the libraries that are patched, too: names with a slash in between */
    char focus[128];         /* patterns: see pct_config_parse_focus() */
    char watch[96];          /* variables that watchpoints watch: see pct_config_parse_watch() */
    char functions[128];     /* whose entries and returns are points: see pct_config_parse_functions() */
    uint8_t sample;          /* percent of the places in the code that are drawn from the seed; 0: no sample */
    bool sample_fixed;       /* not from the run's, but from this one: another schedule of the same points */
    uint64_t sample_seed;
    uint64_t passed_races; /* with PCT_RACES_FAIL: this many were suppressed before the run ended */
    uint64_t ordered; /* with PCT_POINTS_LEARNED: the digest of what was learned (common/ordered.h), 0: nothing yet */
    uint8_t end;      /* enum pct_end; what is not said is PCT_END_PLAIN, so whoever makes a new configuration sets
                         PCT_END_DRAWN */
    bool spurious;    /* some waits for condition variables end although nobody has signalled */
    bool rounds;      /* each read of a loop in patched code that waits for memory is an access like others */
    bool calls;       /* calls and jumps through variables in patched code are accesses */
    bool strings;     /* so is what memcpy and its like do for patched code: preload/memory/strings.h */
    bool statics;     /* each use of a guarded static variable of C++ is a call: preload/sync/guard.c */
    bool explored;    /* it has all steps of an explored run: pct_sched_is_explored() */
    bool streams;     /* each call of libc that takes a stream's lock is a point: preload/io/streams.c */
    bool has_hash;
    uint64_t hash; /* the trace hash that a token promises */
};

/* Whether an int3 stands where no jump fits, so that no access of these is left out: explored runs leave none out. */
static inline bool pct_config_traps(const struct pct_config *config)
{
    return config->memory >= PCT_PATCH_STACKS || config->rounds;
}

/* All of these return 0, or -EINVAL with a message of one line for the user in error[size] (it names the cause and the
 * way out, with a "did you mean" where a known word is close). */

/* Parse `NAME[,param=value...]`, also the reserved parameters time=, max-steps=, memory-points=, races=, memory=,
 * memory-modules=, focus=, watch=, memory-sample=, races-passed=, ordered=, end=, slack=, spurious=, functions=,
 * rounds=, calls=, strings=, statics=, explored= and streams=. `find` returns the strategy of that name (the shim and
 * the command each have their way to load a path), or NULL with error set. Parameters that are not given get their
 * defaults. */
typedef const struct pct_strategy *pct_find_strategy(const char *name, char *error, size_t size);
int pct_config_parse_spec(struct pct_config *config, const char *spec, pct_find_strategy *find, char *error,
                          size_t size);

/* Parse a token: version, spec, seed, epoch, hash, check digits. Says apart: not a token, damaged (check digits),
 * from a newer version of pct. */
int pct_config_parse_token(struct pct_config *config, const char *token, pct_find_strategy *find, char *error,
                           size_t size);

/* Whole numbers: decimal digits, or 0x and hexadecimal. what names the thing in the message. */
int pct_config_parse_u64(uint64_t *value, const char *text, uint64_t min, uint64_t max, const char *what, char *error,
                         size_t size);

/* One of these words: *value is its index. */
int pct_config_parse_word(uint8_t *value, const char *text, const char *const *words, unsigned count, const char *what,
                          char *error, size_t size);

/* A word of PCT_POINTS_WORDS, of PCT_RACES_WORDS, of PCT_MEMORY_WORDS. what names the thing in the message. */
int pct_config_parse_points(struct pct_config *config, const char *text, const char *what, char *error, size_t size);
int pct_config_parse_races(struct pct_config *config, const char *text, const char *what, char *error, size_t size);
int pct_config_parse_memory(struct pct_config *config, const char *text, const char *what, char *error, size_t size);

/* `some` or `all`. */
int pct_config_parse_some(bool *all, const char *text, const char *what, char *error, size_t size);

/* A word of PCT_END_WORDS. */
int pct_config_parse_end(struct pct_config *config, const char *text, const char *what, char *error, size_t size);

/* A percentage, of 1 to 99; in a token also the seed that the sample is drawn from, with a hyphen between. */
int pct_config_parse_sample(struct pct_config *config, const char *text, const char *what, char *error, size_t size);

/* Names of libraries, with commas or slashes in between. */
int pct_config_parse_modules(struct pct_config *config, const char *text, const char *what, char *error, size_t size);

/* What --focus says: patterns with commas in between. Kept as it stands in a token: a slash for the comma, and %XX for
 * characters that a token cannot have. take: from a token, as it stands there. pct_config_format_focus() gives the text
 * back. */
int pct_config_parse_focus(struct pct_config *config, const char *text, const char *what, char *error, size_t size);
int pct_config_take_focus(struct pct_config *config, const char *text, const char *what, char *error, size_t size);
void pct_config_format_focus(const struct pct_config *config, char *text, size_t size);

/* The same for what --watch says. What its patterns mean is for the command to judge. */
int pct_config_parse_watch(struct pct_config *config, const char *text, const char *what, char *error, size_t size);
int pct_config_take_watch(struct pct_config *config, const char *text, const char *what, char *error, size_t size);
void pct_config_format_watch(const struct pct_config *config, char *text, size_t size);

/* The same for what --functions says. */
int pct_config_parse_functions(struct pct_config *config, const char *text, const char *what, char *error, size_t size);
int pct_config_take_functions(struct pct_config *config, const char *text, const char *what, char *error, size_t size);
void pct_config_format_functions(const struct pct_config *config, char *text, size_t size);

/* What choices imply: to learn takes the race detector. */
void pct_config_settle(struct pct_config *config);

/* How long runs are is not known, and k was not given: draw it from the seed, over all scales, because change points
 * that are spread over a thousand steps find nothing in a run of fifty. Changes nothing where k was given, and for
 * strategies of the user's own. */
void pct_config_draw_k(struct pct_config *config, const struct pct_strategy *strategy);

/* The run is that of a member of *strategy (mixture), which becomes it: parameters go to the member's of the same name,
 * others are default. */
void pct_config_become(struct pct_config *config, const struct pct_strategy **strategy,
                       const struct pct_strategy *member);

/* slack.c: how far ahead in virtual time a deadline may be for its wait to time out while others could run. A number
 * and its unit (ns, us, ms or s), or 0. pct_config_add_slack() gives the shortest of the texts that mean the same. */
#define PCT_SLACK_DEFAULT UINT64_C(20000000)
#define PCT_SLACK_MOST UINT64_C(1000000000000)
#define PCT_SLACK_UNSAID UINT64_MAX
#define PCT_SLACK_INVERSE 2u /* one run in this many has none */
#define PCT_SLACK_COINS 2u   /* and of the waits in the others, one in this many: sched/slack.c */
int pct_config_parse_slack(struct pct_config *config, const char *text, const char *what, char *error, size_t size);
struct pct_text;
void pct_config_add_slack(struct pct_text *text, uint64_t slack);

/* Where nothing was said, it is the default; but 0 where a list says what happens in which order. And it is 0 where
 * time is real, or nothing is scheduled. */
void pct_config_settle_slack(struct pct_config *config, const struct pct_strategy *strategy);

/* What was settled is for many runs. In the one of this configuration's seed it is this: all, or, in half of the runs,
 * 0. All of it for a strategy that follows a list, which decides what becomes of it. Tokens have what their run has. */
uint64_t pct_config_draw_slack(const struct pct_config *config, const struct pct_strategy *strategy);

/* Whether this wait of a thread for a condition variable ends by itself, where the configuration says `spurious`: one
 * in this many, by the seed. count: of that thread's waits so far. */
#define PCT_SPURIOUS_COINS 4u
bool pct_config_draw_spurious(const struct pct_config *config, uint32_t thread, uint32_t count);
int pct_config_parse_spurious(struct pct_config *config, const char *text, const char *what, char *error, size_t size);

/* The digest of what was learned: 16 hexadecimal digits. */
int pct_config_parse_ordered(struct pct_config *config, const char *text, const char *what, char *error, size_t size);

/* For config.c: nothing was said but the strategy. Add the sample, the passed races, the digest, the end, the slack and
 * whether there are spurious wake-ups to a token; how many letters that takes at most. */
void pct_config_clear_reserved(struct pct_config *config);
size_t pct_config_numbers_length(const struct pct_config *config);
void pct_config_add_numbers(struct pct_text *text, const struct pct_config *config);

/* Whether the token of this configuration has room for all that it says, whatever the seed is. Parsers of specs and
 * tokens see to that; to be asked again after memory or modules were set. */
bool pct_config_fits(const struct pct_config *config, const struct pct_strategy *strategy);

/* Format the token of this configuration (with the hash if has_hash). strategy gives the names of the parameters.
 * Returns its length; out is always terminated. */
size_t pct_config_format_token(char *out, size_t size, const struct pct_config *config,
                               const struct pct_strategy *strategy);

/* The variables of the environment that pct knows: X(NAME, value, one line of help). docs/VARIABLES.md is generated. */
#define PCT_VARIABLES(X)                                                                                               \
    X(PCT_STRATEGY, "NAME[,PARAM=VALUE...]",                                                                           \
      "the strategy and its parameters; a path loads an out-of-tree one. Default: mixture")                            \
    X(PCT_SEED, "NUMBER", "the seed. Default: drawn at random, and printed")                                           \
    X(PCT_TOKEN, "TOKEN", "run exactly the schedule that this token names; excludes PCT_STRATEGY and PCT_SEED")        \
    X(PCT_REPLAY, "FILE", "follow the schedule recorded in this trace")                                                \
    X(PCT_SCHEDULE, "FILE", "the list of the strategy, where it is too long for a token")                              \
    X(PCT_EXPLORE, "FILE", "internal: between `pct explore`, or `pct script`, and its runs")                           \
    X(PCT_TRACE, "FILE",                                                                                               \
      "record the trace in this file. A child process that fails leaves its last steps in FILE.PID")                   \
    X(PCT_ENVIRONMENT, "on|off", "off: leave the values of the environment out of the trace. Default: on")             \
    X(PCT_SITES, "on|calls|family|STEP[,STEP...]",                                                                     \
      "record in the trace where in the target each step was made; calls: without its callers; family: of children, "  \
      "too; with numbers of "                                                                                          \
      "steps, also the stacks before these. "                                                                          \
      "Default: off")                                                                                                  \
    X(PCT_TIME, "virtual|real", "whether sleeps and timeouts take virtual or real time. Default: virtual")             \
    X(PCT_SLACK, "TIME",                                                                                               \
      "in half of the runs, a sleep or time-out that ends within this virtual time may do so while other threads "     \
      "could run: 20ms, 1s, or 0, never (docs/TIME.md). Default: 20ms")                                                \
    X(PCT_SPURIOUS, "on|off",                                                                                          \
      "on: one wait for a condition variable in four ends though nobody has signalled, as POSIX allows. Default: off") \
    X(PCT_MAX_STEPS, "NUMBER", "end the run as a livelock after this many steps. Default: 0, no bound")                \
    X(PCT_MEMORY_POINTS, "shared|all|off|learned",                                                                     \
      "which memory accesses are scheduling points: those to locations that several threads touch, all, none, or "     \
      "those that earlier runs have not shown to be ordered. Default: shared")                                         \
    X(PCT_RACES, "off|report|fail", "report data races at the end, or end the run at the first. Default: off")         \
    X(PCT_MEMORY, "off|atomics|globals|all|stacks",                                                                    \
      "which memory accesses of an unmodified program are patched to be scheduling points (docs/PATCHING.md). "        \
      "Default: off")                                                                                                  \
    X(PCT_MEMORY_MODULES, "NAME,...",                                                                                  \
      "libraries that are patched, too: libz for libz.so.1; all for all but libc and the dynamic linker. Default: "    \
      "none")                                                                                                          \
    X(PCT_FOCUS, "PATTERN,...",                                                                                        \
      "only accesses by these functions or files, or to these variables, are scheduling points (docs/FOCUS.md). "      \
      "Default: all")                                                                                                  \
    X(PCT_WATCH, "VARIABLE[+OFFSET][:BYTES],...",                                                                      \
      "every access to these variables is a scheduling point, by the processor's watchpoints (docs/WATCH.md). "        \
      "Default: none")                                                                                                 \
    X(PCT_FUNCTIONS, "NAME,...",                                                                                       \
      "where these functions begin and return are scheduling points, too (docs/PATCHING.md). Default: none")           \
    X(PCT_MEMORY_SAMPLE, "PERCENT",                                                                                    \
      "of the places in the code that access memory, only this percentage are scheduling points, drawn from the "      \
      "seed. Default: all")                                                                                            \
    X(PCT_SUPPRESSIONS, "FILE", "data races that do not matter, in ThreadSanitizer's format. Default: none")           \
    X(PCT_SCOPE, "FILE",                                                                                               \
      "internal: what the pct command knows of PCT_FOCUS, PCT_WATCH, PCT_FUNCTIONS and "                               \
      "PCT_SUPPRESSIONS")                                                                                              \
    X(PCT_ORDERED, "DIRECTORY", "where the files are that ordered= in a token names. Default: nowhere")                \
    X(PCT_PLANS, "DIRECTORY", "where to keep what was found out about the code of modules. Default: nowhere")          \
    X(PCT_EPOCH, "SECONDS", "the time of day at which virtual time begins. Default: now")                              \
    X(PCT_FAMILY, "MEMORY.SLOT...", "internal: the processes whose virtual time this one shares")                      \
    X(PCT_DEMON, "FILE", "internal: the plan of `--demon`")                                                            \
    X(PCT_CPU, "NUMBER|any", "the CPU that the target is pinned to. Default: the one it starts on")                    \
    X(PCT_WATCHDOG, "MILLISECONDS|off",                                                                                \
      "a thread that computes this long without an intercepted call lets others go first, next after a tenth, at "     \
      "least 100 ms (one that sleeps or spins: within milliseconds). off: no watchdog. Default: 10000")                \
    X(PCT_LOG, "normal|quiet", "quiet: print nothing, not even failures. Default: normal")

/* NULL if `variable` ("PCT_SEED", without the value) is known; otherwise the closest known one, or "" if none is close.
 */
const char *pct_config_unknown_variable(const char *variable);

#endif
