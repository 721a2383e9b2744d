/* Memory for Lua: see engine.h. It is one piece of address space, of which only what is used is ever touched. Sizes are
 * rounded up to a power of two, at least 16, so that a block that is given back fits the next of its size. */
#include "engine.h"
#include <lua.h>
#include <string.h>

enum { LEAST_LOG = 4 };

/* What Lua does with a string in C takes as long as that is: scripts have no use for long ones. */
enum { STRING_MOST = 1 << 12 };

static unsigned class_of(size_t size)
{
    return size <= 16 ? 0 : 64 - LEAST_LOG - (unsigned)__builtin_clzl(size - 1);
}

void pct_arena_start(struct pct_arena *arena, void *at, size_t size)
{
    *arena = (struct pct_arena){ .next = at, .end = (char *)at + size };
}

static void *take(struct pct_arena *arena, unsigned class_)
{
    size_t size = (size_t)1 << (class_ + LEAST_LOG);
    arena->given += size;
    void *block = class_ < PCT_ARENA_CLASSES ? arena->free[class_] : NULL;
    if (block) {
        memcpy(&arena->free[class_], block, sizeof(void *));
        return block;
    }
    if (class_ >= PCT_ARENA_CLASSES || size > (size_t)(arena->end - arena->next))
        return NULL;
    block = arena->next;
    arena->next += size;
    return block;
}

static void give(struct pct_arena *arena, void *block, unsigned class_)
{
    memcpy(block, &arena->free[class_], sizeof(void *));
    arena->free[class_] = block;
}

void *pct_arena_allocate(void *data, void *block, size_t old_size, size_t new_size)
{
    struct pct_arena *arena = data;
    if (!block && old_size == LUA_TSTRING && new_size > STRING_MOST)
        return NULL;
    if (!block)
        return new_size ? take(arena, class_of(new_size)) : NULL;
    if (!new_size) {
        give(arena, block, class_of(old_size));
        return NULL;
    }
    if (class_of(old_size) == class_of(new_size))
        return block;
    void *other = take(arena, class_of(new_size));
    if (!other)
        return new_size <= old_size ? block : NULL; /* Lua takes it for granted that a block can shrink */
    memcpy(other, block, old_size < new_size ? old_size : new_size);
    give(arena, block, class_of(old_size));
    return other;
}
