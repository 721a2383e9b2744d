/* Completion for fish: a line for each option of each command, and walk.fish, which says where the words are. */
#include "completion.h"
#include <string.h>

__asm__(".pushsection .rodata\n"
        "pct_completion_walk_fish: .incbin \"cli/completion/walk.fish\"\n"
        ".byte 0\n"
        ".popsection\n");
extern const char pct_completion_walk_fish[];

static void print_help(FILE *out, const char *help)
{
    if (!help)
        return;
    fputs(" -d '", out);
    pct_completed_escape(out, help, "\\'");
    fputc('\'', out);
}

static void print_names(FILE *out, const char *function, const struct pct_name_help *names)
{
    fprintf(out, "function %s\n    printf '%%s\\n'", function);
    for (; names->name; names++)
        fprintf(out, " %s", names->name);
    fputs("\nend\n", out);
}

static void begin(FILE *out, const struct pct_name_help *commands)
{
    fputs("# Completion of pct for fish, made by `pct completion fish`.\n", out);
    fputs(pct_completion_walk_fish, out);
    for (; commands->name; commands++) {
        fprintf(out, "complete -c pct -n __pct_first -xa %s", commands->name);
        print_help(out, commands->help);
        fprintf(out, "\ncomplete -c pct -n '__pct_in help' -xa %s\n", commands->name);
    }
}

static void print_value(FILE *out, enum pct_word word)
{
    static const char *const values[] = { [PCT_WORD_ANY] = " -x",
                                          [PCT_WORD_FILE] = " -rF",
                                          [PCT_WORD_DIRECTORY] = " -xa '(__fish_complete_directories)'",
                                          [PCT_WORD_STRATEGY] = " -xa '(__pct_strategies)'" };
    fputs(values[word], out);
}

/* -n 'CONDITION' */
static void print_condition(FILE *out, const struct pct_completed *command)
{
    fprintf(out, "complete -c pct -n '%s %s'", strchr(command->name, ' ') ? "__pct_in_below" : "__pct_in",
            command->name);
}

static void print_option(FILE *out, const struct pct_completed *command, const struct pct_flat_option *option)
{
    print_condition(out, command);
    if (option->name)
        fprintf(out, " -l %s", option->name);
    if (option->letter)
        fprintf(out, " -s %c", option->letter);
    if (option->argument && !option->optional)
        print_value(out, pct_completed_value(option));
    print_help(out, option->help);
    fputc('\n', out);
}

/* What __pct_target asks for: the options that want a word, and how many words are the command's own. */
static void print_table(FILE *out, const struct pct_completed *command)
{
    fprintf(out, "set -g __pct_valued_%s", command->name);
    for (size_t i = 0; i < command->option_count; i++) {
        const struct pct_flat_option *option = &command->options[i];
        if (!option->argument || option->optional)
            continue;
        if (option->name)
            fprintf(out, " --%s", option->name);
        if (option->letter)
            fprintf(out, " -%c", option->letter);
    }
    fprintf(out, "\nset -g __pct_own_%s", command->name);
    if (command->target)
        fprintf(out, " %zu", command->own_count);
    fputc('\n', out);
}

static void command(FILE *out, const struct pct_completed *command)
{
    fputc('\n', out);
    if (!strchr(command->name, ' '))
        print_table(out, command);
    for (size_t i = 0; i < command->option_count; i++)
        if (!command->options[i].hidden)
            print_option(out, command, &command->options[i]);
    if (!command->own_count)
        return;
    print_condition(out, command);
    print_value(out, command->own[0]);
    fputc('\n', out);
}

static void end(FILE *out, const struct pct_name_help *commands, const struct pct_name_help *strategies)
{
    (void)commands;
    fputc('\n', out);
    print_names(out, "__pct_strategies", strategies);
}

const struct pct_shell pct_shell_fish = { .name = "fish", .begin = begin, .command = command, .end = end };
