/* Patterns for places in programs: see patterns.h. */
#include "patterns.h"
#include <cli/base/cli.h>
#include <cli/base/demangle.h>
#include <common/text.h>
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* --- Comparing ---------------------------------------------------------------------------------------------------- */

/* All of name is pattern[length], in which `*` is any text. */
static bool is_all(const char *pattern, size_t length, const char *name)
{
    const char *end = pattern + length, *star = NULL, *mark = name;
    while (*name) {
        if (pattern < end && *pattern == '*') {
            star = pattern++;
            mark = name;
        } else if (pattern < end && *pattern == *name) {
            pattern++;
            name++;
        } else if (star) {
            pattern = star + 1;
            name = ++mark;
        } else {
            return false;
        }
    }
    while (pattern < end && *pattern == '*')
        pattern++;
    return pattern == end;
}

bool pct_pattern_is_in(const char *pattern, const char *name)
{
    bool begin = *pattern == '^';
    pattern += begin;
    size_t length = strlen(pattern), whole = strlen(name);
    bool end = length && pattern[length - 1] == '$';
    length -= end;
    if (!length)
        return false;
    if (end)
        for (size_t skip = 0; skip <= (begin ? 0 : whole); skip++)
            if (is_all(pattern, length, name + skip))
                return true;
    char open[length + 2];
    snprintf(open, sizeof open, "%.*s*", (int)length, pattern);
    for (size_t skip = 0; !end && skip <= (begin ? 0 : whole); skip++)
        if (is_all(open, length + 1, name + skip))
            return true;
    return false;
}

static bool means(const struct pct_pattern *pattern, const char *name)
{
    return pattern->whole ? is_all(pattern->text, strlen(pattern->text), name) : pct_pattern_is_in(pattern->text, name);
}

bool pct_pattern_means(const struct pct_pattern *pattern, const char *symbol, const char *plain)
{
    if (means(pattern, symbol))
        return true;
    if (!plain)
        return false;
    /* Queue::push(int) is also Queue::push. */
    size_t length = strcspn(plain, "(");
    char *name = pattern->whole && plain[length] && length ? strndup(plain, length) : NULL;
    bool same = means(pattern, plain) || (name && means(pattern, name));
    free(name);
    return same;
}

bool pct_pattern_means_function(const struct pct_pattern *pattern, const char *symbol, const char *plain, bool *cold)
{
    /* gcc: f.cold is a part of f, f.part.0 too; f.isra.0 and f.constprop.0 are f with other arguments. clang: f.cold.1,
     * f.llvm.123. */
    const char *dot = strchr(symbol, '.');
    char own[dot ? (size_t)(dot - symbol) + 1 : 1];
    *cold = dot && (!strncmp(dot, ".cold", 5) || strstr(dot, ".part."));
    if (!dot)
        return pct_pattern_means(pattern, symbol, plain);
    memcpy(own, symbol, (size_t)(dot - symbol));
    own[dot - symbol] = 0;
    return pct_pattern_means(pattern, own, plain);
}

/* A static variable of a function is count.0 to gcc and function.count to clang, which calls the members of a structure
 * pair.0 and pair.1 where it has made variables of them. Link-time optimisation adds .llvm.123. */
bool pct_pattern_means_made(const struct pct_pattern *pattern, const char *symbol)
{
    char own[strlen(symbol) + 1];
    char *dot, *name = strcpy(own, symbol);
    while ((dot = strrchr(own, '.')) && dot[1] && (!dot[strspn(dot + 1, "0123456789") + 1] || !strcmp(dot, ".llvm")))
        *dot = 0;
    if (dot)
        name = dot + 1;
    char *plain = pct_demangle(name);
    bool same = (name != own || strcmp(own, symbol)) && pct_pattern_means(pattern, name, plain);
    free(plain);
    return same;
}

bool pct_pattern_means_file(const struct pct_pattern *pattern, const char *path)
{
    if (means(pattern, path))
        return true;
    for (const char *part = path; pattern->whole && (part = strchr(part, '/'));)
        if (means(pattern, ++part))
            return true;
    return false;
}

/* --- Reading ------------------------------------------------------------------------------------------------------ */

static int add(struct pct_patterns *patterns, struct pct_pattern pattern, const char *text, size_t length)
{
    struct pct_pattern *item = realloc(patterns->item, (patterns->count + 1) * sizeof *item);
    pattern.text = strndup(text, length);
    if (item)
        patterns->item = item;
    if (!item || !pattern.text) {
        free(pattern.text);
        return pct_cli_no_memory("");
    }
    item[patterns->count++] = pattern;
    return 0;
}

/* MODULE+0xFROM[-0xTO]: leaves MODULE. */
static bool take_range(struct pct_pattern *pattern)
{
    char *plus = strrchr(pattern->text, '+'), *end;
    if (!plus || strncmp(plus, "+0x", 3) != 0)
        return false;
    errno = 0;
    uint64_t from = strtoull(plus + 1, &end, 16), to = from + sizeof(uint64_t);
    if (*end == '-' && end[1] != '-')
        to = strtoull(end + 1, &end, 16);
    if (errno || *end || to <= from)
        return false;
    pattern->from = from;
    pattern->to = to;
    *plus = 0;
    return true;
}

int pct_patterns_add_focus(struct pct_patterns *patterns, const char *text)
{
    for (size_t length; *text; text += length + (text[length] == ',')) {
        length = strcspn(text, ",");
        struct pct_pattern pattern = { .kind = PCT_SCOPE_FOCUS, .names = PCT_NAMES_ALL, .whole = true };
        int failed = length ? add(patterns, pattern, text, length)
                            : pct_cli_usage("--focus: there is an empty pattern in %s", text);
        if (failed)
            return failed;
        struct pct_pattern *added = &patterns->item[patterns->count - 1];
        if (!take_range(added) && strstr(added->text, "+0x"))
            return pct_cli_usage("--focus: '%s' is no range of addresses, such as +0x4010, +0x4010-0x4040 or "
                                 "libz.so.1+0x1c000",
                                 added->text);
    }
    return 0;
}

bool pct_pattern_take_line(struct pct_pattern *pattern)
{
    char *colon = strrchr(pattern->text, ':'), *end;
    unsigned long line = colon && isdigit((unsigned char)colon[1]) ? strtoul(colon + 1, &end, 10) : 0;
    if (!line || *end || line > INT_MAX || colon == pattern->text)
        return false;
    *colon = 0;
    pattern->at_line = (unsigned)line;
    pattern->names = PCT_NAMES_FILE;
    return true;
}

int pct_patterns_add_functions(struct pct_patterns *patterns, const char *text)
{
    for (size_t length; *text; text += length + (text[length] == ',')) {
        length = strcspn(text, ",");
        struct pct_pattern pattern = { .kind = PCT_SCOPE_FUNCTION, .names = PCT_NAMES_SYMBOL, .whole = true };
        int failed = length ? add(patterns, pattern, text, length)
                            : pct_cli_usage("--functions: there is an empty name in %s", text);
        if (failed)
            return failed;
        struct pct_pattern *added = &patterns->item[patterns->count - 1];
        if (pct_pattern_take_line(added))
            added->kind = PCT_SCOPE_LINE;
    }
    return 0;
}

/* VARIABLE+OFFSET:BYTES: leaves VARIABLE. A C++ name may have colons in it, but ends with none. */
static bool take_part(struct pct_pattern *pattern)
{
    char *colon = strrchr(pattern->text, ':'), *end;
    errno = 0;
    if (colon && colon[1] >= '0' && colon[1] <= '9') {
        pattern->size = strtoull(colon + 1, &end, 0);
        if (*end || !pattern->size)
            return false;
        *colon = 0;
    }
    char *plus = strrchr(pattern->text, '+');
    if (plus && plus[1] >= '0' && plus[1] <= '9') {
        pattern->offset = strtoull(plus + 1, &end, 0);
        if (*end)
            return false;
        *plus = 0;
    }
    if (!*pattern->text) { /* an address of the program */
        pattern->from = pattern->offset;
        pattern->to =
            pattern->from + (pattern->size ? pattern->size : sizeof(uint64_t) - pattern->from % sizeof(uint64_t));
    }
    return !errno && (*pattern->text || pattern->offset) && pattern->size < UINT32_MAX &&
           pattern->offset < UINT64_MAX / 2;
}

int pct_patterns_add_watch(struct pct_patterns *patterns, const char *text)
{
    for (size_t length; *text; text += length + (text[length] == ',')) {
        length = strcspn(text, ",");
        struct pct_pattern pattern = { .kind = PCT_SCOPE_WATCH, .names = PCT_NAMES_VARIABLE, .whole = true };
        int failed = length ? add(patterns, pattern, text, length)
                            : pct_cli_usage("--watch: there is an empty name in %s", text);
        if (failed)
            return failed;
        if (!take_part(&patterns->item[patterns->count - 1]))
            return pct_cli_usage(
                "--watch: '%.*s' is no variable, such as head, head+8 or head+8:4, nor an address of one, "
                "such as +0x4010:4",
                (int)length, text);
    }
    return 0;
}

/* The kinds of ThreadSanitizer. Those of what pct does not report are there to be passed over. */
static const struct {
    const char *name;
    int kind; /* -1: it has no meaning here */
    unsigned names;
} kinds[] = {
    { "race", PCT_SCOPE_RACE, PCT_NAMES_ALL },
    { "race_top", PCT_SCOPE_RACE_TOP, PCT_NAMES_FUNCTION | PCT_NAMES_FILE | PCT_NAMES_MODULE },
    { "called_from_lib", PCT_SCOPE_RACE_TOP, PCT_NAMES_MODULE },
    { "thread", -1, 0 },
    { "mutex", -1, 0 },
    { "signal", -1, 0 },
    { "deadlock", -1, 0 },
};

static int complain(const char *path, unsigned line, const char *word, size_t length)
{
    const char *names[sizeof kinds / sizeof *kinds];
    char wrong[64];
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        names[i] = kinds[i].name;
    snprintf(wrong, sizeof wrong, "%.*s", (int)length, word);
    const char *closest = pct_text_closest(wrong, names, sizeof names / sizeof *names);
    return pct_cli_usage("%s:%u: unknown kind of suppression '%s'; %s%s%s", path, line, wrong,
                         closest ? "did you mean " : "known are race, race_top and called_from_lib",
                         closest ? closest : "", closest ? "?" : "");
}

static int take_line(struct pct_patterns *patterns, const char *path, unsigned number, const char *line)
{
    line += strspn(line, " \t");
    size_t length = strcspn(line, "\r\n"), word = strcspn(line, ":");
    while (length && (line[length - 1] == ' ' || line[length - 1] == '\t'))
        length--;
    if (!length || *line == '#')
        return 0;
    if (word >= length)
        return pct_cli_usage("%s:%u: expected KIND:PATTERN, such as race:function", path, number);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strlen(kinds[i].name) != word || strncmp(kinds[i].name, line, word) != 0)
            continue;
        if (word + 1 == length)
            return pct_cli_usage("%s:%u: there is no pattern behind %s:", path, number, kinds[i].name);
        struct pct_pattern pattern = { .line = number, .kind = (unsigned)kinds[i].kind, .names = kinds[i].names };
        return kinds[i].kind < 0 ? 0 : add(patterns, pattern, line + word + 1, length - word - 1);
    }
    return complain(path, number, line, word);
}

int pct_patterns_add_suppressions(struct pct_patterns *patterns, const char *path)
{
    FILE *file = fopen(path, "re");
    char *line = NULL;
    size_t size = 0;
    int failed = 0;
    if (!file)
        return pct_cli_usage("--suppressions=%s: %s", path, strerror(errno));
    errno = 0;
    if (!pct_cli_is_text(file))
        failed = pct_cli_usage("--suppressions=%s: it is no text", path);
    for (unsigned number = 1; !failed && getline(&line, &size, file) >= 0; number++)
        failed = take_line(patterns, path, number, line);
    if (!failed && !feof(file))
        failed = pct_cli_usage("--suppressions=%s: %s", path, strerror(errno ? errno : EIO));
    free(line);
    fclose(file);
    return failed;
}

void pct_patterns_free(struct pct_patterns *patterns)
{
    for (size_t i = 0; i < patterns->count; i++)
        free(patterns->item[i].text);
    free(patterns->item);
    *patterns = (struct pct_patterns){ 0 };
}
