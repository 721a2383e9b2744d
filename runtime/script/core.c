/* What the script's library is written with: the three primitives (select, release, choose) and looks at threads. Each
 * is called by the script's coroutine; select gives it up until a thread stands where the script wants it. */
#include "engine.h"
#include <lauxlib.h>
#include <pct/random.h>
#include <string.h>

static uint32_t check_thread(lua_State *L, int at)
{
    struct pct_script_look look;
    lua_Integer id = luaL_checkinteger(L, at);
    luaL_argcheck(L, id >= 0 && id < (lua_Integer)PCT_MAX_THREADS && pct_engine_of(L)->host->look((uint32_t)id, &look),
                  at, "no such thread");
    return (uint32_t)id;
}

/* The script waits from now on. wish: what for, at this place of the stack. */
static int wait(lua_State *L, struct pct_engine *engine, int wish)
{
    struct pct_line line;
    pct_line_start(&line, engine->channel->wish, sizeof engine->channel->wish);
    pct_line_add(&line, luaL_checkstring(L, wish));
    engine->channel->line = pct_engine_line(L);
    engine->request.waiting = true;
    return lua_yield(L, 0);
}

/* select(threads or nil, predicate, first or nil, wish, tries): the first of these threads, or of those that were never
 * named, that is about to do what the predicate says; it stands there. Returns its id, or false: they have all ended;
 * with `tries` also where no thread can go on, and all of these then stand. */
static int select_thread(lua_State *L)
{
    struct pct_engine *engine = pct_engine_of(L);
    struct pct_request *request = &engine->request;
    memset(request, 0, sizeof *request);
    request->any = lua_isnoneornil(L, 1);
    request->tries = lua_toboolean(L, 5);
    request->predicate = pct_predicate_check(L, 2);
    for (lua_Integer i = 1; !request->any && i <= luaL_len(L, 1); i++) {
        lua_geti(L, 1, i);
        pct_rank_set_insert(&request->set, check_thread(L, -1));
        lua_pop(L, 1);
    }
    if (!lua_isnoneornil(L, 3))
        engine->control->first = check_thread(L, 3);
    lua_pushvalue(L, 2); /* it stays meanwhile */
    lua_rawsetp(L, LUA_REGISTRYINDEX, request);
    return wait(L, engine, 4);
}

/* await_end(thread, wish): until it has ended. */
static int await_end(lua_State *L)
{
    struct pct_engine *engine = pct_engine_of(L);
    uint32_t thread = check_thread(L, 1);
    memset(&engine->request, 0, sizeof engine->request);
    engine->request.end = thread + 1;
    engine->control->first = thread;
    return wait(L, engine, 2);
}

/* release(thread): it may go on. */
static int release(lua_State *L)
{
    pct_rank_set_remove(&pct_engine_of(L)->control->held, check_thread(L, 1));
    return 0;
}

/* others(stand): the threads that the script has not named. */
static int others(lua_State *L)
{
    pct_engine_hold_others(pct_engine_of(L), lua_toboolean(L, 1), pct_engine_line(L));
    return 0;
}

bool pct_core_choose(struct pct_script_channel *channel, uint32_t of, uint32_t *chosen)
{
    if (channel->choices >= PCT_SCRIPT_CHOICES)
        return false;
    struct pct_script_choice *choice = &pct_script_choices(channel)[channel->choices];
    if (channel->choices >= channel->planned || choice->chosen >= of)
        choice->chosen =
            channel->seed ? (uint32_t)pct_random_below(channel->seed, PCT_STREAM_CHOOSE, channel->choices, of) : 0;
    choice->of = of;
    channel->choices++;
    *chosen = choice->chosen;
    return true;
}

/* choose(n): a number from 1 to n. */
static int choose(lua_State *L)
{
    uint32_t chosen;
    lua_Integer of = luaL_checkinteger(L, 1);
    luaL_argcheck(L, of >= 1 && of <= 65535, 1, "a choice is among 1 to 65535");
    if (!pct_core_choose(pct_engine_of(L)->channel, (uint32_t)of, &chosen))
        return luaL_error(L, "there were %d choices: more than there is room for", PCT_SCRIPT_CHOICES);
    lua_pushinteger(L, (lua_Integer)chosen + 1);
    return 1;
}

void pct_core_push_event(lua_State *L, uint32_t thread, const struct pct_script_look *look)
{
    static const char *const names[] = {
#define NAME(id, name, class) name,
        PCT_OPS(NAME)
#undef NAME
    };
    lua_createtable(L, 0, 5);
    lua_pushinteger(L, thread);
    lua_setfield(L, -2, "thread");
    lua_pushstring(L, look->op < PCT_OP_COUNT ? names[look->op] : "none");
    lua_setfield(L, -2, "operation");
    lua_pushinteger(L, look->number);
    lua_setfield(L, -2, "object");
    lua_pushboolean(L, !look->ready);
    lua_setfield(L, -2, "blocked");
    lua_pushboolean(L, look->finished);
    lua_setfield(L, -2, "ended");
    if (look->holder != PCT_NO_THREAD) {
        lua_pushinteger(L, look->holder);
        lua_setfield(L, -2, "holder");
    }
}

/* look(thread): before what it stands. */
static int look_at(lua_State *L)
{
    struct pct_script_look look;
    uint32_t thread = check_thread(L, 1);
    pct_engine_of(L)->host->look(thread, &look);
    pct_core_push_event(L, thread, &look);
    return 1;
}

/* holds(thread, predicate): whether it stands there. */
static int holds(lua_State *L)
{
    struct pct_script_look look;
    uint32_t thread = check_thread(L, 1);
    const struct pct_predicate *predicate = pct_predicate_check(L, 2);
    pct_engine_of(L)->host->look(thread, &look);
    lua_pushboolean(L, !look.finished && pct_predicate_holds(pct_engine_of(L), L, predicate, thread, &look));
    return 1;
}

/* value(name): what stands in this variable now, a whole number; nil: a pointer on the way there points to nothing. */
static int value(lua_State *L)
{
    struct pct_engine *engine = pct_engine_of(L);
    const struct pct_script_name *names = pct_script_names(engine->channel), *name = NULL;
    const char *text = luaL_checkstring(L, 1);
    for (uint32_t i = 0; i < engine->channel->names && !name; i++)
        if (names[i].kind == PCT_SCRIPT_VARIABLE && !strcmp(pct_script_texts(engine->channel) + names[i].text, text))
            name = &names[i];
    if (!name)
        return luaL_error(L, "the variable '%s' must stand in the script as a word in quotes", text);
    const struct pct_script_range *range = &engine->ranges[name->first];
    uint64_t size = name->pointers ? name->size : range->to - range->from, from = range->from;
    if (name->count != 1 || (size != 1 && size != 2 && size != 4 && size != 8) || !from)
        return luaL_error(L, "value: %s is not one whole number of 1, 2, 4 or 8 bytes", text);
    if (name->pointers)
        from = pct_predicate_behind(engine, name);
    int64_t number = 0;
    if (!name->pointers) {
        memcpy(&number, (const void *)from, size);
    } else if (!from || !engine->host->read(from, &number, size)) {
        lua_pushnil(L);
        return 1;
    }
    unsigned shift = 64 - 8 * (unsigned)size;
    lua_pushinteger(L, (int64_t)((uint64_t)number << shift) >> shift);
    return 1;
}

/* fail(kind, message): the end of the script. */
static int fail(lua_State *L)
{
    static const char *const kinds[] = { "assertion", "fit", "wrong", NULL };
    static const enum pct_script_outcome outcomes[] = { PCT_SCRIPT_ASSERTION, PCT_SCRIPT_DID_NOT_FIT,
                                                        PCT_SCRIPT_WRONG };
    enum pct_script_outcome outcome = outcomes[luaL_checkoption(L, 1, NULL, kinds)];
    luaL_checkstring(L, 2);
    lua_settop(L, 2);
    return pct_engine_fail(L, outcome);
}

void pct_core_open(lua_State *L)
{
    static const luaL_Reg functions[] = { { "select", select_thread },
                                          { "await_end", await_end },
                                          { "release", release },
                                          { "others", others },
                                          { "choose", choose },
                                          { "look", look_at },
                                          { "holds", holds },
                                          { "value", value },
                                          { "fail", fail },
                                          { NULL, NULL } };
    luaL_setfuncs(L, functions, 0);
}
