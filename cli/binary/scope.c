/* Patterns to ranges: see scope.h. */
#include "scope.h"
#include "debug_info.h"
#include "line_rows.h"
#include <cli/base/cli.h>
#include <cli/base/demangle.h>
#include <common/text.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES_MOST = 1 << 16 };

/* The module that is looked at. */
struct module {
    struct pct_scope *scope;
    uint32_t index;
    const char *name; /* of its file, without directories */
    Dwfl_Module *dwfl;
    GElf_Addr bias; /* of libdwfl's addresses */
    bool made;      /* nothing counts but what compilers have made of variables */
};

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void collect(struct pct_scope *scope, const char *name)
{
    if (!scope->collects || scope->name_count == NAMES_MOST)
        return;
    if (!(scope->name_count & (scope->name_count - 1))) {
        size_t room = scope->name_count ? 2 * scope->name_count : 1;
        char **names = realloc(scope->names, room * sizeof *names);
        if (!names)
            return;
        scope->names = names;
    }
    char *copy = strdup(name);
    if (copy)
        scope->names[scope->name_count++] = copy;
}

/* This is what the pattern stands for. */
static void add(const struct module *m, const struct pct_pattern *pattern, uint64_t from, uint64_t to, const char *what,
                const char *name)
{
    struct pct_scope *scope = m->scope;
    if (from >= to || scope->collects)
        return;
    if (!(scope->count & (scope->count - 1))) {
        size_t room = scope->count ? 2 * scope->count : 16;
        struct pct_scope_match *item = realloc(scope->item, room * sizeof *item);
        if (!item)
            return;
        scope->item = item;
    }
    struct pct_scope_match *match = &scope->item[scope->count];
    *match = (struct pct_scope_match){
        .module = m->index, .pattern = (uint32_t)(pattern - scope->patterns.item), .from = from, .to = to
    };
    if (asprintf(&match->what, "%s%s%s", what, name ? " " : "", name ? name : "") < 0)
        return;
    scope->count++;
    scope->patterns.item[match->pattern].matches++;
}

/* --- Symbols ------------------------------------------------------------------------------------------------------ */

/* The part of a variable that is to be watched. */
static void add_part(const struct module *m, const struct pct_pattern *pattern, uint64_t from, uint64_t size,
                     const char *name)
{
    /* Which part of it one is that the compiler has made, is not known. */
    if (pattern->offset >= size || (pattern->made && (pattern->offset || pattern->size)))
        return;
    uint64_t rest = size - pattern->offset;
    if (pattern->size && pattern->size < rest)
        rest = pattern->size;
    add(m, pattern, from + pattern->offset, from + pattern->offset + rest, "variable", name);
}

/* Whether the pattern has code that begins there. */
static bool has(const struct module *m, const struct pct_pattern *pattern, uint64_t from)
{
    const struct pct_scope *scope = m->scope;
    for (size_t i = 0; i < scope->count; i++)
        if (scope->item[i].module == m->index && scope->item[i].from == from &&
            &scope->patterns.item[scope->item[i].pattern] == pattern)
            return true;
    return false;
}

/* A function, or what a compiler has made of it, if it is meant and was not added by another name. */
static void add_function(const struct module *m, const struct pct_pattern *pattern, uint64_t from, uint64_t size,
                         const char *name, const char *plain)
{
    const struct pct_scope *scope = m->scope;
    bool cold;
    /* Where the program has it, libraries that have it, too, are not meant. */
    if (!pct_pattern_means_function(pattern, name, plain, &cold) || (m->index && pattern->own))
        return;
    m->scope->patterns.item[pattern - scope->patterns.item].own |= !m->index;
    if (has(m, pattern, from))
        return;
    size_t before = scope->count;
    add(m, pattern, from, from + size, "function", plain ? plain : name);
    if (scope->count > before)
        scope->item[before].cold = cold;
}

static bool means_variable(const struct pct_pattern *pattern, const char *symbol, const char *plain)
{
    return !pattern->to &&
           (pattern->made ? pct_pattern_means_made(pattern, symbol) : pct_pattern_means(pattern, symbol, plain));
}

static void look_at_symbols(const struct module *m)
{
    const struct pct_patterns *patterns = &m->scope->patterns;
    int count = dwfl_module_getsymtab(m->dwfl);
    for (int i = 1; i < count; i++) {
        GElf_Sym symbol;
        GElf_Addr address;
        GElf_Word section;
        const char *name = dwfl_module_getsym_info(m->dwfl, i, &symbol, &address, &section, NULL, NULL);
        unsigned type = GELF_ST_TYPE(symbol.st_info);
        if (!name || !*name || section == SHN_UNDEF || !symbol.st_size || (type != STT_FUNC && type != STT_OBJECT))
            continue;
        char *plain = pct_demangle(name);
        bool is_function = type == STT_FUNC;
        collect(m->scope, plain ? plain : name);
        for (size_t j = 0; j < patterns->count; j++) {
            const struct pct_pattern *pattern = &patterns->item[j];
            if (m->made && !pattern->made)
                continue;
            if (pattern->names & PCT_NAMES_SYMBOL) {
                if (is_function)
                    add_function(m, pattern, address - m->bias, symbol.st_size, name, plain);
                continue;
            }
            if (!is_function) {
                if (pattern->names & PCT_NAMES_VARIABLE && means_variable(pattern, name, plain))
                    add_part(m, pattern, address - m->bias, symbol.st_size, plain ? plain : name);
                continue;
            }
            if (!pattern->to && pattern->names & PCT_NAMES_FUNCTION && pct_pattern_means(pattern, name, plain))
                add(m, pattern, address - m->bias, address - m->bias + symbol.st_size, "function",
                    plain ? plain : name);
        }
        free(plain);
    }
}

/* --- Debug information -------------------------------------------------------------------------------------------- */

/* All code of this entry. */
static void add_code(const struct module *m, const struct pct_pattern *pattern, Dwarf_Die *die, GElf_Addr bias,
                     const char *what, const char *name)
{
    Dwarf_Addr base, from, to;
    for (ptrdiff_t at = 0; (at = dwarf_ranges(die, at, &base, &from, &to)) > 0;)
        add(m, pattern, from + bias - m->bias, to + bias - m->bias, what, name);
}

/* Functions by what libdw calls them: those that were inlined have no symbol. And all code of functions that are
 * written in a file, also where it comes from another one. */
static void look_at_function(const struct module *m, Dwarf_Die *die, GElf_Addr bias)
{
    const struct pct_patterns *patterns = &m->scope->patterns;
    Dwarf_Attribute attribute;
    const char *symbol =
        dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) ? dwarf_formstring(&attribute) : dwarf_diename(die);
    const char *file = pct_debug_info_file(die);
    char *plain = symbol ? pct_demangle(symbol) : NULL;
    for (size_t j = 0; j < patterns->count; j++) {
        const struct pct_pattern *pattern = &patterns->item[j];
        if (pattern->to)
            continue;
        if (symbol && pattern->names & PCT_NAMES_FUNCTION && pct_pattern_means(pattern, symbol, plain))
            add_code(m, pattern, die, bias, "function", plain ? plain : symbol);
        if (file && pattern->names & PCT_NAMES_FILE && !pattern->at_line && pct_pattern_means_file(pattern, file))
            add_code(m, pattern, die, bias, "file", base_name(file));
    }
    free(plain);
}

static void look_below(const struct module *m, Dwarf_Die *parent, GElf_Addr bias)
{
    Dwarf_Die die;
    if (dwarf_child(parent, &die))
        return;
    do {
        int tag = dwarf_tag(&die);
        if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine)
            look_at_function(m, &die, bias);
        if (dwarf_haschildren(&die))
            look_below(m, &die, bias);
    } while (!dwarf_siblingof(&die, &die));
}

/* Where control comes to a line of a file: in all copies that were made of it. */
static void look_at_line(const struct module *m, const struct pct_pattern *pattern, Dwarf_Die *unit, GElf_Addr bias)
{
    struct pct_line_code line = { 0 };
    GElf_Addr elf_bias;
    char name[256] = "";
    if (m->index && pattern->own)
        return;
    pct_line_read(&line, &(struct pct_line_unit){ m->dwfl, m->bias, unit, bias }, pattern);
    if (line.file)
        snprintf(name, sizeof name, "%s:%u", base_name(line.file), pattern->at_line);
    pct_line_find_entries(&line, dwfl_module_getelf(m->dwfl, &elf_bias));
    for (size_t i = 0; i < line.entries; i++) {
        if (!has(m, pattern, line.entry[i].at))
            add(m, pattern, line.entry[i].at, line.entry[i].to, "line", name);
        m->scope->patterns.item[pattern - m->scope->patterns.item].own |= !m->index;
    }
    pct_line_free(&line);
}

/* Of the lines of this file with code of their own, the one that is nearest to what the pattern means. */
static void take_near(const struct module *m, const struct pct_pattern *pattern, int number)
{
    const int wanted = (int)pattern->at_line, near = (int)pattern->near_line;
    if (number && (!near || abs(number - wanted) < abs(near - wanted) ||
                   (abs(number - wanted) == abs(near - wanted) && number > near)))
        m->scope->patterns.item[pattern - m->scope->patterns.item].near_line = (unsigned)number;
}

/* The code of files, or of lines, wherever they were inlined. */
static void look_at_lines(const struct module *m, Dwarf_Die *unit, GElf_Addr bias)
{
    const struct pct_patterns *patterns = &m->scope->patterns;
    Dwarf_Lines *lines;
    size_t count;
    if (dwarf_getsrclines(unit, &lines, &count))
        return;
    for (size_t j = 0; j < patterns->count + m->scope->collects; j++) {
        const struct pct_pattern *pattern = j < patterns->count ? &patterns->item[j] : NULL;
        const char *last = NULL;
        bool meant = false;
        if (pattern && (!(pattern->names & PCT_NAMES_FILE) || pattern->to))
            continue;
        for (size_t i = 0; i + 1 < count; i++) {
            Dwarf_Line *line = dwarf_onesrcline(lines, i);
            const char *file = dwarf_linesrc(line, NULL, NULL);
            Dwarf_Addr from, to;
            bool end;
            int number;
            if (file && file != last) {
                last = file;
                meant = pattern && pct_pattern_means_file(pattern, file);
                if (!pattern)
                    collect(m->scope, base_name(file));
            }
            if (!file || !meant || dwarf_lineendsequence(line, &end) || end)
                continue;
            if (dwarf_lineaddr(line, &from) || dwarf_lineaddr(dwarf_onesrcline(lines, i + 1), &to) ||
                dwarf_lineno(line, &number))
                continue;
            const bool other = pattern->at_line && (unsigned)number != pattern->at_line;
            if (other && from < to)
                take_near(m, pattern, number);
            if (other || pattern->kind == PCT_SCOPE_LINE)
                continue;
            add(m, pattern, from + bias - m->bias, to + bias - m->bias, "file", base_name(file));
        }
        if (pattern && pattern->kind == PCT_SCOPE_LINE)
            look_at_line(m, pattern, unit, bias);
    }
}

/* --- Modules ------------------------------------------------------------------------------------------------------ */

/* Whether the program can write there. */
static bool is_data(Elf *elf, uint64_t from, uint64_t to)
{
    size_t segments;
    GElf_Phdr segment;
    for (size_t i = 0; !elf_getphdrnum(elf, &segments) && i < segments; i++)
        if (gelf_getphdr(elf, (int)i, &segment) && segment.p_type == PT_LOAD && segment.p_flags & PF_W &&
            from >= segment.p_vaddr && to <= segment.p_vaddr + segment.p_memsz)
            return true;
    return false;
}

/* The module itself, and addresses in it. */
static void look_at_name(const struct module *m, Elf *elf)
{
    const struct pct_patterns *patterns = &m->scope->patterns;
    size_t segments;
    GElf_Phdr segment;
    collect(m->scope, m->name);
    for (size_t j = 0; j < patterns->count; j++) {
        const struct pct_pattern *pattern = &patterns->item[j];
        bool named = pct_pattern_means_file(pattern, m->name);
        bool watch = pattern->kind == PCT_SCOPE_WATCH;
        uint64_t from = pattern->from, to = pattern->to;
        if (watch && !to && named && pattern->offset) {
            from = pattern->offset;
            to = from + (pattern->size ? pattern->size : 8 - from % 8);
        }
        if (to && (named || (!*pattern->text && !m->index)) && (!watch || is_data(elf, from, to)))
            add(m, pattern, from, to, "addresses", NULL);
        if (pattern->to || !named || !(pattern->names & PCT_NAMES_MODULE) || elf_getphdrnum(elf, &segments))
            continue;
        for (size_t i = 0; i < segments; i++)
            if (gelf_getphdr(elf, (int)i, &segment) && segment.p_type == PT_LOAD && segment.p_flags & PF_X)
                add(m, pattern, segment.p_vaddr, segment.p_vaddr + segment.p_memsz, "module", m->name);
    }
}

static void look_at_module(struct pct_scope *scope, uint32_t index, bool made)
{
    struct module m = { .scope = scope, .index = index, .name = base_name(scope->modules[index]), .made = made };
    Dwfl *dwfl = pct_debug_info_open(scope->modules[index], &m.dwfl);
    Elf *elf = m.dwfl ? dwfl_module_getelf(m.dwfl, &m.bias) : NULL;
    if (elf && made) {
        look_at_symbols(&m);
    } else if (elf) {
        scope->elf |= !index;
        look_at_name(&m, elf);
        look_at_symbols(&m);
        Dwarf_Die *unit = NULL;
        for (Dwarf_Addr bias = 0; (unit = pct_debug_info_next(m.dwfl, unit, &bias));) {
            look_at_lines(&m, unit, bias);
            look_below(&m, unit, bias);
        }
    }
    if (dwfl)
        dwfl_end(dwfl);
}

/* Patterns of whole names that stand for nothing may mean variables that a compiler calls otherwise. */
static void look_for_made(struct pct_scope *scope)
{
    struct pct_pattern *patterns = scope->patterns.item;
    bool any = false;
    for (size_t i = 0; i < scope->patterns.count; i++) {
        patterns[i].made = patterns[i].whole && patterns[i].names & PCT_NAMES_VARIABLE && !patterns[i].matches;
        any |= patterns[i].made;
    }
    for (uint32_t i = 0; any && i < scope->module_count; i++)
        look_at_module(scope, i, true);
}

int pct_scope_find(struct pct_scope *scope)
{
    for (uint32_t i = 0; i < scope->module_count; i++)
        look_at_module(scope, i, false);
    if (!scope->collects)
        look_for_made(scope);
    if (!scope->elf && !scope->collects)
        return pct_cli_usage("%s is no program that --focus, --watch, --functions and --suppressions can look into (a "
                             "script?): give the program itself",
                             scope->modules[0]);
    return 0;
}

const char *pct_scope_closest(struct pct_scope *scope, const char *name)
{
    scope->collects = true;
    pct_scope_find(scope);
    scope->collects = false;
    return pct_text_closest(name, (const char *const *)scope->names, scope->name_count);
}

/* What may have been meant by a pattern that stands for nothing. */
static int complain(struct pct_scope *scope, const struct pct_pattern *pattern)
{
    const char *program = base_name(scope->modules[0]);
    bool watch = pattern->kind == PCT_SCOPE_WATCH;
    bool function = pattern->kind == PCT_SCOPE_FUNCTION, line = pattern->kind == PCT_SCOPE_LINE;
    const char *option = watch ? "--watch" : function || line ? "--functions" : "--focus";
    if (line && pattern->near_line)
        return pct_cli_usage("--functions: line %u of %s has no code in %s; the nearest that has is line %u",
                             pattern->at_line, pattern->text, program, pattern->near_line);
    if (watch && pattern->to)
        return pct_cli_usage("--watch: %s has no variables at +0x%llx (`nm` shows addresses)", program,
                             (unsigned long long)pattern->from);
    if (pattern->to)
        return pct_cli_usage("%s: %s is loaded with no module '%s'", option, program, pattern->text);
    const char *closest = pct_scope_closest(scope, pattern->text);
    int status;
    for (size_t i = 0; watch && i < scope->name_count; i++)
        if (pct_pattern_means_made(pattern, scope->names[i]))
            closest = scope->names[i];
    if (closest && watch && !strcmp(closest, pattern->text))
        status = pct_cli_usage("--watch: '%s' is no variable%s", closest,
                               pattern->offset ? " of that size" : ", but a function");
    else if (closest && function && !strcmp(closest, pattern->text))
        status = pct_cli_usage("--functions: '%s' is no function", closest);
    else if (closest)
        status = pct_cli_usage("%s: nothing in %s and its libraries is called '%s'; did you mean '%s'?", option,
                               program, pattern->text, closest);
    else
        status = pct_cli_usage(
            "%s: no %s of %s and its libraries is called '%s' (`pct scope` tries patterns; a stripped file "
            "has no names)",
            option,
            watch      ? "variable"
            : function ? "function"
            : line     ? "file"
                       : "function, file or variable",
            program, pattern->text);
    return status;
}

/* How many watchpoints all that is to be watched takes. */
static uint64_t count_watchpoints(const struct pct_scope *scope, const struct pct_scope_match **largest)
{
    uint64_t count = 0;
    for (size_t i = 0; i < scope->count; i++) {
        const struct pct_scope_match *match = &scope->item[i];
        bool again = false;
        for (size_t j = 0; j < i; j++)
            again |= scope->item[j].module == match->module && scope->item[j].from == match->from;
        if (scope->patterns.item[match->pattern].kind != PCT_SCOPE_WATCH || again)
            continue;
        if (!*largest || match->to - match->from > (*largest)->to - (*largest)->from)
            *largest = match;
        if (match->to - match->from > PCT_SCOPE_WATCHPOINTS * sizeof(uint64_t))
            return UINT64_MAX;
        for (uint64_t at = match->from; at < match->to; at += pct_scope_watchpoint(at, match->to))
            count++;
    }
    return count;
}

int pct_scope_check(struct pct_scope *scope)
{
    const struct pct_scope_match *largest = NULL;
    for (size_t i = 0; i < scope->patterns.count; i++) {
        const struct pct_pattern *pattern = &scope->patterns.item[i];
        if ((pattern->kind == PCT_SCOPE_FOCUS || pattern->kind == PCT_SCOPE_WATCH ||
             pattern->kind == PCT_SCOPE_FUNCTION || pattern->kind == PCT_SCOPE_LINE) &&
            !pattern->matches)
            return complain(scope, pattern);
    }
    if (count_watchpoints(scope, &largest) <= PCT_SCOPE_WATCHPOINTS)
        return 0;
    return pct_cli_usage(
        "--watch: too much for the processor, which watches %u times up to 8 aligned bytes; %s has %llu "
        "bytes at 0x%llx: name fewer variables, or a part, such as %s+8:8",
        PCT_SCOPE_WATCHPOINTS, largest->what, (unsigned long long)(largest->to - largest->from),
        (unsigned long long)largest->from, scope->patterns.item[largest->pattern].text);
}

void pct_scope_free(struct pct_scope *scope)
{
    for (size_t i = 0; i < scope->module_count; i++)
        free(scope->modules[i]);
    for (size_t i = 0; i < scope->count; i++)
        free(scope->item[i].what);
    for (size_t i = 0; i < scope->name_count; i++)
        free(scope->names[i]);
    free(scope->modules);
    free(scope->item);
    free(scope->names);
    pct_patterns_free(&scope->patterns);
    *scope = (struct pct_scope){ 0 };
}

/* --- For the shim ------------------------------------------------------------------------------------------------- */

static int by_place(const void *a, const void *b)
{
    const struct pct_scope_range *x = a, *y = b;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return x->from < y->from ? -1 : x->from > y->from;
}

/* Sort them, and join those of a kind that meet. Returns how many are left. */
static uint32_t join(struct pct_scope_range *ranges, uint32_t count)
{
    uint32_t left = 0;
    qsort(ranges, count, sizeof *ranges, by_place);
    for (uint32_t i = 0; i < count; i++) {
        struct pct_scope_range *last = left ? &ranges[left - 1] : NULL;
        bool whole = ranges[i].kind == PCT_SCOPE_FUNCTION; /* one begins where the one before ends */
        bool line = ranges[i].kind == PCT_SCOPE_LINE && last && last->from < ranges[i].from;
        if (!last || last->kind != ranges[i].kind || last->to < ranges[i].from + whole || line)
            ranges[left++] = ranges[i];
        else if (last->to < ranges[i].to)
            last->to = ranges[i].to;
    }
    return left;
}

void *pct_scope_format(const struct pct_scope *scope, size_t *size)
{
    struct pct_scope_head head = { .version = PCT_SCOPE_VERSION };
    struct pct_scope_range *ranges = calloc(scope->count + 1, sizeof *ranges);
    struct pct_scope_module *modules = calloc(scope->module_count + 1, sizeof *modules);
    memcpy(head.magic, PCT_SCOPE_MAGIC, sizeof head.magic);
    for (size_t i = 0; i < scope->patterns.count; i++)
        head.has |= 1u << scope->patterns.item[i].kind;
    for (uint32_t m = 0; ranges && modules && m < scope->module_count; m++) {
        struct pct_scope_module *module = &modules[head.modules];
        uint32_t count = 0;
        for (size_t i = 0; i < scope->count; i++) {
            const struct pct_scope_match *match = &scope->item[i];
            if (match->module == m)
                ranges[head.ranges + count++] =
                    (struct pct_scope_range){ .from = match->from,
                                              .to = match->to,
                                              .kind = match->cold ? PCT_SCOPE_COLD
                                                                  : scope->patterns.item[match->pattern].kind };
        }
        if (!count)
            continue;
        /* The shim knows libraries by the names that the loader has for them, and the program by that of its file. */
        char *real = m ? NULL : realpath(scope->modules[m], NULL);
        snprintf(module->name, sizeof module->name, "%s", base_name(real ? real : scope->modules[m]));
        free(real);
        module->first = head.ranges;
        module->count = join(ranges + head.ranges, count);
        head.ranges += module->count;
        head.modules++;
    }
    size_t module_bytes = head.modules * sizeof *modules, range_bytes = head.ranges * sizeof *ranges;
    *size = sizeof head + module_bytes + range_bytes;
    char *bytes = ranges && modules ? malloc(*size) : NULL;
    if (bytes) {
        memcpy(bytes, &head, sizeof head);
        memcpy(bytes + sizeof head, modules, module_bytes);
        memcpy(bytes + sizeof head + module_bytes, ranges, range_bytes);
    }
    free(ranges);
    free(modules);
    return bytes;
}
