/* Whether a predicate holds: see engine.h. made.c makes them. */
#include "engine.h"
#include <lauxlib.h>
#include <string.h>

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

static bool begins_function(const struct pct_script_look *look)
{
    return look->op == PCT_OP_FUNCTION_ENTER && look->function;
}

/* A location in memory is the aligned eight bytes, of which the access may begin anywhere. */
static bool is_meant(struct pct_engine *engine, const struct pct_predicate *p, uint32_t thread,
                     const struct pct_script_look *look)
{
    if (look->op >= PCT_OP_COUNT || !pct_calm_has(p->operations, look->op))
        return false;
    if (look->op == PCT_OP_FUNCTION_ENTER) {
        pct_apart_note(engine, thread, PCT_ASKED_PLACE);
        if (!(p->line ? look->line : look->function))
            return false;
    }
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
    if (begins_function(look) && look->place && within(engine, p, look->place - 1))
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
    return begins_function(look) && thread && look->place &&
           within_ranges(engine, p->entered, p->entered_to, look->place - 1);
}

bool pct_predicate_enters(const struct pct_engine *engine, const struct pct_script_look *look)
{
    const struct pct_script_name *name = pct_script_names(engine->channel);
    bool enters = false;
    for (uint32_t i = 0; begins_function(look) && look->place && i < engine->channel->names; i++)
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
        return !look->ready && pct_look_is_held_by(look, p->thread);
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
