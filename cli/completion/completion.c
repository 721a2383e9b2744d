/* What can be completed of a command: see completion.h. */
#include "completion.h"
#include <string.h>

static bool contains(const char *text, size_t length, const char *word)
{
    return memmem(text, length, word, strlen(word));
}

/* As a word of its own: KIND is no IN. */
static bool is_word(const char *text, size_t length, const char *word)
{
    return length >= strlen(word) && !memcmp(text, word, strlen(word)) &&
           (length == strlen(word) || text[strlen(word)] == '.');
}

static enum pct_word meaning(const char *text, size_t length)
{
    static const char *const files[] = { "FILE", "PROGRAM", "TRACE", "MODULE" };
    if (contains(text, length, "SPEC") || contains(text, length, "NAME|"))
        return PCT_WORD_STRATEGY;
    if (contains(text, length, "FORMAT"))
        return PCT_WORD_ANY;
    if (contains(text, length, "DIR"))
        return PCT_WORD_DIRECTORY;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (contains(text, length, files[i]))
            return PCT_WORD_FILE;
    return is_word(text, length, "IN") || is_word(text, length, "OUT") ? PCT_WORD_FILE : PCT_WORD_ANY;
}

enum pct_word pct_completed_value(const struct pct_flat_option *option)
{
    return option->argument ? meaning(option->argument, strlen(option->argument)) : PCT_WORD_ANY;
}

bool pct_completed_shown(const struct pct_flat_option *option)
{
    return option->name && !option->hidden;
}

static void add_own(struct pct_completed *command, const char *word, size_t length)
{
    if (command->own_count < PCT_OWN_WORDS)
        command->own[command->own_count++] = meaning(word, length);
    command->repeats = contains(word, length, "...");
}

/* "TOKEN|FILE [--] COMMAND [ARGUMENT...]" */
static void read_arguments(struct pct_completed *command, const char *text)
{
    const char *end = text + strcspn(text, "\n");
    while (text < end && !command->target) {
        size_t length = strcspn(text, " \n");
        if (!strncmp(text, "COMMAND", length))
            command->target = true;
        else if (length && !contains(text, length, "--") && !contains(text, length, "ARGUMENT"))
            add_own(command, text, length);
        text += length + strspn(text + length, " ");
    }
}

void pct_completed_read(struct pct_completed *command, const char *name, const struct argp *argp,
                        const struct argp *common)
{
    const struct argp_child children[] = { { argp, 0, NULL, 0 }, { common, 0, NULL, 0 }, { 0 } };
    const struct argp both = { .children = children };
    static const char *const added[] = { "help", "usage" };
    *command = (struct pct_completed){ .name = name };
    command->option_count = pct_flat_options(&both, command->options);
    for (size_t i = 0; i < sizeof added / sizeof *added && command->option_count < PCT_FLAT_OPTIONS; i++)
        command->options[command->option_count++] = (struct pct_flat_option){ .name = added[i] };
    if (argp->args_doc)
        read_arguments(command, argp->args_doc);
}

size_t pct_completed_next_below(const char **from)
{
    while (*from && (*from = strchr(*from, '\n'))) {
        size_t length = strspn(++*from, "abcdefghijklmnopqrstuvwxyz");
        if (length)
            return length;
    }
    return 0;
}

void pct_completed_escape(FILE *out, const char *text, const char *special)
{
    for (; text && *text; text++) {
        if (strchr(special, *text))
            fputc('\\', out);
        fputc(*text == '\n' ? ' ' : *text, out);
    }
}
