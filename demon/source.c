/* Sources of contracts: see source.h. A comment belongs to the function whose name is the next in its file, by the
 * debug information; between the two there is no end of anything else. */
#include "source.h"
#include "binary.h"
#include <cli/binary/debug_info.h>
#include <ctype.h>
#include <dwarf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MARK "/*@demon"

enum { LARGEST = 1 << 26 };

struct comment {
    const char *path;             /* of its file */
    size_t file;                  /* the index of that */
    unsigned line, last, barrier; /* where it begins, ends, and where something else ends behind it */
    char *text;
    struct demon_source of; /* function and parameters, once they are found */
    unsigned function_line; /* 0: not yet */
};

struct file {
    char path[4096];
    char *text;
};

struct reader {
    struct demon_sources *sources;
    struct file *file;
    size_t files;
    struct comment comment[DEMON_SOURCES];
    size_t comments;
    char *error;
    size_t size;
    bool failed;
};

/* --- Files -------------------------------------------------------------------------------------------------------- */

static char *read_file(const char *path, off_t most)
{
    struct stat status;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    char *text = NULL;
    bool known = file >= 0 && !fstat(file, &status);
    errno = !known ? errno : S_ISDIR(status.st_mode) ? EISDIR : EFBIG;
    if (known && S_ISREG(status.st_mode) && status.st_size <= most) {
        text = calloc(1, (size_t)status.st_size + 1);
        if (text && read(file, text, (size_t)status.st_size) != status.st_size) {
            free(text);
            text = NULL;
        }
        if (text && strlen(text) < (size_t)status.st_size) {
            free(text);
            text = NULL;
            errno = EILSEQ;
        }
    }
    if (file >= 0)
        close(file);
    return text;
}

static bool add_source(struct demon_sources *sources, const struct demon_source *like, const char *name, char *text)
{
    char *copy = text && sources->count < DEMON_SOURCES ? strdup(name) : NULL;
    if (!copy) {
        free(text);
        return false;
    }
    struct demon_source *source = &sources->item[sources->count++];
    *source = *like;
    source->name = copy;
    source->text = text;
    return true;
}

bool demon_sources_add_file(struct demon_sources *sources, const char *path, char *error, size_t size)
{
    enum { MOST = 1 << 20 };
    static const char mark[] = "\xef\xbb\xbf"; /* that some editors put before UTF-8 */
    char *text = read_file(path, MOST);
    if (text && !strncmp(text, mark, sizeof mark - 1))
        memset(text, ' ', sizeof mark - 1);
    if (!text)
        snprintf(error, size, "%s: %s", path,
                 errno == EFBIG    ? "contracts are a file of at most 1 MiB"
                 : errno == EILSEQ ? "contracts are text, and there is a byte 0 in it"
                                   : strerror(errno));
    else if (add_source(sources, &(struct demon_source){ .line = 1 }, path, text))
        return true;
    else
        snprintf(error, size, "out of memory");
    return false;
}

/* --- Comments ----------------------------------------------------------------------------------------------------- */

__attribute__((format(printf, 4, 5))) static void fail(struct reader *r, const char *path, unsigned line,
                                                       const char *format, ...)
{
    va_list list;
    int length = snprintf(r->error, r->size, "%s:%u: ", path, line);
    r->failed = true;
    va_start(list, format);
    if (length > 0 && (size_t)length < r->size)
        vsnprintf(r->error + length, r->size - (size_t)length, format, list);
    va_end(list);
}

/* What stands between the mark and the end, without the stars at the beginnings of lines. */
static char *undecorate(const char *from, const char *end)
{
    char *text = strndup(from, (size_t)(end - from));
    for (char *at = text; at && *at;) {
        at += strspn(at, " \t");
        if (*at == '*')
            *at = ' ';
        at = strchrnul(at, '\n');
        at += *at == '\n';
    }
    return text;
}

static void add_comment(struct reader *r, size_t file, const char *at, const char *end, unsigned line, unsigned last)
{
    if (r->comments == DEMON_SOURCES) {
        fail(r, r->file[file].path, line, "there are more than %d contracts in comments", DEMON_SOURCES);
        return;
    }
    struct comment *c = &r->comment[r->comments++];
    *c = (struct comment){ .file = file, .line = line, .last = last, .barrier = UINT32_MAX };
    c->text = undecorate(at + sizeof MARK - 1, end);
}

/* Behind the literal that begins here. */
static const char *skip_literal(const char *at)
{
    char quote = *at++;
    for (; *at && *at != quote && *at != '\n'; at++)
        at += at[0] == '\\' && at[1];
    return *at == quote ? at + 1 : at;
}

static unsigned count_lines(const char *from, const char *to)
{
    unsigned lines = 0;
    for (; from < to; from++)
        lines += *from == '\n';
    return lines;
}

/* By the rules of C for comments and literals. */
static void scan(struct reader *r, size_t file)
{
    unsigned line = 1;
    size_t open = r->comments; /* the first without a barrier */
    for (const char *at = r->file[file].text; *at && !r->failed;) {
        const char *next = at + 1;
        if (at[0] == '/' && at[1] == '*') {
            const char *end = strstr(at + 2, "*/");
            next = end ? end + 2 : strchr(at, 0);
            if (end && !strncmp(at, MARK, sizeof MARK - 1) && !isalnum((unsigned char)at[sizeof MARK - 1]))
                add_comment(r, file, at, end, line, line + count_lines(at, end));
        } else if (at[0] == '/' && at[1] == '/') {
            next = strchrnul(at, '\n');
        } else if (*at == '"' || *at == '\'') {
            next = skip_literal(at);
        } else if (strchr(";{}", *at)) {
            while (open < r->comments)
                r->comment[open++].barrier = line;
        }
        line += count_lines(at, next);
        at = next;
    }
}

/* The index of the file, read once. */
static size_t find_file(struct reader *r, const char *path)
{
    for (size_t i = r->files; i-- > 0;)
        if (!strcmp(r->file[i].path, path))
            return i;
    struct file *more = realloc(r->file, (r->files + 1) * sizeof *more);
    if (!more)
        return 0;
    r->file = more;
    struct file *file = &r->file[r->files];
    snprintf(file->path, sizeof file->path, "%s", path);
    file->text = read_file(path, LARGEST);
    if (file->text && strstr(file->text, MARK))
        scan(r, r->files);
    return r->files++;
}

/* --- Functions ---------------------------------------------------------------------------------------------------- */

void demon_source_path(Dwarf_Die *die, char *path, size_t size)
{
    Dwarf_Die unit;
    Dwarf_Attribute attribute;
    const char *file = pct_debug_info_file(die), *from = NULL;
    if (file && *file != '/' && dwarf_diecu(die, &unit, NULL, NULL) && dwarf_attr(&unit, DW_AT_comp_dir, &attribute))
        from = dwarf_formstring(&attribute);
    snprintf(path, size, "%s%s%s", from ? from : "", from ? "/" : "", file ? file : "?");
}

static void take_parameters(Dwarf_Die *function, struct demon_source *of)
{
    Dwarf_Die child;
    for (int more = dwarf_child(function, &child); !more; more = dwarf_siblingof(&child, &child)) {
        Dwarf_Attribute attribute;
        if (dwarf_tag(&child) != DW_TAG_formal_parameter)
            continue;
        const char *name = dwarf_attr_integrate(&child, DW_AT_name, &attribute) ? dwarf_formstring(&attribute) : NULL;
        if (of->parameters < PCT_DEMON_ARGUMENTS)
            snprintf(of->parameter[of->parameters], DEMON_NAME, "%.*s", DEMON_NAME - 1, name ? name : "");
        of->parameters++;
    }
}

/* Whether one of the comments stands above it. */
static void offer(struct reader *r, Dwarf_Die *die)
{
    char path[4096];
    int line = 0;
    Dwarf_Attribute attribute;
    const char *name = dwarf_attr_integrate(die, DW_AT_name, &attribute) ? dwarf_formstring(&attribute) : NULL;
    if (!name || dwarf_decl_line(die, &line) || dwarf_hasattr(die, DW_AT_declaration))
        return;
    demon_source_path(die, path, sizeof path);
    size_t file = find_file(r, path);
    for (size_t i = 0; i < r->comments; i++) {
        struct comment *c = &r->comment[i];
        if (c->file != file || (unsigned)line < c->last || (unsigned)line > c->barrier ||
            (c->function_line && c->function_line <= (unsigned)line))
            continue;
        c->function_line = (unsigned)line;
        c->of = (struct demon_source){ .line = c->line };
        snprintf(c->of.function, sizeof c->of.function, "%.*s", DEMON_NAME - 1, name);
        take_parameters(die, &c->of);
    }
}

static void offer_all(struct reader *r, Dwarf *dwarf)
{
    Dwarf_Off offset = 0, next;
    size_t header;
    while (!dwarf_nextcu(dwarf, offset, &next, &header, NULL, NULL, NULL) && !r->failed) {
        Dwarf_Die unit, child;
        if (dwarf_offdie(dwarf, offset + header, &unit))
            for (int more = dwarf_child(&unit, &child); !more && !r->failed; more = dwarf_siblingof(&child, &child))
                if (dwarf_tag(&child) == DW_TAG_subprogram)
                    offer(r, &child);
        offset = next;
    }
}

/* Whether this line of the file has the name: else it was changed since the program was built. */
static bool has_name(const struct file *file, unsigned line, const char *name)
{
    const char *at = file->text;
    for (; line > 1 && *at; line--) {
        at = strchrnul(at, '\n');
        at += *at == '\n';
    }
    const char *found = strstr(at, name);
    return found && found < strchrnul(at, '\n');
}

static void finish(struct reader *r, struct comment *c)
{
    const struct file *file = &r->file[c->file];
    if (!c->function_line) {
        fail(r, file->path, c->line,
             "this contract stands above no function that the program has; one that nothing calls is kept by "
             "__attribute__((used))");
    } else if (!has_name(file, c->function_line, c->of.function)) {
        fail(r, file->path, c->function_line, "%s is not there: the source has changed since the program was built",
             c->of.function);
    } else {
        const char *first = c->text ? c->text + strspn(c->text, " \t\n") : "";
        c->of.is_test = !strncmp(first, "test", 4) && !isalnum((unsigned char)first[4]) && first[4] != '_';
        if (!add_source(r->sources, &c->of, file->path, c->text))
            fail(r, file->path, c->line, "there are too many contracts");
        c->text = NULL;
    }
}

bool demon_sources_add_comments(struct demon_sources *sources, const char *program, char *error, size_t size)
{
    struct reader *r = calloc(1, sizeof *r);
    struct demon_binary binary = demon_binary_open(program);
    if (r) {
        *r = (struct reader){ .sources = sources, .error = error, .size = size };
        if (binary.dwarf)
            offer_all(r, binary.dwarf);
        for (size_t i = 0; i < r->comments && !r->failed; i++)
            finish(r, &r->comment[i]);
        for (size_t i = 0; i < r->comments; i++)
            free(r->comment[i].text);
        for (size_t i = 0; i < r->files; i++)
            free(r->file[i].text);
        free(r->file);
    } else {
        snprintf(error, size, "out of memory");
    }
    demon_binary_close(&binary);
    bool fine = r && !r->failed;
    free(r);
    return fine;
}
