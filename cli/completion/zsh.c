/* Completion for zsh: a function for each command that calls _arguments, and walk.zsh, which finds it. */
#include "completion.h"

__asm__(".pushsection .rodata\n"
        "pct_completion_walk_zsh: .incbin \"cli/completion/walk.zsh\"\n"
        ".byte 0\n"
        ".popsection\n");
extern const char pct_completion_walk_zsh[];

/* Inside '...'. */
static void print_quoted(FILE *out, const char *text, const char *special)
{
    for (; text && *text; text++) {
        if (*text == '\'')
            fputs("'\\''", out);
        else {
            char one[] = { *text, 0 };
            pct_completed_escape(out, one, special);
        }
    }
}

static void begin(FILE *out, const struct pct_name_help *commands)
{
    fputs("#compdef pct\n# Completion of pct for zsh, made by `pct completion zsh`.\n\n_pct_commands=(\n", out);
    for (; commands->name; commands++) {
        fprintf(out, "    '%s:", commands->name);
        print_quoted(out, commands->help, "\\:");
        fputs("'\n", out);
    }
    fputs(")\n", out);
}

static const char *action(enum pct_word word)
{
    static const char *const actions[] = { [PCT_WORD_ANY] = "",
                                           [PCT_WORD_FILE] = "_files",
                                           [PCT_WORD_DIRECTORY] = "_files -/",
                                           [PCT_WORD_STRATEGY] = "_pct_strategy" };
    return actions[word];
}

/* 'NAME[HELP]:VALUE:ACTION' */
static void print_option(FILE *out, const struct pct_flat_option *option, const char *dashes, const char *name,
                         const char *joint)
{
    fprintf(out, " \\\n        '*%s%s%s[", dashes, name, option->argument ? joint : "");
    print_quoted(out, option->help, "\\[]");
    fputc(']', out);
    if (option->argument) {
        fputs(option->optional ? "::" : ":", out);
        print_quoted(out, option->argument, "\\:");
        fprintf(out, ":%s", action(pct_completed_value(option)));
    }
    fputc('\'', out);
}

static void print_own(FILE *out, const struct pct_completed *command)
{
    for (size_t i = 0; i < command->own_count; i++) {
        bool again = command->repeats && i + 1 == command->own_count;
        if (again)
            fputs(" \\\n        '*", out);
        else
            fprintf(out, " \\\n        '%zu", i + 1);
        fprintf(out, ":argument:%s'", action(command->own[i]));
    }
    if (command->target)
        fputs(" \\\n        '*:::command:_pct_target'", out);
}

static void command(FILE *out, const struct pct_completed *command)
{
    fputs("\n_pct_command_", out);
    for (const char *c = command->name; *c; c++)
        fputc(*c == ' ' ? '_' : *c, out);
    fprintf(out, "()\n{\n    _arguments -s -S%s", command->target ? " -A '-*'" : "");
    for (size_t i = 0; i < command->option_count; i++) {
        const struct pct_flat_option *option = &command->options[i];
        char letter[] = { (char)option->letter, 0 };
        if (option->hidden)
            continue;
        if (option->name)
            print_option(out, option, "--", option->name, option->optional ? "=-" : "=");
        if (option->letter)
            print_option(out, option, "-", letter, option->optional ? "-" : "+");
    }
    print_own(out, command);
    fputs("\n}\n", out);
}

static void end(FILE *out, const struct pct_name_help *commands, const struct pct_name_help *strategies)
{
    (void)commands;
    fputs("\n_pct_strategies=(", out);
    for (; strategies->name; strategies++)
        fprintf(out, "%s%s", strategies->name, strategies[1].name ? " " : "");
    fputs(")\n", out);
    fputs(pct_completion_walk_zsh, out);
}

const struct pct_shell pct_shell_zsh = { .name = "zsh", .begin = begin, .command = command, .end = end };
