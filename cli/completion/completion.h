/* What a shell can complete of a command of pct, from its argp description, and the shells that it is printed for.
 * Called by `pct completion`, which walks the commands. */
#ifndef PCT_CLI_COMPLETION_H
#define PCT_CLI_COMPLETION_H

#include <cli/base/flat_options.h>
#include <stdio.h>

/* What a word stands for, told by its name in help: FILE, DIR, SPEC, ... */
enum pct_word { PCT_WORD_ANY, PCT_WORD_FILE, PCT_WORD_DIRECTORY, PCT_WORD_STRATEGY };

enum { PCT_OWN_WORDS = 8 };

struct pct_completed {
    const char *name; /* "run", "campaign report" */
    struct pct_flat_option options[PCT_FLAT_OPTIONS];
    size_t option_count;
    enum pct_word own[PCT_OWN_WORDS]; /* its words that are no options, before those of the target */
    size_t own_count;
    bool repeats; /* the last of them may come again */
    bool target;  /* a command and its words follow */
};

struct pct_name_help {
    const char *name, *help;
};

/* What a shell gets: first `begin` with all commands (ended by a NULL name), then `command` for each, then `end`. */
struct pct_shell {
    const char *name;
    void (*begin)(FILE *out, const struct pct_name_help *commands);
    void (*command)(FILE *out, const struct pct_completed *command);
    void (*end)(FILE *out, const struct pct_name_help *commands, const struct pct_name_help *strategies);
};

extern const struct pct_shell pct_shell_bash, pct_shell_zsh, pct_shell_fish;

/* Read the description of the command of this name, and what it takes as all do (NULL: nothing). Of several lines of
 * its args_doc, this takes the first. */
void pct_completed_read(struct pct_completed *command, const char *name, const struct argp *argp,
                        const struct argp *common);

/* The word that begins the next line of this args_doc, if that is the name of a command below it ("report [FILE]"): its
 * length, and *from is where it begins; 0: there is none. *from: the end of the last one, or args_doc. */
size_t pct_completed_next_below(const char **from);

/* What the value of an option stands for. */
enum pct_word pct_completed_value(const struct pct_flat_option *option);

/* Whether an option is shown. */
bool pct_completed_shown(const struct pct_flat_option *option);

/* Print text with a backslash before each of the characters `special`. */
void pct_completed_escape(FILE *out, const char *text, const char *special);

#endif
