/* What `pct script` needs beside its options: the names in a script, the channel to its runs, and the runs.
 *
 *     names.c    the names that stand in a script, found in its text, and what they stand for in the program
 *     entered.c  what threads enter first that a library starts
 *     stops.c    where threads can stop as they come to a line
 *     own.c      scripts that the program has itself
 *     channel.c  the file that a run reads the script from (common/script.h)
 *     token.c    the run as a token
 *     runs.c     one run
 *     all.c      one for each way that the script's choices can go, which ways.c keeps, or dpor.c; slots.c: those
 *                that are under way
 *     verdict.c  what came of a run; lines.c: which steps each line took */
#ifndef PCT_CLI_SCRIPT_H
#define PCT_CLI_SCRIPT_H

#include "ways.h"
#include <cli/binary/members.h>
#include <cli/binary/scope.h>
#include <cli/campaign/campaign.h>
#include <common/script.h>
#include <limits.h>

/* A name in a script. */
struct pct_script_word {
    char *text;
    enum pct_script_kind kind;
    unsigned line;
    bool returns;             /* of BODY: where it returns matters */
    bool starts;              /* of FUNCTION: threads begin with it */
    char *functions;          /* of ENTERED: its functions, as --functions has them; of LINE: itself, if threads can */
    char *refusal;            /* stop where its code begins; or why they cannot. NULL: not so */
    struct pct_member member; /* of VARIABLE: the part that is meant, where there are pointers on the way */
    bool unknown;             /* no debug information has the variable, and a member of it is meant */
};

struct pct_script_words {
    struct pct_script_word *item;
    size_t count;
};

/* The script that this program has for this test (PCT_TEST), "": by pct_script(), NULL: any. To be freed; NULL: there
 * is none. *count: how many scripts it has. */
char *pct_script_own(const char *program, const char *test, unsigned *count);

/* Find the names: the words in quotes behind locks, starts, from and the like. False: out of memory. */
bool pct_script_words_find(struct pct_script_words *words, const char *text);
/* The functions in which threads are to stop, as --functions has them, after those of `given` (NULL: none): to be
 * freed; NULL: there are none, or no memory. *returns: threads are to stop where they return, too. */
char *pct_script_words_functions(const struct pct_script_words *words, const char *given, bool *returns);
void pct_script_words_free(struct pct_script_words *words);

/* What the names stand for, in the order of the words: found in the program and the libraries that it is loaded with.
 */
struct pct_script_places {
    struct pct_script_place {
        uint32_t word, module; /* module: of `modules` */
        uint64_t from, to;
    } * item;
    size_t count;
    char **modules; /* names without directories; "" is the program */
    size_t module_count;
};

/* Returns 0, or the exit status after a message that names the line: a name stands for nothing. file: the script. */
int pct_script_places_find(struct pct_script_places *places, struct pct_script_words *words, const char *program,
                           const char *file);
void pct_script_places_free(struct pct_script_places *places);

/* Of one word, which stands for these matches of scope->item (their pattern is the word's place): */
bool pct_script_is_meant(const struct pct_scope *scope, size_t word, const struct pct_scope_match *match);
/* the next place of this word. False: out of memory. */
bool pct_script_places_add(struct pct_script_places *places, size_t word, uint32_t module, uint64_t from, uint64_t to);
/* For each word that threads begin with, where the program starts threads by C++'s or Rust's library: an ENTERED behind
 * all words, with its places. Returns 0, or the exit status after a message. */
int pct_script_entered_add(struct pct_script_places *places, struct pct_script_words *words,
                           const struct pct_scope *scope);

/* Of each line, whether threads can stop where its code begins. Returns 0, or the exit status after a message. */
int pct_script_stops_find(struct pct_script_words *words, const struct pct_scope *scope);

struct pct_script_file {
    char path[PATH_MAX]; /* of the channel */
    int file;            /* -1: none */
    size_t size;
    struct pct_script_channel *channel;
    uint64_t index; /* of its last run; */
    bool hurried;   /* which has not much time left */
    double waits;   /* since then it waits for what is outside (pct_cli_now()); 0: it does not */
};

/* Make the channel of this script. logs: runs write a log. Returns 0 or a negative errno. */
int pct_script_file_open(struct pct_script_file *file, const char *name, const char *text,
                         const struct pct_script_words *words, const struct pct_script_places *places, bool logs);
void pct_script_file_close(struct pct_script_file *file);

/* For the next run: what the one before has written is gone. */
void pct_script_channel_reset(struct pct_script_channel *channel);

/* The run is over: what came of the script is what the processes for which it has parts say, and no more the first
 * one's alone. */
void pct_script_settle(struct pct_script_channel *channel);

/* The run as one that needs no script: its configuration, and the list of its strategy, of any length, to be freed.
 * Returns NULL, or why there is none, and what repeats it. */
const char *pct_script_schedule(struct pct_script_channel *channel, const struct pct_trace *trace,
                                struct pct_config *config, char **list);

/* What the processes of the run did, as the list of the strategy `processes`, of any length; to be freed. NULL: there
 * is no memory or no room, or it is not known which process is which, as *why then says. */
char *pct_script_orders(struct pct_script_channel *channel, const char **why);

struct pct_script_runs {
    struct pct_campaign *campaign; /* configured, and its launch prepared */
    struct pct_script_file *file;  /* one for each job of the campaign */
    unsigned files;
    const char *name;    /* of the script */
    const char *keep;    /* a file for the trace, or NULL */
    char bare[PATH_MAX]; /* launch.library_path of runs without a script */
    bool all;            /* every way that its choices can go */
    enum pct_ways_order order;
    bool dpor;      /* of ways that differ only in the order of steps that commute, one */
    uint32_t bound; /* of preemptions by choices of threads, plus 1; 0: none */
    bool first;     /* no more after the first that fails */
    uint64_t limit; /* of runs, 0: none */
    bool quiet;
    bool ok_unfit; /* that the threads cannot do what the script says is no failure */
    bool outside;  /* that a run waits for what is outside has been said */
    uint32_t ran;  /* that a thread has run for this many seconds without a point */
    bool made;     /* the exit status is that of the run, which was made */
    bool outcome;  /* the last line is what came of it: PCT_SCRIPT_SAYS_* */
};

/* For whom the exit status, which may be the program's own, does not say enough (cli/command/subcommand_entry.h):
 * after "pct: ", and before the details. With the exit status 0 it is PASSES. */
#define PCT_SCRIPT_OUTCOME_OPTION "--outcome"
#define PCT_SCRIPT_SAYS_PASSES "outcome: passes: "
#define PCT_SCRIPT_SAYS_FAILS "outcome: fails: "
#define PCT_SCRIPT_SAYS_DID_NOT_FIT "outcome: did not fit: "

/* Make the run or runs, and say what came of them. Returns the exit status for the command. */
int pct_script_runs_make(struct pct_script_runs *runs);

#endif
