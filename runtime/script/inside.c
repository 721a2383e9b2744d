/* In which of the functions that a script names its threads are: see engine.h. */
#include "engine.h"

static bool is_in(const struct pct_engine *engine, const struct pct_script_name *name, uint64_t place)
{
    for (uint32_t i = name->first; i < name->first + name->count; i++)
        if (place > engine->ranges[i].from && place <= engine->ranges[i].to)
            return true;
    return false;
}

/* Whether these two places are in one of the functions that the script names. */
static bool is_same_function(const struct pct_engine *engine, uint64_t a, uint64_t b)
{
    const struct pct_script_name *names = pct_script_names(engine->channel);
    for (uint32_t i = 0; i < engine->channel->names; i++)
        if (names[i].kind == PCT_SCRIPT_BODY && is_in(engine, &names[i], a) && is_in(engine, &names[i], b))
            return true;
    return false;
}

static void leave(struct pct_engine *engine, uint32_t thread)
{
    uint32_t top = engine->inside[thread];
    struct pct_inside *function = &engine->function[top - 1];
    engine->inside[thread] = function->below;
    function->below = engine->unused_function;
    engine->unused_function = top;
}

static void enter(struct pct_engine *engine, uint32_t thread, uint64_t place, uint64_t stack)
{
    uint32_t top = engine->unused_function;
    if (!top && engine->functions == PCT_INSIDE_MOST) {
        pct_engine_end(engine, PCT_SCRIPT_WRONG,
                       "threads are in more than 4096 functions that the script names at once");
        return;
    }
    if (top)
        engine->unused_function = engine->function[top - 1].below;
    else
        top = ++engine->functions;
    engine->function[top - 1] = (struct pct_inside){
        .place = place, .stack = stack, .link = *(const uint64_t *)(uintptr_t)stack, .below = engine->inside[thread]
    };
    engine->inside[thread] = top;
}

uint32_t pct_engine_inside(struct pct_engine *engine, uint32_t thread)
{
    uint32_t at = engine->inside[thread];
    bool forget;
    while (at) {
        const struct pct_inside *function = &engine->function[at - 1];
        if (!engine->host->has_left(thread, function->stack, function->link, &forget))
            return at;
        uint32_t below = function->below;
        if (forget && at == engine->inside[thread])
            leave(engine, thread);
        at = below;
    }
    return 0;
}

void pct_engine_leave_all(struct pct_engine *engine, uint32_t thread)
{
    while (engine->inside[thread])
        leave(engine, thread);
}

/* Functions further down the stack, or where this one begins, were left without returning: by an exception, or
 * longjmp(). */
void pct_engine_passed(void *state, uint32_t thread, bool enters, uint64_t place, uint64_t stack)
{
    struct pct_engine *engine = state;
    const struct pct_inside *function = engine->function;
    engine->calm_of = 0;
    while (engine->inside[thread] && function[engine->inside[thread] - 1].stack < stack + enters)
        leave(engine, thread);
    if (enters)
        enter(engine, thread, place, stack);
    else if (engine->inside[thread] && is_same_function(engine, function[engine->inside[thread] - 1].place, place))
        leave(engine, thread);
}
