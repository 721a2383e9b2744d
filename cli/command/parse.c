/* Parsing of a command's words: see parse.h.
 *
 * argp leaves it to getopt to speak of options that do not exist, and getopt knows nothing better than the word itself.
 * So the words are walked by getopt beforehand, with the options of the same description, in silence. Whatever else is
 * wrong with them is argp's to say. */
#include "parse.h"
#include <cli/base/cli.h>
#include <cli/base/flat_options.h>
#include <cli/base/color.h>
#include <cli/base/status_line.h>
#include <cli/base/trust.h>
#include <cli/completion/completion.h>
#include <cli/trace/frames.h>
#include <cli/process/settings.h>
#include <common/text.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES = PCT_FLAT_OPTIONS + 3, LETTERS = 3 * NAMES }; /* with those that argp adds */

struct options {
    struct option of[NAMES + 1];
    const char *names[NAMES];
    size_t count;
    char letters[LETTERS];
    size_t length;
};

static void add_letter(struct options *o, int letter, int argument)
{
    if (o->length + 4 > sizeof o->letters)
        return;
    o->letters[o->length++] = (char)letter;
    for (int i = 0; i < argument; i++)
        o->letters[o->length++] = ':';
    o->letters[o->length] = 0;
}

static void add_name(struct options *o, const char *name, int argument, bool hidden)
{
    if (o->count == NAMES)
        return;
    o->names[o->count] = hidden ? "" : name; /* not to be recommended */
    o->of[o->count++] = (struct option){ .name = name, .has_arg = argument, .val = 2 };
}

static void collect(struct options *o, const struct argp *argp)
{
    struct pct_flat_option all[PCT_FLAT_OPTIONS];
    size_t count = pct_flat_options(argp, all);
    for (size_t i = 0; i < count; i++) {
        int argument = !all[i].argument ? no_argument : all[i].optional ? optional_argument : required_argument;
        if (all[i].letter)
            add_letter(o, all[i].letter, argument);
        if (all[i].name)
            add_name(o, all[i].name, argument, all[i].hidden);
    }
}

/* The name, as far as it was written, in `--name=value`. */
static const char *written_name(const char *word, char *name, size_t size)
{
    size_t length = strcspn(word + 2, "=");
    if (length >= size)
        length = size - 1;
    memcpy(name, word + 2, length);
    name[length] = 0;
    return name;
}

static bool is_beginning(const struct options *o, const char *name)
{
    for (size_t i = 0; i < o->count; i++)
        if (!strncmp(o->of[i].name, name, strlen(name)))
            return true;
    return false;
}

/* The first long option that does not exist, in `name`; or NULL. */
static const char *find_unknown(const struct options *o, int argc, char **argv, int own, char *name, size_t size)
{
    int words = 0;
    optind = 0; /* GLIBC: begin anew */
    opterr = 0;
    for (;;) {
        int index = optind ? optind : 1, key = getopt_long(argc, argv, o->letters, o->of, NULL);
        if (key == -1)
            return NULL;
        if (key == 1 && own != PCT_PARSE_ALL && words++ == own)
            return NULL;
        /* Two dashes, and no short option that stands behind another. One that could be several is known. */
        if (key == '?' && !optopt && index < argc && !strncmp(argv[index], "--", 2))
            return is_beginning(o, written_name(argv[index], name, size)) ? NULL : name;
    }
}

/* The first word that is no option, without `--` before it; or NULL. */
static const char *first_word(const struct options *o, int argc, char **argv)
{
    int key = 0;
    optind = 0; /* GLIBC: begin anew */
    opterr = 0;
    while (key != -1 && key != 1)
        key = getopt_long(argc, argv, o->letters, o->of, NULL);
    return key == 1 ? optarg : NULL;
}

/* `pct coverage --json diff` would run a program diff: commands below are known by the word that comes first. */
static void refuse_below(const struct options *o, const struct argp *command, int argc, char **argv)
{
    const char *below = command->args_doc, *word = first_word(o, argc, argv);
    for (size_t length; word && (length = pct_completed_next_below(&below));)
        if (strlen(word) == length && !strncmp(word, below, length))
            exit(pct_cli_usage("options stand behind it: %s %s [OPTION...]; a program of this name stands behind --",
                               argv[0], word));
}

/* And so help has them: argp would put options before all that stands in args_doc. Only what comes first stays there,
 * the others begin the text. *first and *text are to be freed. */
static void tell_below(struct argp *command, const char *name, char **first, char **text)
{
    const char *below = command->args_doc;
    size_t size, length = pct_completed_next_below(&below);
    FILE *out = length ? open_memstream(text, &size) : NULL;
    if (!out)
        return;
    *first = strndup(command->args_doc, (size_t)(below - 1 - command->args_doc));
    for (; length; length = pct_completed_next_below(&below))
        fprintf(out, "  or:  %s %.*s [OPTION...]%.*s\n", name, (int)length, below, (int)strcspn(below + length, "\n"),
                below + length);
    fputs(command->doc, out);
    if (fclose(out) || !*first)
        return;
    command->args_doc = *first;
    command->doc = *text;
}

/* What all commands take: how their screens look, and whom they believe. */
enum { KEY_COLOR = 9000, KEY_ALL_FRAMES, KEY_TRUST };

static const struct argp_option screen_options[] = {
    { "color", KEY_COLOR, "WHEN", 0, "colours: auto (on terminals, unless NO_COLOR is set; the default), always, never",
      -2 },
    { "all-frames", KEY_ALL_FRAMES, NULL, 0, "show frames of libraries in stacks, too", -2 },
    { "trust", KEY_TRUST, NULL, 0,
      "run what is in strategies and schedules files that belong to others, or that everybody can write to", -2 },
    { 0 },
};

static error_t parse_screen(int key, char *argument, struct argp_state *state)
{
    const struct pct_setting settings[] = {
        { ARGP_KEY_INIT, .inputs = (void *[]){ state->input, NULL } },
        { KEY_ALL_FRAMES, .on = &pct_frames_all },
        { KEY_TRUST, .on = &pct_trust_all },
        { 0 },
    };
    if (pct_settings_take(settings, screen_options, key, argument, state))
        return 0;
    if (key != KEY_COLOR)
        return ARGP_ERR_UNKNOWN;
    if (!pct_color_choose(argument))
        argp_failure(state, PCT_EXIT_USAGE, 0, "--color: '%s' is not one of auto, always and never", argument);
    return 0;
}

static const struct argp screen = { .options = screen_options, .parser = parse_screen };

void (*pct_parse_listener)(const struct argp *command, const struct argp *common);

static void look(const struct argp *argp, const struct argp *command, int argc, char **argv, int own)
{
    struct options o = { .letters = "-", .length = 1 };
    char name[64];
    collect(&o, argp);
    add_letter(&o, '?', no_argument);
    add_letter(&o, 'V', no_argument);
    add_name(&o, "help", no_argument, false);
    add_name(&o, "usage", no_argument, false);
    add_name(&o, "version", no_argument, false);
    if (!own)
        refuse_below(&o, command, argc, argv);
    const char *unknown = find_unknown(&o, argc, argv, own, name, sizeof name);
    const char *closest = unknown ? pct_text_closest(unknown, o.names, o.count) : NULL;
    if (closest)
        exit(pct_cli_usage("unknown option --%s; did you mean --%s? `%s --help` lists all", unknown, closest, argv[0]));
}

void pct_parse_look(const struct argp *command, int argc, char **argv, int own)
{
    if (pct_parse_listener)
        pct_parse_listener(command, NULL);
    look(command, command, argc, argv, own);
}

/* argp lays its help out for 80 columns, unless this variable says otherwise. */
static const char layout[] = "ARGP_HELP_FMT";

/* Have it laid out for a terminal that has fewer. Returns whether the variable is set for that. */
static bool narrow_help(void)
{
    enum { WIDE = 80, NARROW = 60, INDENT = 10 };
    char format[64];
    const unsigned columns = pct_status_line_columns(stdout);
    if (!columns || columns >= WIDE || getenv(layout))
        return false;
    int length = snprintf(format, sizeof format, "rmargin=%u", columns - 1);
    if (columns < NARROW)
        snprintf(format + length, sizeof format - (size_t)length, ",opt-doc-col=%d,usage-indent=%d", INDENT, INDENT);
    return !setenv(layout, format, 0);
}

void pct_parse_words(const struct argp *argp, int argc, char **argv, unsigned flags, void *input)
{
    const bool narrow = narrow_help();
    argp_parse(argp, argc, argv, flags, NULL, input);
    if (narrow)
        unsetenv(layout); /* it is not the target's */
}

void pct_parse(const struct argp *command, int argc, char **argv, int own, void *input)
{
    struct argp whole = screen, told = *command;
    const struct argp_child children[] = { { &told, 0, NULL, 0 }, { 0 } };
    char *first = NULL, *text = NULL;
    whole.children = children;
    if (pct_parse_listener)
        pct_parse_listener(command, &screen);
    look(&whole, command, argc, argv, own);
    if (!own)
        tell_below(&told, argv[0], &first, &text);
    pct_parse_words(&whole, argc, argv, own == PCT_PARSE_ALL ? 0 : ARGP_IN_ORDER, input);
    free(first);
    free(text);
}
