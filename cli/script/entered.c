/* What threads enter first that a library starts: see script.h. std::thread, std::async and Rust's std::thread begin
 * each with a function of their own, which calls the user's by a pointer: there a thread stands where it enters that,
 * or the closure that it was inlined into. */
#include "script.h"
#include <cli/base/cli.h>
#include <cli/base/demangle.h>
#include <cli/binary/code_hash.h>
#include <cli/binary/elf_facts.h>
#include <cli/binary/functions_nearest.h>
#include <common/config.h>
#include <stdlib.h>
#include <string.h>

enum { LIST_MOST = 100 }; /* letters: it stands in tokens */

/* Whether libraries call this one for a single thread: a closure, or what is made for it. */
static bool is_closure(const char *plain)
{
    static const char *const parts[] = { "{closure", "{lambda", "::_M_run()", "__rust_begin_short_backtrace" };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strstr(plain, parts[i]))
            return true;
    return false;
}

static bool has_place(const struct pct_script_places *places, size_t word, uint32_t module, uint64_t from)
{
    for (size_t i = places->count; i-- && places->item[i].word == word;)
        if (places->item[i].module == module && places->item[i].from == from)
            return true;
    return false;
}

/* Whether the list has this name. */
static bool has_name(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = list; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (!strncmp(at, name, length) && (!at[length] || at[length] == ','))
            return true;
    }
    return false;
}

/* Threads are to stop where this function begins. */
static bool take_name(struct pct_script_word *word, const char *name)
{
    size_t length = word->functions ? strlen(word->functions) + 1 : 0;
    char *functions = realloc(word->functions, length + strlen(name) + 1);
    if (!functions)
        return false;
    if (length)
        functions[length - 1] = ',';
    strcpy(functions + length, name);
    word->functions = functions;
    return true;
}

/* For this name in the list of what is to be patched. */
static bool has_room(const struct pct_script_words *words, const char *name)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < words->count; i++) {
        const struct pct_script_word *word = &words->item[i];
        const char *functions = word->kind == PCT_SCRIPT_BODY ? word->text : word->functions;
        length += functions ? strlen(functions) + 1 : 0;
    }
    return length < LIST_MOST;
}

/* Whether another function has a symbol that ends so. */
static bool has_end(const struct pct_code *code, const char *symbol, const char *end)
{
    size_t length = strlen(end);
    for (size_t i = 0; i < code->count; i++) {
        const char *other = code->item[i].name;
        size_t all = strlen(other);
        if (!code->item[i].is_data && all >= length && !strcmp(other + all - length, end) && strcmp(other, symbol) != 0)
            return true;
    }
    return false;
}

/* A pattern for a closure: of Rust's names the hash at the end tells them apart, of long ones as much of the end as
 * does. */
static void name_closure(const struct pct_code *code, const char *symbol, char *name, size_t size)
{
    enum { LONG = 40 };
    static const char hash[] = "17h0123456789abcdefE";
    size_t length = strlen(symbol), tail = sizeof hash - 1;
    bool rust = length > tail && !strncmp(symbol + length - tail, hash, 3) && symbol[length - 1] == 'E';
    if (!rust)
        tail = length > LONG ? tail : length;
    while (!rust && tail < length && has_end(code, symbol, symbol + length - tail))
        tail++;
    snprintf(name, size, "%s%s", tail < length ? "*" : "", symbol + length - tail);
}

/* The function with this code of the last word, if threads enter it. */
static int add_function(struct pct_script_places *places, struct pct_script_words *words, const char *path,
                        const struct pct_code *code, const struct pct_scope_match *match)
{
    struct pct_script_word *word = &words->item[words->count - 1];
    const struct pct_code_function *f = pct_code_at(code, match->from - code->base);
    if (!f || f->is_data || has_place(places, words->count - 1, match->module, code->base + f->offset))
        return 0;
    const uint64_t from = code->base + f->offset;
    char name[512], *plain = pct_demangle(f->name);
    bool closure = is_closure(plain ? plain : f->name);
    free(plain);
    if (!closure && from != match->from)
        return 0; /* inlined into something that others call, too */
    snprintf(name, sizeof name, "%s", word->text);
    bool known = has_name(word->functions, name),
         fits = known || pct_functions_fit(code, path, name, PCT_PATCH_OFF, false);
    /* What was written may be the end of a longer name. */
    if (closure || !fits) {
        name_closure(code, f->name, name, sizeof name);
        known = has_name(word->functions, name);
        fits = known || pct_functions_fit(code, path, name, PCT_PATCH_OFF, false);
        if (fits && !known && !has_room(words, name)) {
            pct_cli_say("thread '%s': no room is left in the token for %s, where threads enter it, too: name fewer "
                        "functions",
                        word->text, name);
            return 0;
        }
    }
    if (!fits)
        return 0;
    if (!known && !take_name(word, name))
        return pct_cli_no_memory("");
    return pct_script_places_add(places, words->count - 1, match->module, from, from + f->size) ? 0
                                                                                                : pct_cli_no_memory("");
}

static bool has_match(const struct pct_scope *scope, size_t word, uint32_t module)
{
    for (size_t i = 0; i < scope->count; i++)
        if (scope->item[i].module == module && pct_script_is_meant(scope, word, &scope->item[i]))
            return true;
    return false;
}

static int add_entered(struct pct_script_places *places, struct pct_script_words *words, const struct pct_scope *scope,
                       size_t of)
{
    struct pct_script_word *item = realloc(words->item, (words->count + 1) * sizeof *item);
    if (!item)
        return pct_cli_no_memory("");
    words->item = item;
    item[words->count] = (struct pct_script_word){ .text = strdup(item[of].text), .kind = PCT_SCRIPT_ENTERED };
    if (!item[words->count++].text)
        return pct_cli_no_memory("");
    int status = 0;
    for (uint32_t module = 0; module < scope->module_count && !status; module++) {
        struct pct_code code;
        if (!has_match(scope, of, module) || pct_code_read(&code, scope->modules[module]))
            continue;
        for (size_t i = 0; i < scope->count && !status; i++)
            if (scope->item[i].module == module && pct_script_is_meant(scope, of, &scope->item[i]))
                status = add_function(places, words, scope->modules[module], &code, &scope->item[i]);
        pct_code_free(&code);
    }
    return status;
}

int pct_script_entered_add(struct pct_script_places *places, struct pct_script_words *words,
                           const struct pct_scope *scope)
{
    const size_t count = words->count;
    bool any = false;
    for (size_t i = 0; i < count; i++)
        any |= words->item[i].starts && words->item[i].kind == PCT_SCRIPT_FUNCTION;
    if (!any || !pct_elf_has_library_threads(scope->modules[0]))
        return 0;
    int status = 0;
    for (size_t i = 0; i < count && !status; i++)
        if (words->item[i].starts && words->item[i].kind == PCT_SCRIPT_FUNCTION)
            status = add_entered(places, words, scope, i);
    return status;
}
