/* How predicates are made: see engine.h. A script makes them once, by Lua; a step is compared with them in C. */
#include "engine.h"
#include <lauxlib.h>
#include <string.h>

static const char metatable[] = "predicate"; /* Lua's messages have it */

static struct pct_predicate *make(lua_State *L, enum pct_predicate_kind kind)
{
    struct pct_predicate *p = lua_newuserdatauv(L, sizeof *p, 2);
    memset(p, 0, sizeof *p);
    p->kind = (uint8_t)kind;
    p->function = LUA_NOREF;
    luaL_setmetatable(L, metatable);
    return p;
}

/* One of three texts after the other, as much as there is room for. */
static void label(struct pct_predicate *p, const char *a, const char *b, const char *c)
{
    struct pct_line line;
    pct_line_start(&line, p->label, sizeof p->label);
    pct_line_add(&line, a);
    pct_line_add(&line, b);
    pct_line_add(&line, c);
}

static const char *kind_name(enum pct_script_kind kind)
{
    return kind == PCT_SCRIPT_VARIABLE ? "variable" : kind == PCT_SCRIPT_FUNCTION ? "function" : "place";
}

/* What the command has found out about this name; NULL: nothing. */
static const struct pct_script_name *find_name(struct pct_script_channel *channel, enum pct_script_kind kind,
                                               const char *text)
{
    const struct pct_script_name *names = pct_script_names(channel);
    for (uint32_t i = 0; i < channel->names; i++)
        if (names[i].kind == kind && !strcmp(pct_script_texts(channel) + names[i].text, text))
            return &names[i];
    return NULL;
}

static void set_name(lua_State *L, struct pct_predicate *p, enum pct_script_kind kind, const char *text)
{
    struct pct_script_channel *channel = pct_engine_of(L)->channel;
    const struct pct_script_name *name = find_name(channel, kind, text);
    if (!name)
        luaL_error(L, "the %s '%s' must stand in the script as a word in quotes: names are looked up before the run",
                   kind_name(kind), text);
    if (!pct_engine_of(L)->self->same && name->count && !pct_script_ranges(channel)[name->first].module)
        luaL_error(L, "'%s' is of the first process's program, and this process runs another one", text);
    p->named = true;
    p->from = name->first;
    p->to = name->first + name->count;
    p->behind = name->pointers ? name : NULL;
    p->moved = p->behind ? PCT_MOVED_BY_POINTERS : 0; /* another thread may set the pointer */
}

/* operation(label, names of operations..., "/", variable or nil) */
static int make_operation(lua_State *L)
{
    static const char *const names[] = {
#define NAME(id, name, class) name,
        PCT_OPS(NAME)
#undef NAME
    };
    const char *variable = luaL_optstring(L, 2, NULL);
    int count = lua_gettop(L);
    struct pct_predicate *p = make(L, PCT_PREDICATE_OPERATION);
    for (int i = 3; i <= count; i++) {
        const char *name = luaL_checkstring(L, i);
        unsigned op = 0;
        while (op < PCT_OP_COUNT && strcmp(names[op], name) != 0)
            op++;
        if (op == PCT_OP_COUNT)
            return luaL_error(L, "there is no operation '%s'; reports and pct-script(1) have their names", name);
        p->operations[op >> 6] |= UINT64_C(1) << (op & 63);
    }
    if (variable)
        set_name(L, p, PCT_SCRIPT_VARIABLE, variable);
    label(p, luaL_checkstring(L, 1), variable ? " " : "", variable ? variable : "");
    return 1;
}

/* in_function(operation, label, text): this operation in the own code of a function. */
static int make_in_function(lua_State *L)
{
    const struct pct_predicate *operation = luaL_checkudata(L, 1, metatable);
    const char *text = luaL_checkstring(L, 3);
    struct pct_predicate *p = make(L, PCT_PREDICATE_OPERATION);
    memcpy(p->operations, operation->operations, sizeof p->operations);
    p->by_place = true;
    set_name(L, p, PCT_SCRIPT_BODY, text);
    label(p, luaL_checkstring(L, 2), " ", text);
    return 1;
}

/* (text): something about the function of this name; label: the words before it. */
static int make_about(lua_State *L, enum pct_predicate_kind about, enum pct_script_kind kind, const char *words)
{
    const char *text = luaL_checkstring(L, 1);
    struct pct_predicate *p = make(L, about);
    set_name(L, p, kind, text);
    label(p, words, text, "");
    return 1;
}

/* from(text): the call is made in the code of this function. */
static int make_from(lua_State *L)
{
    return make_about(L, PCT_PREDICATE_PLACE, PCT_SCRIPT_FUNCTION, "is called from ");
}

/* at(text): where the thread comes to code of this line; beside an operation, or where a thread is only looked at,
 * where it is in that: widen(). */
static int make_at(lua_State *L)
{
    struct pct_script_channel *channel = pct_engine_of(L)->channel;
    make_about(L, PCT_PREDICATE_OPERATION, PCT_SCRIPT_LINE, "is at ");
    struct pct_predicate *p = lua_touserdata(L, -1);
    p->operations[PCT_OP_FUNCTION_ENTER >> 6] = UINT64_C(1) << (PCT_OP_FUNCTION_ENTER & 63);
    p->by_place = p->line = p->comes = true;
    const struct pct_script_name *name = find_name(channel, PCT_SCRIPT_LINE, luaL_checkstring(L, 1));
    p->text = name && name->refusal ? pct_script_texts(channel) + name->refusal : NULL;
    return 1;
}

void pct_predicate_check_lines(lua_State *L, const struct pct_predicate *p)
{
    if (!p->comes)
        return;
    if (p->a)
        pct_predicate_check_lines(L, p->a);
    if (p->b)
        pct_predicate_check_lines(L, p->b);
    if (p->line && p->text)
        luaL_error(L, "%s", p->text);
}

static int make_inside(lua_State *L)
{
    return make_about(L, PCT_PREDICATE_INSIDE, PCT_SCRIPT_BODY, "is inside ");
}

static int make_started(lua_State *L)
{
    make_about(L, PCT_PREDICATE_START, PCT_SCRIPT_FUNCTION, "starts with ");
    struct pct_predicate *p = lua_touserdata(L, -1);
    const struct pct_script_name *entered =
        find_name(pct_engine_of(L)->channel, PCT_SCRIPT_ENTERED, luaL_checkstring(L, 1));
    p->entered = entered ? entered->first : 0;
    p->entered_to = entered ? entered->first + entered->count : 0;
    p->library = p->entered < p->entered_to;
    return 1;
}

static int make_thread(lua_State *L)
{
    lua_Integer id = luaL_checkinteger(L, 1);
    if (id < 0 || id >= (lua_Integer)PCT_MAX_THREADS)
        return luaL_error(L, "threads have numbers from 0 to %d", (int)PCT_MAX_THREADS - 1);
    struct pct_predicate *p = make(L, lua_toboolean(L, 2) ? PCT_PREDICATE_BLOCKED_BY : PCT_PREDICATE_THREAD);
    p->thread = (uint32_t)id;
    p->moved = p->kind == PCT_PREDICATE_BLOCKED_BY ? PCT_MOVED_BY_HOLDERS : 0;
    struct pct_line line;
    pct_line_start(&line, p->label, sizeof p->label);
    pct_line_add(&line, p->moved ? "waits for thread " : "is thread ");
    pct_line_add_number(&line, p->thread);
    return 1;
}

static int make_named(lua_State *L)
{
    const char *text = luaL_checkstring(L, 1);
    luaL_argcheck(L, strlen(text) < 16, 1, "names of threads have at most 15 bytes");
    struct pct_predicate *p = make(L, PCT_PREDICATE_NAME);
    strcpy(p->name, text);
    p->moved = PCT_MOVED_BY_NAMES;
    label(p, "is named ", text, "");
    return 1;
}

static int make_point(lua_State *L)
{
    lua_settop(L, 1);
    const char *text = luaL_checkstring(L, 1);
    struct pct_predicate *p = make(L, PCT_PREDICATE_POINT);
    lua_pushvalue(L, 1);
    lua_setiuservalue(L, 2, 1);
    p->text = text;
    label(p, "is at point ", text, "");
    return 1;
}

static int make_any(lua_State *L)
{
    label(make(L, PCT_PREDICATE_ANY), luaL_checkstring(L, 1), "", "");
    return 1;
}

/* A factor: run() goes on until the thread has made that, not only stands before it. */
static int make_once(lua_State *L)
{
    struct pct_predicate *p = make(L, PCT_PREDICATE_ANY);
    p->once = true;
    label(p, luaL_checkstring(L, 1), "", "");
    return 1;
}

static int is_once(lua_State *L)
{
    lua_pushboolean(L, pct_predicate_check(L, 1)->once);
    return 1;
}

/* One of this kind, of the operand alone, which is on the stack as its only value. */
static struct pct_predicate *make_of(lua_State *L, enum pct_predicate_kind kind, struct pct_predicate *a)
{
    struct pct_predicate *p = make(L, kind);
    p->a = a;
    p->moved = a->moved;
    p->called = a->called;
    p->library = a->library;
    p->comes = a->comes;
    lua_pushvalue(L, 1);
    lua_setiuservalue(L, 2, 1);
    return p;
}

/* The predicate without that: where the thread stands before. */
static int make_before(lua_State *L)
{
    lua_settop(L, 1);
    struct pct_predicate *a = pct_predicate_check(L, 1);
    if (!a->once)
        return 1;
    struct pct_predicate *p = make_of(L, PCT_PREDICATE_AND, a);
    p->b = a;
    label(p, a->label, "", "");
    return 1;
}

static int make_function(lua_State *L, int at)
{
    at = lua_absindex(L, at);
    struct pct_predicate *p = make(L, PCT_PREDICATE_FUNCTION);
    lua_pushvalue(L, at);
    p->function = luaL_ref(L, LUA_REGISTRYINDEX);
    p->moved = pct_function_reads_only(L, at) ? PCT_MOVED_BY_HOLDERS : PCT_MOVED_BY_STEPS;
    p->called = true;
    label(p, "does what the function of the script says", "", "");
    return 1;
}

struct pct_predicate *pct_predicate_check(lua_State *L, int at)
{
    at = lua_absindex(L, at);
    if (lua_isfunction(L, at)) {
        make_function(L, at);
        lua_replace(L, at);
    }
    struct pct_predicate *p = luaL_testudata(L, at, metatable);
    if (!p)
        luaL_error(L, "a predicate is wanted, such as locks \"m\" or ends, not %s%s", lua_isnil(L, at) ? "" : "a ",
                   luaL_typename(L, at));
    return p;
}

/* Whether it says which operation is meant: of all that it holds for, or as a function may. */
static bool says_what(const struct pct_predicate *p)
{
    switch (p->kind) {
    case PCT_PREDICATE_OPERATION:
        return !p->line;
    case PCT_PREDICATE_START:
    case PCT_PREDICATE_POINT:
    case PCT_PREDICATE_FUNCTION:
        return true;
    case PCT_PREDICATE_AND:
        return says_what(p->a) || says_what(p->b);
    case PCT_PREDICATE_OR:
        return says_what(p->a) && says_what(p->b);
    default:
        return false;
    }
}

/* Replaces the predicate at this place of the stack by one that holds wherever in the code of its lines threads are. */
static void widen(lua_State *L, int at)
{
    at = lua_absindex(L, at);
    const struct pct_predicate *p = lua_touserdata(L, at);
    if (!p->comes)
        return;
    luaL_checkstack(L, 8, "a predicate of too many parts");
    struct pct_predicate *wide = lua_newuserdatauv(L, sizeof *wide, 2);
    *wide = *p;
    wide->comes = false;
    luaL_setmetatable(L, metatable);
    if (!p->a)
        wide->kind = PCT_PREDICATE_PLACE;
    for (int part = 1; part <= 2 && p->a; part++) {
        lua_getiuservalue(L, at, part);
        if (lua_isuserdata(L, -1)) {
            widen(L, -1);
            *(part == 1 ? &wide->a : &wide->b) = lua_touserdata(L, -1);
        }
        lua_setiuservalue(L, -2, part);
    }
    if (p->a == p->b)
        wide->b = wide->a;
    lua_replace(L, at);
}

/* wide(predicate): for a thread that is looked at where it stands. */
static int make_wide(lua_State *L)
{
    lua_settop(L, 1);
    pct_predicate_check(L, 1);
    widen(L, 1);
    return 1;
}

static int combine(lua_State *L, enum pct_predicate_kind kind, const char *word)
{
    lua_settop(L, 2);
    pct_predicate_check(L, 1), pct_predicate_check(L, 2);
    if (kind == PCT_PREDICATE_AND && says_what(lua_touserdata(L, 1)))
        widen(L, 2);
    if (kind == PCT_PREDICATE_AND && says_what(lua_touserdata(L, 2)))
        widen(L, 1);
    struct pct_predicate *a = lua_touserdata(L, 1), *b = lua_touserdata(L, 2);
    if (kind == PCT_PREDICATE_OR && (a->once || b->once))
        return luaL_error(L, "once goes with all of a predicate: (a + b) * once");
    struct pct_predicate *p = make(L, kind);
    p->a = a;
    p->b = b;
    p->once = a->once || b->once;
    p->moved = a->moved | b->moved;
    p->called = a->called || b->called;
    p->library = a->library || b->library;
    p->comes = a->comes || b->comes;
    lua_pushvalue(L, 1);
    lua_setiuservalue(L, 3, 1);
    lua_pushvalue(L, 2);
    lua_setiuservalue(L, 3, 2);
    label(p, a->label, word, b->label);
    return 1;
}

static int make_or(lua_State *L)
{
    return combine(L, PCT_PREDICATE_OR, " or ");
}

static int make_and(lua_State *L)
{
    return combine(L, PCT_PREDICATE_AND, " and ");
}

/* Lua gives the operand twice. */
static int make_not(lua_State *L)
{
    lua_settop(L, 1);
    struct pct_predicate *a = pct_predicate_check(L, 1);
    if (a->once)
        return luaL_error(L, "once goes with all of a predicate: -a * once");
    label(make_of(L, PCT_PREDICATE_NOT, a), "not (", a->label, ")");
    return 1;
}

static int make_difference(lua_State *L)
{
    lua_settop(L, 2);
    pct_predicate_check(L, 1);
    lua_pushcfunction(L, make_not);
    lua_insert(L, 2);
    lua_call(L, 1, 1);
    return make_and(L);
}

static int describe(lua_State *L)
{
    lua_pushstring(L, pct_predicate_check(L, 1)->label);
    return 1;
}

/* callable(predicate, function): called, the predicate is what the function returns. */
static int make_callable(lua_State *L)
{
    luaL_checkudata(L, 1, metatable);
    luaL_checktype(L, 2, LUA_TFUNCTION);
    lua_settop(L, 2);
    lua_setiuservalue(L, 1, 1);
    return 1;
}

static int call(lua_State *L)
{
    const struct pct_predicate *p = luaL_checkudata(L, 1, metatable);
    if (p->kind == PCT_PREDICATE_AND || p->kind == PCT_PREDICATE_OR || p->kind == PCT_PREDICATE_NOT ||
        lua_getiuservalue(L, 1, 1) != LUA_TFUNCTION)
        return luaL_error(L, "'%s' is a predicate that takes no name", p->label);
    lua_replace(L, 1);
    lua_settop(L, 2);
    lua_call(L, 1, 1);
    return 1;
}

static const luaL_Reg operators[] = {
    { "__add", make_or },       { "__mul", make_and }, { "__unm", make_not }, { "__sub", make_difference },
    { "__tostring", describe }, { "__call", call },    { NULL, NULL }
};

static const luaL_Reg functions[] = { { "operation", make_operation },
                                      { "from", make_from },
                                      { "at", make_at },
                                      { "wide", make_wide },
                                      { "in_function", make_in_function },
                                      { "started", make_started },
                                      { "inside", make_inside },
                                      { "is_thread", make_thread },
                                      { "named", make_named },
                                      { "any", make_any },
                                      { "once", make_once },
                                      { "is_once", is_once },
                                      { "before", make_before },
                                      { "point", make_point },
                                      { "callable", make_callable },
                                      { NULL, NULL } };

static bool has(const luaL_Reg *list, lua_CFunction function)
{
    while (list->func && list->func != function)
        list++;
    return list->func;
}

bool pct_predicate_is_made_by(lua_CFunction function)
{
    return has(operators, function) || has(functions, function);
}

void pct_predicate_open(lua_State *L)
{
    luaL_newmetatable(L, metatable);
    luaL_setfuncs(L, operators, 0);
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    lua_pop(L, 1);
    luaL_setfuncs(L, functions, 0);
}
