/* For the command: whether a text is a script, as far as that can be said without a run. It is compiled, not run. */
#include "engine.h"
#include <lauxlib.h>
#include <string.h>

__attribute__((visibility("default"))) int pct_script_check(const char *text, size_t size, const char *name,
                                                            char *error, size_t error_size);

int pct_script_check(const char *text, size_t size, const char *name, char *error, size_t error_size)
{
    static char memory[16 << 20];
    char chunk[256] = "@";
    struct pct_arena arena;
    struct pct_line line;
    pct_arena_start(&arena, memory, sizeof memory);
    lua_State *L = lua_newstate(pct_arena_allocate, &arena);
    pct_line_start(&line, chunk + 1, sizeof chunk - 1);
    pct_line_add(&line, name);
    pct_line_start(&line, error, error_size);
    int failed = !L || luaL_loadbufferx(L, text, size, chunk, "t");
    if (failed)
        pct_line_add(&line, L ? lua_tostring(L, -1) : "out of memory");
    if (L)
        lua_close(L);
    return failed ? -1 : 0;
}
