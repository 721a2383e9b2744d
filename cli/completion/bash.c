/* Completion for bash: a table of the commands, and walk.bash, which reads it. */
#include "completion.h"

__asm__(".pushsection .rodata\n"
        "pct_completion_walk_bash: .incbin \"cli/completion/walk.bash\"\n"
        ".byte 0\n"
        ".popsection\n");
extern const char pct_completion_walk_bash[];

static void begin(FILE *out, const struct pct_name_help *commands)
{
    (void)commands;
    fputs("# Completion of pct for bash, made by `pct completion bash`.\n"
          "# Of a command: its options; those that want a word behind them, and those whose value is of a kind; the\n"
          "# kinds of its own words, and whether the last may come again; whether a command to be run follows.\n"
          "_pct_command()\n"
          "{\n"
          "    options='' valued='' files='' directories='' strategies='' own='' repeats='' target=''\n"
          "    case $1 in\n"
          "    '')\n"
          "        options='--help --version '\n"
          "        own='command '\n"
          "        ;;\n"
          "    help) own='command ' ;;\n",
          out);
}

static void print_options(FILE *out, const struct pct_completed *command)
{
    fputs("        options='", out);
    for (size_t i = 0; i < command->option_count; i++)
        if (pct_completed_shown(&command->options[i]))
            fprintf(out, "--%s%s ", command->options[i].name,
                    command->options[i].argument && !command->options[i].optional ? "=" : "");
    fputs("'\n", out);
}

static bool wants_word(const struct pct_flat_option *option)
{
    return option->argument && !option->optional;
}

/* The options whose values are of this kind; kind -1: those that want a word behind them. */
static void print_valued(FILE *out, const struct pct_completed *command, const char *variable, int kind)
{
    fprintf(out, "        %s='", variable);
    for (size_t i = 0; i < command->option_count; i++) {
        const struct pct_flat_option *option = &command->options[i];
        if (kind < 0 ? !wants_word(option) : !option->argument || (int)pct_completed_value(option) != kind)
            continue;
        if (option->name)
            fprintf(out, "--%s ", option->name);
        if (option->letter)
            fprintf(out, "-%c ", option->letter);
    }
    fputs("'\n", out);
}

static void command(FILE *out, const struct pct_completed *command)
{
    static const char *const kinds[] = { "any", "file", "directory", "strategy" };
    fprintf(out, "    '%s')\n", command->name);
    print_options(out, command);
    print_valued(out, command, "valued", -1);
    print_valued(out, command, "files", PCT_WORD_FILE);
    print_valued(out, command, "directories", PCT_WORD_DIRECTORY);
    print_valued(out, command, "strategies", PCT_WORD_STRATEGY);
    fputs("        own='", out);
    for (size_t i = 0; i < command->own_count; i++)
        fprintf(out, "%s ", kinds[command->own[i]]);
    fprintf(out, "'\n        repeats=%s\n        target=%s\n        ;;\n", command->repeats ? "1" : "''",
            command->target ? "1" : "''");
}

static void print_names(FILE *out, const char *variable, const struct pct_name_help *names)
{
    fprintf(out, "%s='", variable);
    for (; names->name; names++)
        fprintf(out, "%s ", names->name);
    fputs("'\n", out);
}

static void end(FILE *out, const struct pct_name_help *commands, const struct pct_name_help *strategies)
{
    fputs("    esac\n}\n", out);
    print_names(out, "_pct_commands", commands);
    print_names(out, "_pct_strategies", strategies);
    fputs(pct_completion_walk_bash, out);
}

const struct pct_shell pct_shell_bash = { .name = "bash", .begin = begin, .command = command, .end = end };
