/* The `pct` command: finds the sub-command and calls it. Everything else is in the sub-command's own file. */
#include <cli/base/cli.h>
#include <cli/base/status_line.h>
#include <cli/binary/locate.h>
#include <argp.h>
#include <common/text.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct command {
    const char *name;
    const char *called; /* argv[0] for argp's messages */
    int (*run)(int argc, char **argv);
    const char *help;
} commands[] = {
#define COMMAND(id, name, help) { name, "pct " name, pct_cmd_##id, help },
    PCT_COMMANDS(COMMAND)
#undef COMMAND
};

enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

enum { LINE = 79, INDENT = 14 }; /* columns of a line, at most; where a command's words stand */

static void print_line(FILE *out, const char *name, const char *help, unsigned columns)
{
    fprintf(out, "  %-*s", INDENT - 2, name);
    pct_cli_wrap(out, help, columns, INDENT, INDENT);
    fputc('\n', out);
}

static int print_help(FILE *out)
{
    unsigned columns = pct_status_line_columns(out);
    columns = columns && columns <= LINE ? columns - 1 : LINE;
    pct_cli_wrap(out,
                 "Usage: pct COMMAND [OPTION...] [ARGUMENT...]\n"
                 "Run native multithreaded programs under controlled schedules: find concurrency bugs, and replay "
                 "them.\n\n",
                 columns, 0, 0);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        print_line(out, commands[i].name, commands[i].help, columns);
    print_line(out, "version", "print the version", columns);
    print_line(out, "help", "print this, or the help of a command: pct help COMMAND", columns);
    fputs("\nTry: pct run -n 1000 -- ./program\n", out);
    return 0;
}

/* A word that is no command: what was meant, as far as it shows. */
static int unknown(const char *word)
{
    char path[PATH_MAX];
    if (!strncmp(word, "pct1:", strlen("pct1:")))
        return pct_cli_usage("that is a token: pct replay TOKEN -- COMMAND [ARGUMENT...]");
    const char *names[COMMAND_COUNT + 2];
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        names[i] = commands[i].name;
    names[COMMAND_COUNT] = "version";
    names[COMMAND_COUNT + 1] = "help";
    const char *closest = pct_text_closest(word, names, COMMAND_COUNT + 2);
    int found = pct_locate_command(word, path, sizeof path);
    bool program = !found;
    if (found == 126 && strchr(word, '/'))
        return pct_cli_usage("%s: %s; `pct help` lists the commands of pct", word, pct_locate_complaint(word, found));
    if (program && (strchr(word, '/') || !closest))
        return pct_cli_usage("%s is a program, not a command of pct: pct run -n 1000 -- %s", word, word);
    if (closest)
        return pct_cli_usage("unknown command '%s'; did you mean '%s'?", word, closest);
    return pct_cli_usage("unknown command '%s'; `pct help` lists them", word);
}

static const struct command *find(const char *name)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (!strcmp(commands[i].name, name))
            return &commands[i];
    return NULL;
}

static int call(const struct command *command, int argc, char **argv)
{
    argv[0] = (char *)(uintptr_t)command->called;
    return command->run(argc, argv);
}

/* Where a standard stream is closed, the next file that is opened would take its place, and get what is meant for the
 * stream. Targets find it closed, as we did. */
static void fill_standard_streams(void)
{
    int fd;
    do
        fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

static void ignore(int signal)
{
    (void)signal;
}

/* Beyond `ulimit -f`, writing fails with an error that can be said. A handler: what we start does not inherit it. */
static void survive_file_limit(void)
{
    if (signal(SIGXFSZ, ignore) == SIG_IGN)
        signal(SIGXFSZ, SIG_IGN);
}

int main(int argc, char **argv)
{
    fill_standard_streams();
    if (!pct_cli_reserve_stack())
        return pct_cli_no_memory(" for the stack");
    survive_file_limit();
    if (argv[0] && argv[0][0])
        pct_cli_program = argv[0];
    argp_err_exit_status = PCT_EXIT_USAGE;
    argp_program_version = "pct " PCT_CLI_VERSION;
    if (argc < 2) {
        print_help(stderr);
        return PCT_EXIT_USAGE;
    }
    const char *word = argv[1];
    if (!strcmp(word, "version") || !strcmp(word, "--version") || !strcmp(word, "-V")) {
        puts(argp_program_version);
        return 0;
    }
    bool help = !strcmp(word, "help");
    if (!strcmp(word, "--help") || !strcmp(word, "-h") || (help && argc < 3))
        return print_help(stdout);
    const struct command *command = find(help ? argv[2] : word);
    if (!command)
        return unknown(help ? argv[2] : word);
    if (help) {
        char option[] = "--help";
        char *arguments[] = { NULL, option, NULL };
        return call(command, 2, arguments);
    }
    int status = call(command, argc - 1, argv + 1);
    if (!fflush(stdout) && !ferror(stdout))
        return status;
    pct_cli_say("standard output could not be written: what was to be printed there is not complete");
    return PCT_EXIT_INTERNAL;
}
