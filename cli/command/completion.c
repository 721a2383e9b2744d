/* `pct completion`: prints what a shell needs to complete the words of pct. Nothing is listed here: each command is
 * called in a child, where what it hands to pct_parse() is taken, and nothing is parsed. */
#include "parse.h"
#include <cli/base/cli.h>
#include <cli/completion/completion.h>
#include <stdlib.h>
#include <string.h>
#include <strategies/strategies.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STRATEGIES_MAX = 64, NAME_MAX_BELOW = 64 };

static const struct pct_shell *const shells[] = { &pct_shell_bash, &pct_shell_zsh, &pct_shell_fish };
enum { SHELLS = sizeof shells / sizeof *shells };

static const struct {
    const char *name, *help;
    int (*run)(int argc, char **argv);
} commands[] = {
#define COMMAND(id, name, help) { name, help, pct_cmd_##id },
    PCT_COMMANDS(COMMAND)
#undef COMMAND
};
enum { COMMANDS = sizeof commands / sizeof *commands };

static error_t parse(int key, char *argument, struct argp_state *state)
{
    const struct pct_shell **shell = state->input;
    if (key == ARGP_KEY_END && !*shell)
        argp_error(state, "no shell is given: `pct completion bash`, zsh or fish");
    if (key != ARGP_KEY_ARG)
        return key == ARGP_KEY_END ? 0 : ARGP_ERR_UNKNOWN;
    if (*shell)
        argp_error(state, "one shell at a time: bash, zsh or fish (see `pct completion --help`)");
    for (size_t i = 0; i < SHELLS; i++)
        if (!strcmp(argument, shells[i]->name))
            *shell = shells[i];
    if (!*shell)
        argp_error(state, "'%s' is none of the shells bash, zsh and fish", argument);
    return 0;
}

static const struct argp argp = {
    .parser = parse,
    .args_doc = "SHELL",
    .doc = "Print the completion of pct's words for a shell: bash, zsh or fish.\v"
           "For this session of bash: source <(pct completion bash)",
};

/* In the child: the command that is asked. */
static const struct pct_shell *asked_shell;
static const char *asked_name;
static int (*asked_run)(int argc, char **argv);
static const struct argp *asked_above; /* of the command that this one is below of, or NULL */

static int ask(const char *name);

static void listen(const struct argp *description, const struct argp *common)
{
    static struct pct_completed completed;
    char name[NAME_MAX_BELOW];
    int failed = 0;
    if (description == asked_above)
        _exit(0); /* that word is no command, but an argument of the one above */
    pct_completed_read(&completed, asked_name, description, common);
    asked_shell->command(stdout, &completed);
    const char *below = asked_above ? NULL : description->args_doc;
    asked_above = description;
    for (size_t length; !failed && (length = pct_completed_next_below(&below));) {
        snprintf(name, sizeof name, "%s %.*s", asked_name, (int)length, below);
        failed = ask(name);
    }
    failed = fflush(stdout) || failed;
    _exit(failed ? PCT_EXIT_INTERNAL : 0);
}

/* Have the command of this name ("run", "campaign report") describe itself. Returns 0, or the exit status. */
static int ask(const char *name)
{
    int status = 0;
    char called[NAME_MAX_BELOW] = "pct";
    fflush(NULL);
    pid_t pid = fork();
    if (pid < 0)
        return PCT_EXIT_INTERNAL;
    if (!pid) {
        const char *below = strchr(name, ' ');
        char *words[] = { called, below ? strdup(below + 1) : NULL, NULL };
        asked_name = name;
        pct_parse_listener = listen;
        asked_run(below ? 2 : 1, words);
        _exit(PCT_EXIT_INTERNAL); /* it did not come to parsing */
    }
    return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : PCT_EXIT_INTERNAL;
}

int pct_cmd_completion(int argc, char **argv)
{
    struct pct_name_help names[COMMANDS + 3] = { 0 }, strategies[STRATEGIES_MAX + 1] = { 0 };
    size_t count = 0;
    pct_parse(&argp, argc, argv, PCT_PARSE_ALL, &asked_shell);
    for (; count < COMMANDS; count++)
        names[count] = (struct pct_name_help){ commands[count].name, commands[count].help };
    names[count] = (struct pct_name_help){ "version", "print the version" };
    names[count + 1] = (struct pct_name_help){ "help", "print a summary, or the help of a command" };
    for (size_t i = 0; i < STRATEGIES_MAX && pct_strategies[i]; i++)
        strategies[i].name = pct_strategies[i]->name;
    asked_shell->begin(stdout, names);
    for (size_t i = 0; i < COMMANDS; i++) {
        asked_run = commands[i].run;
        int failed = ask(commands[i].name);
        if (failed) {
            pct_cli_say("the options of `pct %s` could not be read", commands[i].name);
            return failed;
        }
    }
    asked_shell->end(stdout, names, strategies);
    return 0;
}
