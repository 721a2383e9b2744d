/* The part of what is waited for that has functions of the script's and depends on the event and what else is noted
 * here: see engine.h. It is asked once for each thread, operation and object; if the functions did not look at the
 * object, once for all of these. What they call is looked at when they do so: the first call of something that depends
 * on more, or changes something, ends the asking before it is made, and from then on they are called at each step.
 *
 * An answer about one thread may depend on how others stand. While one of these runs, only answers about all threads
 * together are kept, by where that one stands: it is the leader. */
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
    case PCT_PREDICATE_BLOCKED_BY:
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
    uint32_t epoch = apart->epoch + 1;
    apart->predicate = NULL;
    if (!called)
        return;
    memset(apart, 0, sizeof *apart);
    apart->predicate = find_part(predicate);
    apart->epoch = epoch;
}

/* Its functions depend on more than is noted: any step may change the answer. */
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

static void forget_answers(struct pct_apart *apart)
{
    memset(apart->known, 0, sizeof apart->known);
    apart->epoch++;
}

void pct_apart_forget(struct pct_apart *apart)
{
    forget_answers(apart);
    memset(apart->word, 0, sizeof apart->word);
    apart->others = apart->leader = 0;
    apart->names = apart->heap = false;
}

void pct_apart_created(struct pct_apart *apart, bool again)
{
    if (again || apart->leader)
        pct_apart_forget(apart);
}

static bool words_are_same(const struct pct_engine *engine)
{
    const struct pct_apart *apart = &engine->apart;
    for (unsigned i = 0; i < PCT_APART_WORDS && apart->word[i]; i++)
        if ((apart->heap && (uintptr_t)(apart->word[i] + 1) > *engine->host->heap_end) ||
            *apart->word[i] != apart->stood[i])
            return false;
    return true;
}

static bool stands_the_same(struct pct_engine *engine, const struct pct_apart_other *other)
{
    struct pct_script_look look;
    const struct pct_script_look *then = &other->look;
    return engine->host->look(other->thread, &look) && look.op == then->op && look.number == then->number &&
           look.place == then->place && look.finished == then->finished &&
           (!(other->asked & PCT_ASKED_HOLDER) || (look.ready == then->ready && look.holder == then->holder));
}

static struct pct_apart_other *find_other(struct pct_apart *apart, uint32_t thread)
{
    for (unsigned i = 0; i < apart->others; i++)
        if (apart->other[i].thread == thread)
            return &apart->other[i];
    return NULL;
}

/* The thread that has made the last step is one whose place others' answers depend on. */
static void lead(struct pct_engine *engine)
{
    forget_answers(&engine->apart);
    engine->apart.leader = engine->made + 1;
}

static struct pct_apart_never *never_of(struct pct_engine *engine, uint32_t thread)
{
    struct pct_apart_never *never = &engine->never[thread];
    if (never->epoch != engine->apart.epoch)
        *never = (struct pct_apart_never){ .epoch = engine->apart.epoch };
    return never;
}

/* always: whether it has to wait or not; otherwise only where it need not. */
static bool is_known(struct pct_engine *engine, uint32_t thread, const struct pct_script_look *look, bool always)
{
    struct pct_apart *apart = &engine->apart;
    if (look->op >= PCT_OP_COUNT)
        return false;
    const struct pct_apart_never *never = never_of(engine, thread);
    if (pct_calm_has(always ? never->always : never->ready, look->op))
        return true;
    if (never->stood && never->op == look->op && never->number == look->number && (never->however || !always))
        return true;
    uint32_t place = pct_calm_known_place(look->op, look->address);
    struct pct_calm_known *known = &apart->known[place];
    bool is = known->address == look->address && known->what == PCT_CALM_WHAT(thread, look->op) &&
              apart->number[place] == look->number && (apart->however[place] || !always);
    if (is)
        known->numbered = *engine->host->numbered;
    return is;
}

static void keep(struct pct_engine *engine, uint32_t thread, const struct pct_script_look *look, unsigned asked)
{
    struct pct_apart *apart = &engine->apart;
    bool however = !(asked & PCT_ASKED_HOLDER);
    if (look->op >= PCT_OP_COUNT || asked & PCT_ASKED_PLACE || !(look->ready || however))
        return;
    struct pct_apart_never *never = never_of(engine, thread);
    never->stood = true;
    never->op = look->op;
    never->number = look->number;
    never->however = however;
    if (!(asked & PCT_ASKED_OBJECT)) {
        never->ready[look->op >> 6] |= UINT64_C(1) << (look->op & 63);
        never->always[look->op >> 6] |= (uint64_t)however << (look->op & 63);
    } else if (pct_op_is_simple(look->op) && look->number && look->address) {
        uint32_t place = pct_calm_known_place(look->op, look->address);
        apart->number[place] = look->number;
        apart->however[place] = however;
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
    if (apart->leader ? apart->leader != thread + 1 : find_other(apart, thread) != NULL)
        return false;
    for (unsigned i = 0; i < PCT_APART_WORDS && apart->word[i]; i++)
        if (!pct_calm_mind_word(calm, apart->word[i], apart->stood[i]))
            return false;
    if (apart->heap)
        calm->heap_end = engine->host->heap_end;
    if (apart->leader) { /* whatever it does may be what is waited for of another */
        calm->object = calm->place = (struct pct_calm_range){ .size = 0 };
        calm->left = 0;
        memset(calm->operations, 0xff, sizeof calm->operations);
    } else if (!own) {
        return true;
    }
    const struct pct_apart_never *never = never_of(engine, thread);
    for (unsigned i = 0; i < 2; i++) {
        calm->operations[i] &= ~never->ready[i];
        calm->object.operations[i] &= ~never->ready[i];
        calm->place.operations[i] &= ~never->ready[i];
    }
    calm->known = apart->known;
    calm->numbered = engine->host->numbered;
    calm->thread = thread;
    return true;
}

bool pct_apart_stays(struct pct_engine *engine, uint32_t thread)
{
    struct pct_script_look look;
    struct pct_apart *apart = &engine->apart;
    return apart->predicate &&
           (apart->leader || (engine->host->look(thread, &look) && is_known(engine, thread, &look, true)));
}

/* --- Asking ------------------------------------------------------------------------------------------------------- */

bool pct_apart_turn(struct pct_engine *engine)
{
    struct pct_apart *apart = &engine->apart;
    struct pct_script_look look;
    uint32_t made = engine->made;
    bool same = words_are_same(engine) && (!apart->leader || apart->leader == made + 1) &&
                (!apart->names || apart->renamed == *engine->host->renamed);
    if (!apart->predicate)
        return false;
    for (unsigned i = 0; same && i < apart->others; i++)
        same = apart->other[i].thread == made || stands_the_same(engine, &apart->other[i]);
    if (!same)
        pct_apart_forget(apart);
    else if (!apart->leader && made != PCT_NO_THREAD && find_other(apart, made))
        lead(engine);
    apart->renamed = *engine->host->renamed;
    apart->of_leader = 0;
    apart->whole = true;
    return apart->leader && engine->host->look(made, &look) && !look.finished && look.ready &&
           is_known(engine, made, &look, false);
}

void pct_apart_end_turn(struct pct_engine *engine)
{
    struct pct_apart *apart = &engine->apart;
    struct pct_script_look look;
    if (apart->predicate && apart->leader && apart->whole && engine->seen == engine->threads &&
        engine->host->look(engine->made, &look) && !look.finished && look.ready)
        keep(engine, engine->made, &look, apart->of_leader);
}

void pct_apart_note(struct pct_engine *engine, uint32_t thread, unsigned asked)
{
    struct pct_apart *apart = &engine->apart;
    if (!apart->asking)
        return;
    bool leads = apart->leader == thread + 1;
    apart->of_leader |= leads ? asked : 0;
    apart->names |= (asked & PCT_ASKED_NAME) != 0;
    if (thread == apart->thread) {
        apart->asked |= asked;
        if (!apart->leader || leads || !(asked & PCT_ASKED_HOLDER))
            return;
    }
    struct pct_apart_other *other = find_other(apart, thread);
    if (!other && apart->others == PCT_APART_OTHERS) {
        apart->unfit = true;
        return;
    }
    if (!other) {
        other = &apart->other[apart->others++];
        *other = (struct pct_apart_other){ .thread = thread };
        engine->host->look(thread, &other->look);
    }
    other->asked |= asked;
    if (thread == engine->made && !leads) {
        lead(engine);
        apart->whole = false; /* what else was asked for of it, this time, is not known */
    }
}

bool pct_apart_note_word(struct pct_engine *engine, const uint64_t *word, bool heap)
{
    struct pct_apart *apart = &engine->apart;
    unsigned i = 0;
    if (!apart->asking)
        return true;
    while (i < PCT_APART_WORDS && apart->word[i] && apart->word[i] != word)
        i++;
    if (!word || i == PCT_APART_WORDS) {
        apart->unfit = true;
        return false;
    }
    apart->word[i] = word;
    apart->stood[i] = *word;
    apart->heap |= heap;
    return true;
}

/* The event is asked for what is not in its table; the first value of this closure is the thread. */
static int ask_event(lua_State *L)
{
    struct pct_engine *engine = pct_engine_of(L);
    struct pct_script_look look;
    uint32_t thread = (uint32_t)lua_tointeger(L, lua_upvalueindex(1));
    const char *field = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "";
    engine->host->look(thread, &look);
    lua_pushnil(L);
    if (!strcmp(field, "object")) {
        pct_apart_note(engine, thread, PCT_ASKED_OBJECT);
        lua_pushinteger(L, look.number);
    } else if (!strcmp(field, "blocked")) {
        pct_apart_note(engine, thread, PCT_ASKED_HOLDER);
        lua_pushboolean(L, !look.ready);
    } else if (!strcmp(field, "holder")) {
        pct_apart_note(engine, thread, PCT_ASKED_HOLDER);
        if (look.holder != PCT_NO_THREAD)
            lua_pushinteger(L, look.holder);
    }
    return 1;
}

void pct_apart_push_event(lua_State *L, uint32_t thread, const struct pct_script_look *look)
{
    struct pct_script_look bare = *look;
    pct_apart_note(pct_engine_of(L), thread, 0);
    bare.holder = PCT_NO_THREAD;
    pct_core_push_event(L, thread, &bare);
    lua_pushnil(L);
    lua_setfield(L, -2, "object");
    lua_pushnil(L);
    lua_setfield(L, -2, "blocked");
    lua_createtable(L, 0, 1);
    lua_pushinteger(L, thread);
    lua_pushcclosure(L, ask_event, 1);
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
    bool fits = function ? function == holds_apart || function == ask_event || pct_core_only_looks(function) ||
                               pct_predicate_is_made_by(function) || pct_function_is_fixed(L, -1)
                         : only_reads(L, apart);
    lua_pop(L, 1);
    if (!fits) {
        apart->unfit = true;
        luaL_error(L, "that depends on more than the event");
    }
}

bool pct_apart_excludes(struct pct_engine *engine, uint32_t thread, const struct pct_script_look *look)
{
    struct pct_apart *apart = &engine->apart;
    lua_State *L = engine->lua;
    if (!apart->predicate)
        return false;
    if (!apart->leader && is_known(engine, thread, look, !look->ready))
        return true;
    apart->asked = 0;
    apart->unfit = false;
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
    } else if (excludes && !apart->leader) {
        keep(engine, thread, look, apart->asked);
    }
    apart->whole &= excludes;
    return excludes && !apart->unfit;
}
