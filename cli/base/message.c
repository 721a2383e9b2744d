/* Messages of the `pct` command, and text that is safe to print. Called from everywhere in cli/. */
#include "cli.h"
#include "markup.h"
#include "status_line.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <limits.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

const char *pct_cli_program = "pct";

/* The length of the character at `at`, 0 if it is not printable: a terminal would obey it, or it is no UTF-8. */
static size_t printable(const char *at, size_t left)
{
    uint32_t code;
    size_t length = pct_markup_character(at, left, &code);
    return *at != '\n' && pct_markup_is_harmless(code) ? length : 0;
}

/* Whether the log of a CI obeys what begins here, wherever it stands on a line: `##[group]`, `##vso[...]`. */
static bool is_command(const char *at, size_t left)
{
    size_t name = 2;
    if (left < 3 || at[0] != '#' || at[1] != '#')
        return false;
    while (name < left && at[name] >= 'a' && at[name] <= 'z')
        name++;
    return name < left && at[name] == '[';
}

void pct_cli_print_clean(FILE *out, const char *text, size_t max)
{
    const char *at = text;
    size_t left = strnlen(text, max);
    while (left) {
        size_t length = is_command(at, left) ? 0 : printable(at, left);
        if (length)
            fwrite(at, 1, length, out);
        else
            fputc('?', out);
        length += !length;
        at += length;
        left -= length;
    }
}

/* The number of blanks before the `::` that this line begins with, and one: logs of a CI obey such lines. Otherwise 0.
 */
static size_t obeyed_colons(const char *line, size_t length)
{
    size_t blanks = strspn(line, " \t");
    return blanks + 1 < length && line[blanks] == ':' && line[blanks + 1] == ':' ? blanks + 1 : 0;
}

/* A line of text from outside. */
static void print_line(FILE *out, const char *text, size_t length)
{
    size_t colon = obeyed_colons(text, length);
    if (colon)
        fprintf(out, "%.*s?", (int)colon - 1, text);
    pct_cli_print_clean(out, text + colon, length - colon);
}

/* How many bytes and columns there are up to the next place where a line may end: what stands in `...` stays whole. */
static size_t next_word(const char *text, unsigned *columns)
{
    bool quoted = false;
    size_t length = 0;
    *columns = 0;
    for (; text[length] && (quoted || !strchr(" \n", text[length])); length++) {
        if (text[length] == '`')
            quoted = !quoted && strchr(text + length + 1, '`');
        *columns += ((unsigned char)text[length] & 0xc0) != 0x80;
    }
    return length;
}

void pct_cli_wrap(FILE *out, const char *text, unsigned columns, unsigned at, unsigned spaces)
{
    bool begins = true;
    while (*text) {
        unsigned width;
        size_t blanks = strspn(text, " "), length = next_word(text + blanks, &width);
        if (columns && !begins && at + blanks + width > columns) {
            fprintf(out, "\n%*s", (int)spaces, "");
            at = spaces;
        } else {
            fprintf(out, "%*s", (int)blanks, "");
            at += (unsigned)blanks;
        }
        fwrite(text + blanks, 1, length, out);
        at += width;
        text += blanks + length;
        begins = *text == '\n';
        if (begins) {
            fputc(*text++, out);
            at = 0;
        }
    }
}

/* Leaves errno as it is: callers go by it after they have said why. */
static void say(const char *format, va_list arguments)
{
    const int error = errno;
    /* Put together first: the line must not be torn when a target writes to the same terminal. What names and messages
     * of others bring along is made harmless; ours may have several lines. */
    char line[8192], *clean = NULL;
    size_t size;
    vsnprintf(line, sizeof line, format, arguments);
    FILE *out = open_memstream(&clean, &size);
    for (const char *at = line; out && *at;) {
        size_t length = strcspn(at, "\n");
        print_line(out, at, length);
        at += length;
        if (*at)
            fputc(*at++, out);
    }
    if (out)
        fclose(out);
    char *whole = NULL;
    FILE *wrapped = clean ? open_memstream(&whole, &size) : NULL;
    if (wrapped) {
        fputs("pct: ", wrapped);
        pct_cli_wrap(wrapped, clean, pct_status_line_columns(stderr), 5, 5);
        fclose(wrapped);
    }
    /* Without memory, all in one line. */
    for (char *at = line; !whole && *at; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            *at = '?';
    fprintf(stderr, "%s%s\n", whole ? "" : "pct: ", whole ? whole : line);
    free(whole);
    free(clean);
    errno = error;
}

void pct_cli_say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(format, arguments);
    va_end(arguments);
}

int pct_cli_usage(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(format, arguments);
    va_end(arguments);
    return PCT_EXIT_USAGE;
}

int pct_cli_no_memory(const char *what)
{
    pct_cli_say("out of memory%s", what);
    return PCT_EXIT_INTERNAL;
}

FILE *pct_cli_narrow_begin(struct pct_cli_narrow *narrow, FILE *out)
{
    *narrow = (struct pct_cli_narrow){ .out = out, .columns = pct_status_line_columns(out) };
    narrow->stream = narrow->columns ? open_memstream(&narrow->text, &narrow->size) : NULL;
    return narrow->stream ? narrow->stream : out;
}

void pct_cli_narrow_end(struct pct_cli_narrow *narrow)
{
    enum { DEEPER = 4 };
    if (!narrow->stream)
        return;
    fclose(narrow->stream);
    for (char *line = narrow->text; line && *line;) {
        size_t length = strcspn(line, "\n"), blanks = strspn(line, " ");
        bool ends = line[length];
        line[length] = '\0';
        /* Half of the screen is for words, however deep the line begins. */
        size_t deep = blanks + DEEPER < narrow->columns / 2 ? blanks + DEEPER : narrow->columns / 2;
        pct_cli_wrap(narrow->out, line, narrow->columns, 0, (unsigned)deep);
        if (ends)
            fputc('\n', narrow->out);
        line += length + ends;
    }
    free(narrow->text);
}

void pct_cli_print_lines(FILE *out, const char *text, int spaces)
{
    while (*text) {
        size_t length = strcspn(text, "\n");
        fprintf(out, "%*s", spaces, "");
        print_line(out, text, length);
        fputc('\n', out);
        text += length + (text[length] == '\n');
    }
}

/* Whether a terminal, or the log of a CI, would obey something in this word. A line end alone does no harm. */
static bool is_obeyed(const char *word)
{
    for (size_t left = strlen(word), length; left; word += length, left -= length) {
        length = *word == '\n' ? !obeyed_colons(word + 1, left - 1) : printable(word, left);
        if (!length || is_command(word, left))
            return true;
    }
    return false;
}

/* $'...' of POSIX.1-2024, in octal. */
static void print_escaped(FILE *out, const char *word)
{
    fputs("$'", out);
    for (size_t left = strlen(word), length; left; word += length, left -= length) {
        length = printable(word, left);
        if (!length || *word == '\t' || is_command(word, left))
            length = (size_t)(fprintf(out, "\\%03o", (unsigned char)*word) > 0);
        else
            fprintf(out, "%s%.*s", *word == '\'' || *word == '\\' ? "\\" : "", (int)length, word);
    }
    fputc('\'', out);
}

void pct_cli_print_quoted(FILE *out, const char *word)
{
    /* Without `=`, which would make an assignment of a first word, and `~`, `#`, `^`, which some shells expand. */
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./,:@%";
    if (word[0] && strspn(word, plain) == strlen(word)) {
        fputs(word, out);
        return;
    }
    if (is_obeyed(word)) {
        print_escaped(out, word);
        return;
    }
    fputc('\'', out);
    for (; *word; word++) {
        if (*word == '\'')
            fputs("'\\''", out);
        else
            fputc(*word, out);
    }
    fputc('\'', out);
}

void pct_cli_print_command(FILE *out, char *const *argv)
{
    for (int i = 0; argv[i]; i++) {
        if (i)
            fputc(' ', out);
        pct_cli_print_quoted(out, argv[i]);
    }
}

const char *pct_cli_format_duration(char *buffer, size_t size, double seconds)
{
    enum { HOUR = 3600, DAY = 24 * HOUR, YEAR = 365 * DAY };
    bool endless = seconds >= 1e6 * YEAR;
    unsigned long whole = seconds < 0 || endless ? 0 : (unsigned long)seconds;
    if (endless)
        snprintf(buffer, size, "more than a million years");
    else if (seconds < 1)
        snprintf(buffer, size, "%d ms", (int)(seconds < 0 ? 0 : seconds * 1000));
    else if (seconds < 10)
        snprintf(buffer, size, "%.1f s", seconds);
    else if (whole < 120)
        snprintf(buffer, size, "%lu s", whole);
    else if (whole < 7200)
        snprintf(buffer, size, "%lu min %lu s", whole / 60, whole % 60);
    else if (whole < 48 * HOUR)
        snprintf(buffer, size, "%lu h %lu min", whole / HOUR, whole % HOUR / 60);
    else if (whole < 2 * YEAR)
        snprintf(buffer, size, "%lu days", whole / DAY);
    else
        snprintf(buffer, size, "%lu years", whole / YEAR);
    return buffer;
}

double pct_cli_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int pct_cli_write_all(int fd, const void *data, size_t size)
{
    const char *at = data;
    while (size) {
        ssize_t wrote = write(fd, at, size);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0)
            return -errno;
        at += wrote;
        size -= (size_t)wrote;
    }
    return 0;
}

char *pct_cli_read_all(int fd)
{
    char *text = NULL, buffer[4096];
    size_t size;
    FILE *out = open_memstream(&text, &size);
    ssize_t got;
    while (out && ((got = read(fd, buffer, sizeof buffer)) > 0 || (got < 0 && errno == EINTR)))
        if (got > 0)
            fwrite(buffer, 1, (size_t)got, out);
    return out && !fclose(out) ? text : NULL;
}

/* Whether this is the user's home, or a directory above it. */
static bool is_home(const char *path)
{
    const char *home = getenv("HOME");
    size_t length = strlen(path);
    return home && !strncmp(home, path, length) && (!home[length] || home[length] == '/');
}

int pct_cli_make_directories(const char *path)
{
    char part[PATH_MAX];
    struct stat status;
    if ((size_t)snprintf(part, sizeof part, "%s", path) >= sizeof part)
        return -ENAMETOOLONG;
    for (char *at = part + 1; (at = strchr(at, '/')); at++) {
        *at = 0;
        bool made = is_home(part) ? !stat(part, &status) : !mkdir(part, 0700) || errno == EEXIST;
        if (!made)
            return -errno;
        *at = '/';
    }
    return 0;
}

bool pct_cli_is_text(FILE *file)
{
    const int first = getc(file);
    if (first != EOF)
        ungetc(first, file);
    return first != 0;
}
