/* The names in a script: see script.h. A script is text of Lua; the command does not run it, but looks for the words in
 * quotes that follow a predicate. A name that a script puts together is refused in the run. */
#include "script.h"
#include <cli/base/cli.h>
#include <cli/binary/elf_facts.h>
#include <cli/binary/scope.h>
#include <common/text.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* --- The words ---------------------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    enum pct_script_kind kind;
} predicates[] = {
    { "locks", PCT_SCRIPT_VARIABLE },   { "unlocks", PCT_SCRIPT_VARIABLE },  { "waits", PCT_SCRIPT_VARIABLE },
    { "signals", PCT_SCRIPT_VARIABLE }, { "posts", PCT_SCRIPT_VARIABLE },    { "reads", PCT_SCRIPT_VARIABLE },
    { "writes", PCT_SCRIPT_VARIABLE },  { "accesses", PCT_SCRIPT_VARIABLE }, { "value", PCT_SCRIPT_VARIABLE },
    { "starts", PCT_SCRIPT_FUNCTION },  { "from", PCT_SCRIPT_FUNCTION },     { "thread", PCT_SCRIPT_FUNCTION },
    { "at", PCT_SCRIPT_LINE },          { "enters", PCT_SCRIPT_BODY },       { "returns", PCT_SCRIPT_BODY },
    { "calls", PCT_SCRIPT_BODY },       { "inside", PCT_SCRIPT_BODY },
};

struct reader {
    const char *at;
    unsigned line;
    bool returns;    /* the predicate before is this one, */
    bool starts;     /* or thread, or starts */
    int kind;        /* of the predicate before, enum pct_script_kind; -1: there is none */
    unsigned commas; /* threads(n, "f"): its second argument is the name, 1: it is awaited, 2: it is next; else 0 */
};

/* The bracket of Lua's long strings and comments at the reader: how many `=` it has, plus 1; 0: it is none. */
static unsigned long_bracket(const char *at)
{
    unsigned level = 1;
    if (*at++ != '[')
        return 0;
    for (; *at == '='; at++)
        level++;
    return *at == '[' ? level : 0;
}

static void skip_long(struct reader *r, unsigned level)
{
    for (r->at += level + 1; *r->at; r->at++) {
        r->line += *r->at == '\n';
        if (*r->at != ']' || strspn(r->at + 1, "=") != level - 1 || r->at[level] != ']')
            continue;
        r->at += level + 1;
        return;
    }
}

static void skip_comment(struct reader *r)
{
    r->at += 2;
    unsigned level = long_bracket(r->at);
    if (level)
        skip_long(r, level);
    else
        r->at += strcspn(r->at, "\n");
}

static bool add(struct pct_script_words *words, const char *text, size_t length, const struct reader *r)
{
    enum pct_script_kind kind = (enum pct_script_kind)r->kind;
    for (size_t i = 0; i < words->count; i++)
        if (words->item[i].kind == kind && strlen(words->item[i].text) == length &&
            !memcmp(words->item[i].text, text, length)) {
            words->item[i].returns |= r->returns;
            words->item[i].starts |= r->starts;
            return true;
        }
    struct pct_script_word *item = realloc(words->item, (words->count + 1) * sizeof *item);
    if (!item)
        return false;
    words->item = item;
    item[words->count] = (struct pct_script_word){
        .text = strndup(text, length), .kind = kind, .line = r->line, .returns = r->returns, .starts = r->starts
    };
    return item[words->count++].text != NULL;
}

/* A text in quotes. Names have no escapes. */
static bool take_string(struct reader *r, struct pct_script_words *words)
{
    char quote = *r->at++;
    const char *from = r->at;
    while (*r->at && *r->at != quote && *r->at != '\n')
        r->at += *r->at == '\\' && r->at[1] ? 2 : 1;
    bool fine = r->kind < 0 || !*r->at || add(words, from, (size_t)(r->at - from), r);
    r->at += *r->at == quote;
    r->kind = -1;
    return fine;
}

static void take_word(struct reader *r)
{
    size_t length = 0;
    while (isalnum((unsigned char)r->at[length]) || r->at[length] == '_')
        length++;
    r->kind = -1;
    r->commas = length == 7 && !memcmp(r->at, "threads", 7);
    r->returns = (length == 7 && !memcmp(r->at, "returns", 7)) || (length == 6 && !memcmp(r->at, "inside", 6));
    r->starts = r->commas || (length == 6 && (!memcmp(r->at, "thread", 6) || !memcmp(r->at, "starts", 6)));
    for (size_t i = 0; i < sizeof predicates / sizeof *predicates; i++)
        if (strlen(predicates[i].name) == length && !memcmp(predicates[i].name, r->at, length))
            r->kind = (int)predicates[i].kind;
    r->at += length;
}

static void take_sign(struct reader *r)
{
    if (r->commas && *r->at == ',')
        r->kind = PCT_SCRIPT_FUNCTION;
    else if (*r->at != '(' && !isspace((unsigned char)*r->at))
        r->kind = -1;
    r->line += *r->at++ == '\n';
}

bool pct_script_words_find(struct pct_script_words *words, const char *text)
{
    struct reader r = { .at = text, .line = 1, .kind = -1 };
    bool fine = true;
    while (*r.at && fine) {
        unsigned level = long_bracket(r.at);
        if (r.at[0] == '-' && r.at[1] == '-')
            skip_comment(&r);
        else if (level)
            skip_long(&r, level);
        else if (*r.at == '"' || *r.at == '\'')
            fine = take_string(&r, words);
        else if (isalpha((unsigned char)*r.at) || *r.at == '_')
            take_word(&r);
        else if (isdigit((unsigned char)*r.at))
            r.at += strspn(r.at, "0123456789.xX");
        else
            take_sign(&r);
    }
    return fine;
}

/* What is to be patched for this word; "": nothing. */
static const char *functions_of(const struct pct_script_word *word)
{
    return word->kind == PCT_SCRIPT_BODY ? word->text : word->functions ? word->functions : "";
}

char *pct_script_words_functions(const struct pct_script_words *words, const char *given, bool *returns)
{
    size_t size = given ? strlen(given) + 1 : 1;
    for (size_t i = 0; i < words->count; i++)
        size += strlen(functions_of(&words->item[i])) + 1;
    char *functions = malloc(size), *at = functions;
    *returns = false;
    if (at && given)
        at = stpcpy(at, given);
    for (size_t i = 0; at && i < words->count; i++) {
        if (!*functions_of(&words->item[i]))
            continue;
        *returns |= words->item[i].returns;
        if (at > functions)
            *at++ = ',';
        at = stpcpy(at, functions_of(&words->item[i]));
    }
    if (at == functions) {
        free(functions);
        return NULL;
    }
    return functions;
}

void pct_script_words_free(struct pct_script_words *words)
{
    for (size_t i = 0; i < words->count; i++)
        free(words->item[i].text), free(words->item[i].functions), free(words->item[i].refusal);
    free(words->item);
    *words = (struct pct_script_words){ 0 };
}

/* --- What they stand for ------------------------------------------------------------------------------------------ */

/* "table+8:8" is a part of a variable. */
static bool add_part(struct pct_pattern *pattern, char *end)
{
    char first = *end;
    if (first)
        *end++ = 0;
    if (first == '+')
        pattern->offset = strtoull(end, &end, 0);
    if (first == '+' && *end == ':')
        first = *end++;
    if (first == ':')
        pattern->size = strtoull(end, &end, 0);
    return !first || !*end;
}

/* Where the variable's own name ends: "bank::total.cents" is a member of bank::total. */
static char *end_of_variable(char *text)
{
    while (*text && !strchr(".[+", *text) && (*text != ':' || text[1] == ':') && (*text != '-' || text[1] != '>'))
        text += *text == ':' ? 2 : 1;
    return text;
}

static int add_variable(struct pct_scope *scope, struct pct_pattern *pattern, struct pct_script_word *word,
                        const char *file)
{
    char why[256], *end = end_of_variable(pattern->text);
    pattern->kind = PCT_SCOPE_WATCH;
    pattern->names = PCT_NAMES_VARIABLE;
    if (!*end || *end == '+' || *end == ':')
        return add_part(pattern, end) ? 0
                                      : pct_cli_usage("%s:%u: '%s' is not VARIABLE, VARIABLE+OFFSET, "
                                                      "VARIABLE+OFFSET:BYTES or a member: VARIABLE.FIELD, "
                                                      "VARIABLE[INDEX], VARIABLE->FIELD",
                                                      file, word->line, word->text);
    *end = 0;
    bool fits = pct_member_find(&word->member, scope->modules, scope->module_count, pattern->text,
                                word->text + (end - pattern->text), why, sizeof why);
    if (!fits && *why)
        return pct_cli_usage("%s:%u: %s: %s", file, word->line, word->text, why);
    word->unknown = !fits;
    pattern->offset = word->member.offset[0];
    pattern->size = word->member.pointers ? sizeof(void *) : word->member.size;
    return 0;
}

static int add_pattern(struct pct_scope *scope, struct pct_script_word *word, const char *file)
{
    struct pct_pattern *pattern = &scope->patterns.item[scope->patterns.count];
    *pattern = (struct pct_pattern){ .text = strdup(word->text), .whole = true, .names = PCT_NAMES_FUNCTION };
    if (!pattern->text)
        return pct_cli_no_memory("");
    scope->patterns.count++;
    if (word->kind == PCT_SCRIPT_BODY) {
        pattern->kind = PCT_SCOPE_FUNCTION;
        pattern->names = PCT_NAMES_SYMBOL;
    }
    if (word->kind == PCT_SCRIPT_LINE && !pct_pattern_take_line(pattern))
        return pct_cli_usage("%s:%u: at: '%s' is not FILE:LINE", file, word->line, word->text);
    if (word->kind == PCT_SCRIPT_VARIABLE)
        return add_variable(scope, pattern, word, file);
    return 0;
}

/* Behind the last "::", outside of arguments. */
static const char *own_name(const char *name)
{
    const char *own = name;
    for (const char *at = name; *at && *at != '('; at++)
        own = at[0] == ':' && at[1] == ':' ? at + 2 : own;
    return own;
}

/* The pattern that means a function of some class or namespace that is called so: the end of its name that is given, if
 * there is one, or else its own name. False: there is none. */
static bool find_member(const struct pct_scope *scope, const char *text, char *pattern, size_t size)
{
    const char *own = own_name(text);
    bool found = false;
    for (size_t i = 0; i < scope->name_count; i++) {
        const char *name = scope->names[i], *other = own_name(name);
        size_t length = strcspn(name, "("), given = strlen(text);
        if (other == name || strcspn(other, "(") != strlen(own) || strncmp(other, own, strlen(own)) != 0)
            continue;
        bool ends =
            length > given + 2 && !strncmp(name + length - given, text, given) && name[length - given - 1] == ':';
        if (ends || !found)
            snprintf(pattern, size, "*::%s", ends ? text : own);
        found = true;
        if (ends)
            break;
    }
    return found;
}

/* Whether there is such a function, but none that has code of its own. */
static bool is_inlined(const char *program, const char *text)
{
    struct pct_scope scope = { .patterns = { .item = calloc(1, sizeof *scope.patterns.item) } };
    char *name = strdup(text);
    bool is = false;
    if (scope.patterns.item && name) {
        scope.patterns.item[scope.patterns.count++] =
            (struct pct_pattern){ .text = name, .whole = true, .names = PCT_NAMES_FUNCTION };
        scope.module_count = pct_scope_modules(program, &scope.modules);
        is = scope.module_count && !pct_scope_find(&scope) && scope.patterns.item[0].matches;
    } else {
        free(name);
    }
    pct_scope_free(&scope);
    return is;
}

static int complain(struct pct_scope *scope, const struct pct_script_word *word, const struct pct_pattern *pattern,
                    const char *file)
{
    static const char *const kinds[] = { "variable", "function", "source file",
                                         "function with code of its own, not inlined everywhere," };
    const char *program = scope->modules[0];
    if (word->kind == PCT_SCRIPT_LINE && pattern->near_line)
        return pct_cli_usage("%s:%u: line %u of %s has no code in %s; the nearest that has is line %u", file,
                             word->line, pattern->at_line, pattern->text, program, pattern->near_line);
    if (word->kind == PCT_SCRIPT_BODY && is_inlined(program, pattern->text))
        return pct_cli_usage(
            "%s:%u: %s and its libraries have no function with code of its own '%s': all its calls were "
            "inlined; name a function that calls it, or build it with -O0",
            file, word->line, program, pattern->text);
    const char *closest = pct_scope_closest(scope, pattern->text);
    char member[300];
    if (pattern->kind != PCT_SCOPE_WATCH && !strchr(pattern->text, '*') &&
        find_member(scope, pattern->text, member, sizeof member))
        return pct_cli_usage("%s:%u: %s and its libraries have no %s '%s'; did you mean '%s'?", file, word->line,
                             program, kinds[word->kind], pattern->text, member);
    if (closest && strcmp(closest, pattern->text) != 0)
        return pct_cli_usage("%s:%u: %s and its libraries have no %s '%s'; did you mean '%s'?", file, word->line,
                             program, kinds[word->kind], pattern->text, closest);
    return pct_cli_usage(
        "%s:%u: %s and its libraries have no %s '%s'%s", file, word->line, program, kinds[word->kind], pattern->text,
        scope->name_count < 2 || !pct_elf_defines(program, "main") ? " (a stripped file has no names)"
        : closest                           ? ", but that name is there for something else, or for less"
        : word->kind == PCT_SCRIPT_VARIABLE ? "; for what a local variable points to, say where: locks * from \"f\""
        : word->kind == PCT_SCRIPT_LINE     ? "; files and lines stand in debug information: build with -g"
                                            : "");
}

/* Where the program itself has the name, libraries that have it, too, are not meant. */
bool pct_script_is_meant(const struct pct_scope *scope, size_t word, const struct pct_scope_match *match)
{
    bool own = false;
    for (size_t i = 0; match->module && i < scope->count; i++)
        own |= scope->item[i].pattern == word && !scope->item[i].module;
    return match->pattern == word && !own;
}

bool pct_script_places_add(struct pct_script_places *places, size_t word, uint32_t module, uint64_t from, uint64_t to)
{
    struct pct_script_place *item = realloc(places->item, (places->count + 1) * sizeof *item);
    if (!item)
        return false;
    places->item = item;
    item[places->count++] =
        (struct pct_script_place){ .word = (uint32_t)word, .module = module, .from = from, .to = to };
    return true;
}

static int take_matches(struct pct_script_places *places, const struct pct_scope *scope, size_t word)
{
    for (size_t i = 0; i < scope->count; i++) {
        const struct pct_scope_match *match = &scope->item[i];
        if (pct_script_is_meant(scope, word, match) &&
            !pct_script_places_add(places, word, match->module, match->from, match->to))
            return pct_cli_no_memory("");
    }
    return 0;
}

/* The names of the modules, as the loader has them. */
static int take_modules(struct pct_script_places *places, const struct pct_scope *scope)
{
    places->modules = calloc(scope->module_count + 1, sizeof *places->modules);
    for (size_t i = 0; places->modules && i < scope->module_count; i++) {
        const char *slash = strrchr(scope->modules[i], '/');
        char *name = strdup(!i ? "" : slash ? slash + 1 : scope->modules[i]);
        if (!name)
            return pct_cli_no_memory("");
        places->modules[places->module_count++] = name;
    }
    return places->modules ? 0 : pct_cli_no_memory("");
}

int pct_script_places_find(struct pct_script_places *places, struct pct_script_words *words, const char *program,
                           const char *file)
{
    struct pct_scope scope = { .module_count = 0 };
    int status = 0;
    *places = (struct pct_script_places){ 0 };
    if (!words->count)
        return 0;
    scope.patterns.item = calloc(words->count, sizeof *scope.patterns.item);
    scope.module_count = pct_scope_modules(program, &scope.modules);
    if (!scope.patterns.item || !scope.module_count) {
        pct_scope_free(&scope);
        return pct_cli_no_memory("");
    }
    for (size_t i = 0; i < words->count && !status; i++)
        status = add_pattern(&scope, &words->item[i], file);
    if (!status)
        status = pct_scope_find(&scope);
    for (size_t i = 0; i < words->count && !status; i++)
        status = !scope.patterns.item[i].matches ? complain(&scope, &words->item[i], &scope.patterns.item[i], file)
                 : words->item[i].unknown
                     ? pct_cli_usage("%s:%u: %s: only debug information has members: build with -g", file,
                                     words->item[i].line, words->item[i].text)
                     : take_matches(places, &scope, i);
    if (!status)
        status = pct_script_stops_find(words, &scope);
    if (!status)
        status = pct_script_entered_add(places, words, &scope);
    if (!status)
        status = take_modules(places, &scope);
    pct_scope_free(&scope);
    return status;
}

void pct_script_places_free(struct pct_script_places *places)
{
    for (size_t i = 0; i < places->module_count; i++)
        free(places->modules[i]);
    free(places->modules);
    free(places->item);
    *places = (struct pct_script_places){ 0 };
}
