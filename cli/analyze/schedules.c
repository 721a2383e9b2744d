/* The file of schedules: see schedules.h. Entries of lines `Name: value`, with empty lines between them. */
#include "schedules.h"
#include <cli/base/cli.h>
#include "neighbours.h"
#include <cli/process/options.h>
#include <common/text.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wordexp.h>

static const char *const names[] = {
#define NAME(member, name) name,
    PCT_SCHEDULE_FIELDS(NAME)
#undef NAME
};
enum { FIELDS = sizeof names / sizeof *names };

static char **field(struct pct_entry *entry, size_t i)
{
    char **const members[] = {
#define MEMBER(member, name) &entry->member,
        PCT_SCHEDULE_FIELDS(MEMBER)
#undef MEMBER
    };
    return members[i];
}

/* --- Reading ------------------------------------------------------------------------------------------------------ */

struct reader {
    struct pct_schedules *schedules;
    const char *path;
    unsigned line;
    bool inside; /* an entry has begun */
    char **last; /* the field that a line which begins with a blank goes on with */
    char *error;
    size_t size;
};

__attribute__((format(printf, 3, 4))) static int fail(struct reader *r, unsigned line, const char *format, ...)
{
    va_list arguments;
    int used = snprintf(r->error, r->size, "%s:%u: ", r->path, line);
    va_start(arguments, format);
    if (used > 0 && (size_t)used < r->size)
        vsnprintf(r->error + used, r->size - (size_t)used, format, arguments);
    va_end(arguments);
    return -EINVAL;
}

static int end_entry(struct reader *r)
{
    if (!r->inside)
        return 0;
    r->inside = false;
    r->last = NULL;
    const struct pct_entry *entry = &r->schedules->entries[r->schedules->count - 1];
    if (!entry->schedule)
        return fail(r, entry->line, "this entry has no line `Schedule: TOKEN`");
    if (!entry->command)
        return fail(r, entry->line, "this entry has no line `Command: PROGRAM [ARGUMENT...]`");
    return 0;
}

static int begin_entry(struct reader *r)
{
    struct pct_schedules *s = r->schedules;
    /* Powers of two. */
    if (!(s->count & (s->count - 1))) {
        struct pct_entry *more = realloc(s->entries, (s->count ? 2 * s->count : 1) * sizeof *more);
        if (!more)
            return -ENOMEM;
        s->entries = more;
    }
    s->entries[s->count++] = (struct pct_entry){ .line = r->line };
    r->inside = true;
    return 0;
}

/* A line that begins with a blank: the value goes on. */
static int read_rest(struct reader *r, const char *text)
{
    if (!r->last)
        return fail(r, r->line, "a line that begins with a blank continues the line before, but there is none");
    char *joined;
    if (asprintf(&joined, "%s%s%s", *r->last, **r->last ? " " : "", text) < 0)
        return -ENOMEM;
    free(*r->last);
    *r->last = joined;
    return 0;
}

static int read_field(struct reader *r, char *line)
{
    char *colon = strchr(line, ':');
    if (!colon)
        return fail(r, r->line, "expected NAME: VALUE");
    *colon = 0;
    char *value = colon + 1 + strspn(colon + 1, " \t");
    size_t i = 0;
    while (i < FIELDS && strcasecmp(names[i], line))
        i++;
    if (i == FIELDS) {
        const char *closest = pct_text_closest(line, names, FIELDS);
        return fail(r, r->line, closest ? "there is no field %s; did you mean %s?" : "there is no field %s", line,
                    closest);
    }
    int failed = r->inside ? 0 : begin_entry(r);
    if (failed)
        return failed;
    char **at = field(&r->schedules->entries[r->schedules->count - 1], i);
    if (*at)
        return fail(r, r->line, "%s is given twice in this entry; an empty line begins the next one", names[i]);
    *at = strdup(value);
    r->last = at;
    return *at ? 0 : -ENOMEM;
}

static int read_line(struct reader *r, char *line, size_t length)
{
    r->line++;
    if (strlen(line) != length)
        return fail(r, r->line, "this is not a text file, as pct add writes one");
    while (length && strchr(" \t\r\n", line[length - 1]))
        line[--length] = 0;
    if (line[0] == '#')
        return 0;
    if (!length)
        return end_entry(r);
    size_t blanks = strspn(line, " \t");
    return blanks ? read_rest(r, line + blanks) : read_field(r, line);
}

int pct_schedules_read(struct pct_schedules *schedules, const char *path, char *error, size_t size)
{
    *schedules = (struct pct_schedules){ 0 };
    struct reader r = { .schedules = schedules, .path = path, .error = error, .size = size };
    struct stat status;
    FILE *in = fopen(path, "re");
    int failed = in ? 0 : -errno;
    if (in && !fstat(fileno(in), &status) && S_ISDIR(status.st_mode))
        failed = -EISDIR;
    if (!failed && !pct_cli_is_text(in)) {
        snprintf(error, size, "%s: it is no text", path);
        failed = -EINVAL;
    }
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    while (!failed && (length = getline(&line, &room, in)) >= 0)
        failed = read_line(&r, line, (size_t)length);
    /* A line for which there was no memory is no end: what stands behind it would not be checked. */
    if (!failed && !feof(in))
        failed = ferror(in) ? -EIO : -ENOMEM;
    if (!failed)
        failed = end_entry(&r);
    free(line);
    if (in)
        fclose(in);
    if (failed && failed != -EINVAL)
        snprintf(error, size, "%s: %s", path, strerror(-failed));
    return failed;
}

void pct_schedules_free(struct pct_schedules *schedules)
{
    for (size_t i = 0; i < schedules->count; i++)
        for (size_t j = 0; j < FIELDS; j++)
            free(*field(&schedules->entries[i], j));
    free(schedules->entries);
    *schedules = (struct pct_schedules){ 0 };
}

/* --- Writing ------------------------------------------------------------------------------------------------------ */

int pct_schedules_append(const char *path, const struct pct_entry *entry)
{
    struct pct_entry copy = *entry;
    char *text = NULL, last = '\n';
    size_t size = 0;
    int fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (fd < 0)
        return -errno;
    FILE *out = open_memstream(&text, &size);
    struct stat status;
    int failed = out ? 0 : -ENOMEM;
    if (!failed && fstat(fd, &status))
        failed = -errno;
    if (!failed) {
        if (!status.st_size)
            fputs("# Schedules that once broke this program. `pct check` runs them again, and `pct add` adds one.\n",
                  out);
        else if (pread(fd, &last, 1, status.st_size - 1) == 1 && last != '\n')
            fputc('\n', out);
        for (size_t i = 0; i < FIELDS; i++)
            if (*field(&copy, i))
                fprintf(out, "%s%s: %s\n", i ? "" : "\n", names[i], *field(&copy, i));
    }
    /* One write: it is there as a whole, or (no space) is taken back. */
    if (out && fclose(out))
        failed = -ENOMEM;
    if (!failed)
        failed = pct_cli_write_all(fd, text, size);
    if (failed && out && ftruncate(fd, status.st_size))
        failed = -errno;
    free(text);
    if (close(fd) && !failed)
        failed = -errno;
    return failed;
}

/* --- Meaning ------------------------------------------------------------------------------------------------------ */

/* The end of the quote that begins here, behind it; NULL: it is not closed. */
static const char *quote_end(const char *at)
{
    const char quote = *at;
    for (at++; *at && *at != quote; at++)
        if (*at == '\\' && quote == '"' && at[1])
            at++;
    return *at ? at + 1 : NULL;
}

/* The escape at *at, behind the `\`: POSIX.1-2024, 2.2.4 "Dollar-Single-Quotes". */
static int escaped(const char **at)
{
    static const char names[] = "abefnrtv", characters[] = "\a\b\033\f\n\r\t\v";
    const char *name = strchr(names, **at);
    char digits[4] = "";
    bool hexadecimal = **at == 'x';
    snprintf(digits, hexadecimal ? 3 : 4, "%s", *at + hexadecimal);
    char *end;
    long value = strtol(digits, &end, hexadecimal ? 16 : 8);
    if (end > digits && isxdigit((unsigned char)digits[0])) {
        *at += hexadecimal + (end - digits);
        return (int)value;
    }
    (*at)++;
    return name ? characters[name - names] : (unsigned char)(*at)[-1];
}

/* $'...', which glibc's wordexp() does not know, as '...'. To be freed; NULL: there is no memory. */
static char *without_escapes(const char *text)
{
    char *plain = NULL;
    size_t size;
    FILE *out = open_memstream(&plain, &size);
    while (out && *text) {
        const char *end = text + 1 + (*text == '\\' && text[1]);
        if (*text == '\'' || *text == '"')
            end = quote_end(text);
        if (!strncmp(text, "$'", 2)) {
            for (text++, fputc(*text++, out); *text && *text != '\'';) {
                int character = (unsigned char)*text++;
                if (character == '\\' && *text)
                    character = escaped(&text);
                if (character == '\'')
                    fputs("'\\''", out);
                else
                    fputc(character, out);
            }
            if (*text)
                fputc(*text++, out);
            continue;
        }
        end = end ? end : text + strlen(text);
        fwrite(text, 1, (size_t)(end - text), out);
        text = end;
    }
    return out && !fclose(out) ? plain : NULL;
}

int pct_entry_split(const char *place, const char *name, const char *text, wordexp_t *words)
{
    char *plain = without_escapes(text);
    if (!plain)
        return pct_cli_no_memory("");
    words->we_offs = 1;
    int failed = wordexp(plain, words, WRDE_NOCMD | WRDE_UNDEF | WRDE_DOOFFS);
    free(plain);
    switch (failed) {
    case 0:
        return 0;
    case WRDE_BADVAL:
        return pct_cli_usage("%s: %s: a variable in `%s` is not set", place, name, text);
    case WRDE_BADCHAR:
        return pct_cli_usage(
            "%s: %s: one of | & ; < > ( ) { } stands outside of quotes; write sh -c '...' for a command "
            "of the shell",
            place, name);
    case WRDE_CMDSUB:
        return pct_cli_usage("%s: %s: $(...) and `...` are not done here; write sh -c '...'", place, name);
    case WRDE_NOSPACE:
        return pct_cli_no_memory("");
    default:
        return pct_cli_usage("%s: %s: a quote is not closed in: %s", place, name, text);
    }
}

enum { KEY_NEAR = 4000 };

static const struct argp_option options[] = {
    { "near", KEY_NEAR, "STEPS", 0, "how far `pct check` moves the change points of this schedule", 1 },
    { 0 },
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct pct_entry_options *w = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = w->launch;
        state->child_inputs[1] = w->ok;
        state->child_inputs[2] = &w->oracle;
        return 0;
    case KEY_NEAR:
        w->near = pct_options_number(state, "--near", argument, 0, PCT_NEAR_MAX);
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

static const struct argp_child children[] = {
    { &pct_options_launch_argp, 0, NULL, 0 },
    { &pct_options_ok_argp, 0, NULL, 0 },
    { &pct_oracle_argp, 0, NULL, 0 },
    { 0 },
};

const struct argp pct_entry_argp = { .options = options, .parser = parse, .children = children };

int pct_entry_parse(const struct pct_entry *entry, const char *place, struct pct_entry_options *options)
{
    wordexp_t command, given;
    int failed = pct_entry_split(place, "Command", entry->command, &command);
    if (failed)
        return failed;
    if (!command.we_wordc)
        return pct_cli_usage("%s: Command: there is no program in it", place);
    options->launch->command = command.we_wordv + 1;
    options->near = UINT64_MAX;
    options->ok[0] = true;
    options->oracle.ok = options->ok;
    if (!entry->options)
        return 0;
    failed = pct_entry_split(place, "Options", entry->options, &given);
    if (failed)
        return failed;
    int words = (int)given.we_wordc + 1, index = 0;
    given.we_wordv[0] = (char *)(uintptr_t)place;
    const struct argp only = pct_entry_argp;
    /* Once in silence, because argp would speak of the options of a program of this name. */
    if (argp_parse(&only, words, given.we_wordv, ARGP_IN_ORDER | ARGP_NO_HELP | ARGP_NO_ERRS | ARGP_NO_EXIT, &index,
                   options) ||
        index < words)
        return pct_cli_usage("%s: Options: not among the options of `pct add`, or without a value: %s", place,
                             entry->options);
    argp_parse(&only, words, given.we_wordv, ARGP_IN_ORDER | ARGP_NO_HELP, NULL, options);
    return 0;
}
