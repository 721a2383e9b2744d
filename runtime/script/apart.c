/* The part of what is waited for that has functions of the script's and depends on the event alone: see engine.h. It is
 * asked once for each thread, operation and object; if the functions did not look at the object, once for all of these.
 * What they call is looked at when they do so: the first call of something that depends on more, or changes something,
 * ends the asking before it is made, and from then on the functions are called at each step. */
#include "engine.h"
#include <lauxlib.h>
#include <string.h>

enum { EVERY = 1000 }; /* instructions, as lua.c counts them */

/* --- Which part --------------------------------------------------------------------------------------------------- */

static bool is_of_event(const struct pct_predicate *p)
{
    switch (p->kind) {
    case PCT_PREDICATE_ANY:
    case PCT_PREDICATE_THREAD:
    case PCT_PREDICATE_FUNCTION:
        return true;
    case PCT_PREDICATE_OPERATION:
        return !p->by_place && !p->behind;
    case PCT_PREDICATE_AND:
    case PCT_PREDICATE_OR:
        return is_of_event(p->a) && is_of_event(p->b);
    case PCT_PREDICATE_NOT:
        return is_of_event(p->a);
    default:
        return false;
    }
}

static const struct pct_predicate *find_part(const struct pct_predicate *p)
{
    if (!p->called)
        return NULL;
    if (is_of_event(p))
        return p;
    if (p->kind != PCT_PREDICATE_AND)
        return NULL;
    const struct pct_predicate *part = find_part(p->a);
    return part ? part : find_part(p->b);
}

void pct_apart_begin(struct pct_engine *engine, const struct pct_predicate *predicate)
{
    struct pct_apart *apart = &engine->apart;
    bool called = predicate && predicate->called && !(predicate->moved & PCT_MOVED_BY_STEPS);
    apart->predicate = NULL;
    if (!called)
        return;
    memset(apart, 0, sizeof *apart);
    apart->predicate = find_part(predicate);
}

/* Its functions depend on more than the event: any step may change the answer. */
static void move_by_steps(struct pct_predicate *p)
{
    if (!p->called)
        return;
    p->moved |= PCT_MOVED_BY_STEPS;
    if (p->a)
        move_by_steps(p->a);
    if (p->b && p->b != p->a)
        move_by_steps(p->b);
}

/* --- What is known of it ------------------------------------------------------------------------------------------ */

static void check_words(struct pct_apart *apart)
{
    bool same = true;
    for (unsigned i = 0; i < 2; i++)
        same &= !apart->word[i] || *apart->word[i] == apart->stood[i];
    if (same)
        return;
    memset(apart->known, 0, sizeof apart->known);
    memset(apart->never, 0, sizeof apart->never);
    memset(apart->word, 0, sizeof apart->word);
}

static uint64_t *never_of(struct pct_apart *apart, uint32_t thread)
{
    enum { PLACES = sizeof apart->never / sizeof *apart->never };
    if (apart->never[thread % PLACES].thread != thread) {
        memset(&apart->never[thread % PLACES], 0, sizeof *apart->never);
        apart->never[thread % PLACES].thread = thread;
    }
    return apart->never[thread % PLACES].operations;
}

static bool is_known(struct pct_engine *engine, uint32_t thread, const struct pct_script_look *look)
{
    struct pct_apart *apart = &engine->apart;
    uint32_t place = pct_calm_known_place(look->op, look->address);
    struct pct_calm_known *known = &apart->known[place];
    if (!look->ready || look->op >= PCT_OP_COUNT)
        return false;
    if (pct_calm_has(never_of(apart, thread), look->op))
        return true;
    bool is = known->address == look->address && known->what == PCT_CALM_WHAT(thread, look->op) &&
              apart->number[place] == look->number;
    if (is)
        known->numbered = *engine->host->numbered;
    return is;
}

static void keep(struct pct_engine *engine, uint32_t thread, const struct pct_script_look *look)
{
    struct pct_apart *apart = &engine->apart;
    if (!look->ready || look->op >= PCT_OP_COUNT || apart->holder)
        return;
    if (!apart->object) {
        never_of(apart, thread)[look->op >> 6] |= UINT64_C(1) << (look->op & 63);
    } else if (pct_op_is_simple(look->op) && look->number && look->address) {
        uint32_t place = pct_calm_known_place(look->op, look->address);
        apart->number[place] = look->number;
        apart->known[place] = (struct pct_calm_known){ .address = look->address,
                                                       .what = PCT_CALM_WHAT(thread, look->op),
                                                       .numbered = *engine->host->numbered };
    }
}

bool pct_apart_minds(struct pct_engine *engine, uint32_t thread, bool own, struct pct_calm *calm)
{
    struct pct_apart *apart = &engine->apart;
    if (!apart->predicate)
        return true;
    for (unsigned i = 0; i < 2; i++)
        if (apart->word[i] && !pct_calm_mind_word(calm, apart->word[i], apart->stood[i]))
            return false;
    if (!own)
        return true;
    const uint64_t *never = never_of(apart, thread);
    for (unsigned i = 0; i < 2; i++) {
        calm->operations[i] &= ~never[i];
        calm->object.operations[i] &= ~never[i];
        calm->place.operations[i] &= ~never[i];
    }
    calm->known = apart->known;
    calm->numbered = engine->host->numbered;
    calm->thread = thread;
    return true;
}

/* --- Asking ------------------------------------------------------------------------------------------------------- */

/* The event is asked for what is not in its table. */
static int ask_event(lua_State *L)
{
    struct pct_apart *apart = &pct_engine_of(L)->apart;
    const char *field = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "";
    lua_pushnil(L);
    if (!strcmp(field, "object")) {
        apart->object = true;
        lua_pushinteger(L, apart->look->number);
    } else if (!strcmp(field, "holder")) {
        apart->holder = true;
        if (apart->look->holder != PCT_NO_THREAD)
            lua_pushinteger(L, apart->look->holder);
    }
    return 1;
}

void pct_apart_push_event(lua_State *L, const struct pct_apart *apart)
{
    struct pct_script_look look = *apart->look;
    look.holder = PCT_NO_THREAD;
    pct_core_push_event(L, apart->thread, &look);
    lua_pushnil(L);
    lua_setfield(L, -2, "object");
    lua_createtable(L, 0, 1);
    lua_pushcfunction(L, ask_event);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, -2);
}

static int holds_apart(lua_State *L)
{
    struct pct_engine *engine = pct_engine_of(L);
    const struct pct_apart *apart = &engine->apart;
    lua_pushboolean(L, pct_predicate_holds(engine, L, apart->predicate, apart->thread, apart->look));
    return 1;
}

static bool only_reads(lua_State *L, struct pct_apart *apart)
{
    enum { PLACES = sizeof apart->checked / sizeof *apart->checked };
    const void *function = lua_topointer(L, -1);
    const void **checked = &apart->checked[(uintptr_t)function / 32 % PLACES];
    if (*checked != function && pct_function_reads_only(L, -1))
        *checked = function;
    return *checked == function;
}

/* Raises an error. */
static void unfit(lua_State *L)
{
    pct_engine_of(L)->apart.unfit = true;
    luaL_error(L, "that depends on more than the event");
}

/* At each call, before it is made. */
static void guard(lua_State *L, lua_Debug *at)
{
    struct pct_apart *apart = &pct_engine_of(L)->apart;
    if (at->event == LUA_HOOKCOUNT) {
        pct_engine_bound(L, at);
        return;
    }
    lua_getinfo(L, "f", at);
    lua_CFunction function = lua_tocfunction(L, -1);
    bool fits = function ? function == holds_apart || function == ask_event || function == pct_core_value ||
                               pct_function_is_fixed(L, -1)
                         : only_reads(L, apart);
    lua_pop(L, 1);
    if (!fits)
        unfit(L);
}

void pct_apart_note_value(lua_State *L, const void *from, uint64_t size)
{
    struct pct_apart *apart = &pct_engine_of(L)->apart;
    const uint64_t *word = (const uint64_t *)((uintptr_t)from & ~(uintptr_t)7);
    if (!apart->asking)
        return;
    unsigned i = 0;
    while (i < 2 && apart->word[i] && apart->word[i] != word)
        i++;
    if (!from || (uintptr_t)from % 8 + size > 8 || i == 2) {
        unfit(L);
        return;
    }
    apart->word[i] = word;
    apart->stood[i] = *word;
}

bool pct_apart_excludes(struct pct_engine *engine, uint32_t thread, const struct pct_script_look *look)
{
    struct pct_apart *apart = &engine->apart;
    lua_State *L = engine->lua;
    if (!apart->predicate)
        return false;
    check_words(apart);
    if (is_known(engine, thread, look))
        return true;
    apart->object = apart->holder = apart->unfit = false;
    apart->thread = thread;
    apart->look = look;
    apart->asking = true;
    lua_sethook(L, guard, LUA_MASKCALL | LUA_MASKCOUNT, EVERY);
    lua_pushcfunction(L, holds_apart);
    bool excludes = !lua_pcall(L, 0, 1, 0) && !lua_toboolean(L, -1);
    lua_pop(L, 1);
    if (lua_gethook(L) == guard)
        pct_engine_set_bound(L);
    apart->asking = false;
    if (apart->unfit) {
        apart->predicate = NULL;
        move_by_steps(engine->request.predicate);
    } else if (excludes) {
        keep(engine, thread, look);
    }
    return excludes && !apart->unfit;
}
