/* Lua in the target: its state, the libraries that a script has, what bounds it, and its errors. See engine.h. */
#include "engine.h"
#include <lauxlib.h>
#include <lualib.h>
#include <string.h>

/* HOOK_BYTES of memory, and HOOK_ENTRIES of tables, that C goes through count as HOOK_COUNT instructions; so do
 * characters of numbers in strings, but in those that are as short as this. */
enum { HOOK_COUNT = 1000, HOOKS_MOST = 20000, HOOK_BYTES = 1 << 17, HOOK_ENTRIES = 1000, READS_SHORT = 200 };

/* The library, written in Lua. */
extern const char pct_script_library[] __attribute__((visibility("hidden")));
extern const char pct_script_library_end[] __attribute__((visibility("hidden")));
__asm__(".section .rodata\n"
        ".globl pct_script_library\n"
        ".globl pct_script_library_end\n"
        "pct_script_library: .incbin \"runtime/script/library.lua\"\n"
        "pct_script_library_end: .byte 0\n"
        ".previous\n");

struct pct_engine *pct_engine_of(lua_State *L)
{
    struct pct_engine *engine;
    memcpy(&engine, lua_getextraspace(L), sizeof(void *));
    return engine;
}

static const char *script_name(const struct pct_engine *engine)
{
    return pct_script_texts(engine->channel) + engine->channel->name;
}

/* The innermost line that is the script's own, and not the library's. */
uint32_t pct_engine_line(lua_State *L)
{
    lua_Debug at;
    for (int level = 0; lua_getstack(L, level, &at); level++)
        if (lua_getinfo(L, "Sl", &at) && at.source[0] == '@' && at.currentline > 0)
            return (uint32_t)at.currentline;
    return 0;
}

/* Behind "NAME:LINE: ", with *line set if it is not NULL; the text itself where that does not stand there. */
static const char *without_place(const char *name, const char *text, uint32_t *line)
{
    size_t length = strlen(name);
    if (strncmp(text, name, length) != 0 || text[length] != ':')
        return text;
    const char *at = text + length + 1;
    uint32_t number = 0;
    while (*at >= '0' && *at <= '9')
        number = number * 10 + (uint32_t)(*at++ - '0');
    if (at[0] != ':' || at[1] != ' ')
        return text;
    if (line)
        *line = number;
    return at + 2;
}

void pct_engine_end_by_error(struct pct_engine *engine, lua_State *L)
{
    const char *message = lua_tostring(L, -1);
    if (engine->control->over)
        return;
    uint32_t line = pct_engine_line(L);
    message = without_place(script_name(engine), message ? message : "an error that is no text", &line);
    if (line) /* or else that which waits, of whose function it is */
        engine->said->line = line;
    pct_engine_end(engine, PCT_SCRIPT_WRONG, without_place("library", message, NULL));
}

/* Count these instructions, in units of HOOK_COUNT, and what C has done since the last call. Too much: an error now,
 * and at each instruction from now on, as whoever catches the first error finds the next. */
static void charge(lua_State *L, uint64_t instructions)
{
    struct pct_engine *engine = pct_engine_of(L);
    uint64_t work = engine->arena.given / HOOK_BYTES + engine->moved / HOOK_ENTRIES;
    engine->instructions += instructions + work - engine->charged;
    engine->charged = work;
    if (engine->instructions <= HOOKS_MOST)
        return;
    lua_sethook(L, pct_engine_bound, LUA_MASKCOUNT, 1);
    luaL_error(L, "the script loops: %d instructions, and no thread has gone on", HOOK_COUNT * HOOKS_MOST);
}

void pct_engine_bound(lua_State *L, lua_Debug *unused)
{
    (void)unused;
    charge(L, 1);
}

void pct_engine_set_bound(lua_State *L)
{
    lua_sethook(L, pct_engine_bound, LUA_MASKCOUNT, HOOK_COUNT);
}

/* What it takes to read a number in this argument, if it is a string; much less where it soon turns out to be none. */
static uint64_t reads_of(lua_State *L, int at)
{
    size_t length = 0;
    const char *text = lua_type(L, at) == LUA_TSTRING ? lua_tolstring(L, at, &length) : "";
    if (length <= READS_SHORT)
        return 0;
    return strchr(" \t\n\v\f\r+-.0123456789", *text) ? length : length / 8;
}

/* A function of Lua's, the first upvalue, that may go through what its first argument has, the second upvalue's times,
 * and read numbers in all. */
static int charged(lua_State *L)
{
    struct pct_engine *engine = pct_engine_of(L);
    lua_Integer times = lua_tointeger(L, lua_upvalueindex(2));
    if (times && (lua_type(L, 1) == LUA_TTABLE || lua_type(L, 1) == LUA_TSTRING))
        engine->moved += lua_rawlen(L, 1) * (uint64_t)times;
    for (int i = 1, last = lua_gettop(L); i <= last; i++)
        engine->moved += reads_of(L, i);
    charge(L, 0);
    return lua_tocfunction(L, lua_upvalueindex(1))(L);
}

static void charge_for(lua_State *L, const char *library, const char *name, lua_Integer times)
{
    lua_getglobal(L, library);
    lua_getfield(L, -1, name);
    lua_pushinteger(L, times);
    lua_pushcclosure(L, charged, 2);
    lua_setfield(L, -2, name);
    lua_pop(L, 1);
}

/* All functions that a library has now. */
static void charge_library(lua_State *L, const char *library)
{
    lua_getglobal(L, library);
    for (lua_pushnil(L); lua_next(L, -2);) {
        if (lua_iscfunction(L, -1)) {
            lua_pushvalue(L, -2);
            lua_insert(L, -2); /* library, key, key, function */
            lua_pushinteger(L, 0);
            lua_pushcclosure(L, charged, 2);
            lua_rawset(L, -4); /* of a key that is there: the traversal may go on */
        } else {
            lua_pop(L, 1);
        }
    }
    lua_pop(L, 1);
}

static void charge_all(lua_State *L)
{
    /* Numbers in strings are not read by the way. */
    static const char *const reads[] = { "__add", "__sub", "__mul", "__mod", "__pow", "__div", "__idiv", "__unm" };
    lua_pushliteral(L, "");
    lua_getmetatable(L, -1);
    for (unsigned i = 0; i < sizeof reads / sizeof *reads; i++) {
        lua_pushnil(L);
        lua_setfield(L, -2, reads[i]);
    }
    lua_pop(L, 2);
    charge_library(L, "string");
    charge_library(L, "math");
    charge_for(L, "table", "insert", 1);
    charge_for(L, "table", "remove", 1);
    charge_for(L, "table", "concat", 1);
    charge_for(L, "table", "unpack", 1);
    charge_for(L, "table", "sort", 32);
    charge_for(L, "_G", "tonumber", 32);
}

/* What of Lua's own libraries would reach outside, depend on addresses, or loop in C for as long as a script wants. */
static void remove_some(lua_State *L)
{
    static const char *const base[] = { "dofile", "loadfile",     "load",        "require", "collectgarbage",
                                        "print",  "warn",         "pairs",       "next",    "xpcall",
                                        "rawset", "getmetatable", "setmetatable" };
    static const char *const strings[] = { "find", "match", "gmatch", "gsub", "dump", "pack", "packsize", "unpack" };
    lua_pushglobaltable(L);
    for (unsigned i = 0; i < sizeof base / sizeof *base; i++) {
        lua_pushnil(L);
        lua_setfield(L, -2, base[i]);
    }
    lua_getfield(L, -1, "string");
    for (unsigned i = 0; i < sizeof strings / sizeof *strings; i++) {
        lua_pushnil(L);
        lua_setfield(L, -2, strings[i]);
    }
    lua_getfield(L, -2, "table");
    lua_pushnil(L);
    lua_setfield(L, -2, "move");
    lua_getfield(L, -3, "math");
    lua_pushnil(L);
    lua_setfield(L, -2, "random");
    lua_pushnil(L);
    lua_setfield(L, -2, "randomseed");
    lua_pop(L, 4);
}

static int open_all(lua_State *L)
{
    struct pct_engine *engine = pct_engine_of(L);
    struct pct_script_channel *channel = engine->channel;
    char name[256] = "@";
    struct pct_line line;
    luaL_requiref(L, "_G", luaopen_base, 1);
    luaL_requiref(L, "string", luaopen_string, 1);
    luaL_requiref(L, "table", luaopen_table, 1);
    luaL_requiref(L, "math", luaopen_math, 1);
    lua_settop(L, 0);
    if (luaL_loadbufferx(L, pct_script_library, (size_t)(pct_script_library_end - pct_script_library), "=library", "t"))
        return lua_error(L);
    lua_newtable(L);
    pct_core_open(L);
    pct_predicate_open(L);
    lua_call(L, 1, 0);
    remove_some(L);
    charge_all(L);
    pct_function_open(L);
    pct_line_start(&line, name + 1, sizeof name - 1);
    pct_line_add(&line, script_name(engine));
    engine->script = lua_newthread(L);
    lua_rawsetp(L, LUA_REGISTRYINDEX, engine);
    pct_engine_set_bound(engine->script);
    pct_engine_set_bound(L);
    if (luaL_loadbufferx(L, pct_script_texts(channel) + channel->script, channel->script_size, name, "t"))
        return lua_error(L);
    lua_xmove(L, engine->script, 1);
    return 0;
}

void pct_engine_open_lua(void *data)
{
    struct pct_engine *engine = data;
    engine->lua = lua_newstate(pct_arena_allocate, &engine->arena);
    if (!engine->lua) {
        pct_engine_end(engine, PCT_SCRIPT_WRONG, "there is no memory for Lua");
        return;
    }
    memcpy(lua_getextraspace(engine->lua), &engine, sizeof(void *));
    lua_pushcfunction(engine->lua, open_all);
    if (lua_pcall(engine->lua, 0, 0, 0))
        pct_engine_end_by_error(engine, engine->lua);
}
