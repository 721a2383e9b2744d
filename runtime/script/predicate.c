/* Predicates: see engine.h. A script makes them once, by Lua; a step is compared with them in C. */
#include "engine.h"
#include <lauxlib.h>
#include <string.h>

static const char metatable[] = "predicate"; /* Lua's messages have it */

/* --- Whether one holds -------------------------------------------------------------------------------------------- */

static bool within_ranges(const struct pct_engine *engine, uint32_t from, uint32_t to, uint64_t address)
{
    for (uint32_t i = from; i < to; i++)
        if (address >= engine->ranges[i].from && address < engine->ranges[i].to)
            return true;
    return false;
}

static bool within(const struct pct_engine *engine, const struct pct_predicate *p, uint64_t address)
{
    return within_ranges(engine, p->from, p->to, address);
}

const uint64_t *pct_predicate_pointer(const struct pct_engine *engine, const struct pct_script_name *name)
{
    if (!name->count || pct_script_ranges(engine->channel)[name->first].module)
        return NULL;
    return (const uint64_t *)(uintptr_t)engine->ranges[name->first].from;
}

/* Bytes of the program and its heap, with the random gap between them. What is longer has not its heap behind it: it
 * was started by the loader. */
#define PROGRAM_MOST (UINT64_C(3) << 30)

bool pct_predicate_stays(struct pct_engine *engine, uint64_t word)
{
    uint64_t page = word >> 12, *known = &engine->stays[page % (sizeof engine->stays / sizeof *engine->stays)], value;
    uint64_t from = engine->stays_from, end = *engine->host->heap_end;
    if (word % sizeof value || !from || word < from || word + sizeof value > end || end - from > PROGRAM_MOST)
        return false;
    if (*known != page && engine->host->read(word, &value, sizeof value))
        *known = page;
    return *known == page;
}

static bool read_pointer(struct pct_engine *engine, uint64_t address, uint64_t *pointer)
{
    if (!pct_predicate_stays(engine, address))
        return engine->host->read(address, pointer, sizeof *pointer);
    *pointer = *(const uint64_t *)(uintptr_t)address;
    return true;
}

uint64_t pct_predicate_behind(struct pct_engine *engine, const struct pct_script_name *name)
{
    const uint64_t *base = pct_predicate_pointer(engine, name);
    uint64_t address = base ? *base : name->count ? engine->ranges[name->first].from : 0;
    address += base && address ? name->offset[0] : 0;
    for (uint32_t i = base ? 1 : 0; i < name->pointers && address; i++) {
        uint64_t pointer;
        address = read_pointer(engine, address, &pointer) && pointer ? pointer + name->offset[i] : 0;
    }
    return address;
}

unsigned pct_predicate_way(struct pct_engine *engine, const struct pct_script_name *name, const uint64_t **words,
                           uint64_t *values, uint64_t *place)
{
    uint64_t address = (uintptr_t)pct_predicate_pointer(engine, name);
    unsigned count = 0;
    for (; count < name->pointers && address; count++) {
        if (!pct_predicate_stays(engine, address))
            return 0;
        words[count] = (const uint64_t *)(uintptr_t)address;
        values[count] = *words[count];
        address = values[count] ? values[count] + name->offset[count] : 0;
    }
    *place = address;
    return count;
}

void pct_predicate_note_way(struct pct_engine *engine, const struct pct_script_name *name)
{
    const uint64_t *words[PCT_SCRIPT_POINTERS];
    uint64_t values[PCT_SCRIPT_POINTERS], place;
    if (!engine->apart.asking)
        return;
    unsigned count = pct_predicate_way(engine, name, words, values, &place);
    pct_apart_note_word(engine, count ? words[0] : NULL, count > 1);
    for (unsigned i = 1; i < count; i++)
        pct_apart_note_word(engine, words[i], true);
}

/* A location in memory is the aligned eight bytes, of which the access may begin anywhere. */
static bool is_meant(struct pct_engine *engine, const struct pct_predicate *p, uint32_t thread,
                     const struct pct_script_look *look)
{
    if (look->op >= PCT_OP_COUNT || !pct_calm_has(p->operations, look->op))
        return false;
    if (p->named)
        pct_apart_note(engine, thread, !p->by_place && look->number ? PCT_ASKED_OBJECT : PCT_ASKED_PLACE);
    if (p->by_place)
        return look->place && within(engine, p, look->place - 1);
    if (p->behind) {
        pct_predicate_note_way(engine, p->behind);
        uint64_t from = look->address ? pct_predicate_behind(engine, p->behind) : 0;
        return from && look->address >= from && look->address - from < p->behind->size;
    }
    return !p->named || (look->address && within(engine, p, look->address));
}

static bool has_name(const struct pct_engine *engine, const struct pct_predicate *p, uint32_t thread)
{
    char name[16];
    engine->host->name(thread, name);
    return !strcmp(name, p->name);
}

/* In one of these functions, or about to begin it. */
static bool is_inside(struct pct_engine *engine, const struct pct_predicate *p, uint32_t thread,
                      const struct pct_script_look *look)
{
    if (look->op == PCT_OP_FUNCTION_ENTER && look->place && within(engine, p, look->place - 1))
        return true;
    for (uint32_t i = pct_engine_inside(engine, thread); i; i = engine->function[i - 1].below)
        if (within(engine, p, engine->function[i - 1].place - 1))
            return true;
    return false;
}

/* The name stands where the point is told of, in code that this thread is in. */
static bool is_point(const struct pct_predicate *p, const struct pct_script_look *look)
{
    return look->op == PCT_OP_POINT && look->address && !strcmp((const char *)(uintptr_t)look->address, p->text);
}

static bool ask_function(lua_State *L, const struct pct_predicate *p, uint32_t thread,
                         const struct pct_script_look *look)
{
    lua_rawgeti(L, LUA_REGISTRYINDEX, p->function);
    if (pct_engine_of(L)->apart.asking)
        pct_apart_push_event(L, thread, look);
    else
        pct_core_push_event(L, thread, look);
    lua_call(L, 1, 1);
    bool holds = lua_toboolean(L, -1);
    lua_pop(L, 1);
    return holds;
}

/* The first thread was not started. */
static bool is_start(const struct pct_engine *engine, const struct pct_predicate *p, uint32_t thread,
                     const struct pct_script_look *look)
{
    if (look->op == PCT_OP_THREAD_START)
        return look->start && within(engine, p, look->start);
    return look->op == PCT_OP_FUNCTION_ENTER && thread && look->place &&
           within_ranges(engine, p->entered, p->entered_to, look->place - 1);
}

bool pct_predicate_enters(const struct pct_engine *engine, const struct pct_script_look *look)
{
    const struct pct_script_name *name = pct_script_names(engine->channel);
    bool enters = false;
    for (uint32_t i = 0; look->op == PCT_OP_FUNCTION_ENTER && look->place && i < engine->channel->names; i++)
        enters |= name[i].kind == PCT_SCRIPT_ENTERED &&
                  within_ranges(engine, name[i].first, name[i].first + name[i].count, look->place - 1);
    return enters;
}

/* What beside the operation its answer depends on, for a thread that looks like this. */
static unsigned asks_for(const struct pct_predicate *p, const struct pct_script_look *look)
{
    switch (p->kind) {
    case PCT_PREDICATE_PLACE:
    case PCT_PREDICATE_INSIDE:
        return PCT_ASKED_PLACE;
    case PCT_PREDICATE_START:
        return look->op == PCT_OP_FUNCTION_ENTER ? PCT_ASKED_PLACE : 0;
    case PCT_PREDICATE_POINT:
        return look->op == PCT_OP_POINT ? PCT_ASKED_PLACE : 0;
    case PCT_PREDICATE_NAME:
        return PCT_ASKED_NAME;
    case PCT_PREDICATE_BLOCKED_BY:
        return PCT_ASKED_HOLDER;
    default: /* is_meant() says more */
        return 0;
    }
}

bool pct_predicate_holds(struct pct_engine *engine, lua_State *L, const struct pct_predicate *p, uint32_t thread,
                         const struct pct_script_look *look)
{
    pct_apart_note(engine, thread, asks_for(p, look));
    switch (p->kind) {
    case PCT_PREDICATE_ANY:
        return true;
    case PCT_PREDICATE_OPERATION:
        return is_meant(engine, p, thread, look);
    case PCT_PREDICATE_PLACE:
        return look->place && within(engine, p, look->place - 1);
    case PCT_PREDICATE_START:
        return is_start(engine, p, thread, look);
    case PCT_PREDICATE_THREAD:
        return thread == p->thread;
    case PCT_PREDICATE_NAME:
        return has_name(engine, p, thread);
    case PCT_PREDICATE_POINT:
        return is_point(p, look);
    case PCT_PREDICATE_INSIDE:
        return is_inside(engine, p, thread, look);
    case PCT_PREDICATE_BLOCKED_BY:
        return !look->ready && look->holder == p->thread;
    case PCT_PREDICATE_AND:
        return pct_predicate_holds(engine, L, p->a, thread, look) && pct_predicate_holds(engine, L, p->b, thread, look);
    case PCT_PREDICATE_OR:
        return pct_predicate_holds(engine, L, p->a, thread, look) || pct_predicate_holds(engine, L, p->b, thread, look);
    case PCT_PREDICATE_NOT:
        return !pct_predicate_holds(engine, L, p->a, thread, look);
    default:
        return ask_function(L, p, thread, look);
    }
}

/* --- How they are made -------------------------------------------------------------------------------------------- */

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

/* place(label, kind, text): code of a function, or of a line. */
static int make_place(lua_State *L)
{
    const char *text = luaL_checkstring(L, 3);
    struct pct_predicate *p = make(L, PCT_PREDICATE_PLACE);
    set_name(L, p, !strcmp(luaL_checkstring(L, 2), "line") ? PCT_SCRIPT_LINE : PCT_SCRIPT_FUNCTION, text);
    label(p, luaL_checkstring(L, 1), " ", text);
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

/* The predicate without that: where the thread stands before. */
static int make_before(lua_State *L)
{
    lua_settop(L, 1);
    struct pct_predicate *a = pct_predicate_check(L, 1);
    if (!a->once)
        return 1;
    struct pct_predicate *p = make(L, PCT_PREDICATE_AND);
    p->a = p->b = a;
    p->moved = a->moved;
    p->called = a->called;
    p->library = a->library;
    lua_pushvalue(L, 1);
    lua_setiuservalue(L, 2, 1);
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
        luaL_error(L, "a predicate is wanted, such as locks \"m\" or ends, not a %s", luaL_typename(L, at));
    return p;
}

static int combine(lua_State *L, enum pct_predicate_kind kind, const char *word)
{
    lua_settop(L, 2);
    struct pct_predicate *a = pct_predicate_check(L, 1), *b = pct_predicate_check(L, 2);
    if (kind == PCT_PREDICATE_OR && (a->once || b->once))
        return luaL_error(L, "once goes with all of a predicate: (a + b) * once");
    struct pct_predicate *p = make(L, kind);
    p->a = a;
    p->b = b;
    p->once = a->once || b->once;
    p->moved = a->moved | b->moved;
    p->called = a->called || b->called;
    p->library = a->library || b->library;
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
    struct pct_predicate *p = make(L, PCT_PREDICATE_NOT);
    p->a = a;
    p->moved = a->moved;
    p->called = a->called;
    p->library = a->library;
    lua_pushvalue(L, 1);
    lua_setiuservalue(L, 2, 1);
    label(p, "not (", a->label, ")");
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
                                      { "place", make_place },
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
