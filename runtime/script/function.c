/* Functions of the script's of an event: see engine.h. One that only reads has the same answer for the same event, as
 * no line of the script runs while it waits: it is tried for each operation when the wait begins. What it does is seen
 * in its code, which lua_dump() writes. */
#include "engine.h"
#include <lauxlib.h>
#include <string.h>

/* --- Its code ----------------------------------------------------------------------------------------------------- */

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

/* Of the instructions of Lua 5.4 (lopcodes.h): loads (but not from a closure's own variables that it sets), arithmetic,
 * comparisons, jumps and returns. */
static bool reads(unsigned instruction)
{
    static const struct {
        uint8_t first, last;
    } fine[] = { { 0, 9 }, { 11, 14 }, { 21, 52 }, { 56, 67 }, { 70, 72 } };
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

/* --- What it says of operations ----------------------------------------------------------------------------------- */

/* It asks for something that is not known before. */
static int asks(lua_State *L)
{
    return luaL_error(L, "that depends on the event");
}

/* Of a thread that can go on: what else there may be of it is asked for in vain. */
static void push_event(lua_State *L, uint32_t op)
{
    struct pct_script_look look = { .op = (uint8_t)op, .holder = PCT_NO_THREAD, .ready = true };
    pct_core_push_event(L, 0, &look);
    lua_pushnil(L);
    lua_setfield(L, -2, "thread");
    lua_pushnil(L);
    lua_setfield(L, -2, "object");
    lua_createtable(L, 0, 1);
    lua_pushcfunction(L, asks);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, -2);
}

void pct_function_try(lua_State *L, int at, uint64_t operations[2])
{
    at = lua_absindex(L, at);
    operations[0] = operations[1] = 0;
    for (uint32_t op = 0; op < PCT_OP_COUNT; op++) {
        lua_pushvalue(L, at);
        push_event(L, op);
        if (lua_pcall(L, 1, 1, 0) || lua_toboolean(L, -1))
            operations[op >> 6] |= UINT64_C(1) << (op & 63);
        lua_pop(L, 1);
    }
}
