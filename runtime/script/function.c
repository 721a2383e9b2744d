/* Which functions give the same each time, and change nothing: see engine.h. What one of the script's does is seen in
 * its code, which lua_dump() writes. */
#include "engine.h"
#include <lauxlib.h>
#include <string.h>

struct code {
    size_t size;
    unsigned char byte[8192];
};

static int write(lua_State *L, const void *bytes, size_t size, void *data)
{
    struct code *code = data;
    (void)L;
    if (size > sizeof code->byte - code->size)
        return 1;
    memcpy(code->byte + code->size, bytes, size);
    code->size += size;
    return 0;
}

/* Seven bits each, the last with the eighth. */
static size_t skip_number(const struct code *code, size_t at, size_t *number)
{
    *number = 0;
    while (at < code->size && !(code->byte[at] & 0x80))
        *number = *number << 7 | code->byte[at++];
    *number = at < code->size ? *number << 7 | (code->byte[at] & 0x7f) : 0;
    return at + 1;
}

/* Of the instructions of Lua 5.4 (lopcodes.h): all but those that set a variable from outside or a field of a table,
 * make a closure, or leave a variable that is to be closed. */
static bool reads(unsigned instruction)
{
    static const struct {
        uint8_t first, last;
    } fine[] = { { 0, 9 }, { 11, 14 }, { 19, 53 }, { 56, 78 }, { 80, 82 } };
    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++)
        if (instruction >= fine[i].first && instruction <= fine[i].last)
            return true;
    return false;
}

/* Behind the head: how many variables it has from outside, where it stands (left out, a zero), its first and last line,
 * three bytes, how many instructions it has, and these. */
static bool all_read(const struct code *code)
{
    enum { HEAD = 4 + 1 + 1 + 6 + 3 + 8 + 8 };
    size_t number, at = HEAD + 1, count;
    for (unsigned i = 0; i < 3; i++)
        at = skip_number(code, at, &number);
    at = skip_number(code, at + 3, &count);
    if (at >= code->size || count > (code->size - at) / 4)
        return false;
    for (size_t i = 0; i < count; i++)
        if (!reads(code->byte[at + 4 * i] & 0x7f))
            return false;
    return true;
}

bool pct_function_reads_only(lua_State *L, int at)
{
    struct code code = { .size = 0 };
    if (lua_iscfunction(L, at))
        return false;
    lua_pushvalue(L, at);
    bool whole = !lua_dump(L, write, &code, 1);
    lua_pop(L, 1);
    return whole && code.byte[4] == LUA_VERSION_NUM / 100 * 16 + LUA_VERSION_NUM % 100 && all_read(&code);
}

/* Lua's own functions, as keys of a table in the registry. */
static const char fixed;

static void add(lua_State *L, int table, const char *name)
{
    lua_getglobal(L, name);
    lua_pushboolean(L, 1);
    lua_rawset(L, table);
}

void pct_function_open(lua_State *L)
{
    static const char *const base[] = { "type", "tostring", "tonumber", "ipairs" };
    static const char *const libraries[] = { "string", "math" };
    lua_newtable(L);
    int table = lua_gettop(L);
    for (unsigned i = 0; i < sizeof base / sizeof *base; i++)
        add(L, table, base[i]);
    lua_getglobal(L, "ipairs"); /* what it loops with is a function, too */
    lua_newtable(L);
    lua_call(L, 1, 1);
    lua_pushboolean(L, 1);
    lua_rawset(L, table);
    for (unsigned i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        lua_getglobal(L, libraries[i]);
        for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
            if (!lua_iscfunction(L, -1))
                continue;
            lua_pushvalue(L, -1);
            lua_pushboolean(L, 1);
            lua_rawset(L, table);
        }
        lua_pop(L, 1);
    }
    lua_getglobal(L, "table");
    lua_getfield(L, -1, "unpack");
    lua_pushboolean(L, 1);
    lua_rawset(L, table);
    lua_pop(L, 1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &fixed);
}

bool pct_function_is_fixed(lua_State *L, int at)
{
    at = lua_absindex(L, at);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &fixed);
    lua_pushvalue(L, at);
    bool is = lua_rawget(L, -2) != LUA_TNIL;
    lua_pop(L, 2);
    return is;
}
