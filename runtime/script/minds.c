/* For which steps a predicate may hold, so that the engine need not be asked at others: see engine.h. */
#include "engine.h"
#include <string.h>

static void mind_all(struct pct_calm *calm)
{
    memset(calm->operations, 0xff, sizeof calm->operations);
}

/* The least range with all of these. */
static void mind_ranges(const struct pct_engine *engine, uint32_t first, uint32_t last, struct pct_calm_range *range)
{
    uint64_t from = UINT64_MAX, to = 0;
    for (uint32_t i = first; i < last; i++) {
        if (engine->ranges[i].from == engine->ranges[i].to)
            continue; /* not loaded */
        from = engine->ranges[i].from < from ? engine->ranges[i].from : from;
        to = engine->ranges[i].to > to ? engine->ranges[i].to : to;
    }
    range->from = from;
    range->size = to > from ? to - from : 0;
}

static void mind_operations(struct pct_engine *engine, const struct pct_predicate *p, struct pct_calm *calm)
{
    const struct pct_script_name *name = p->behind;
    const uint64_t *words[PCT_SCRIPT_POINTERS];
    uint64_t values[PCT_SCRIPT_POINTERS], place = 0;
    bool near = name && name->pointers == 1 && pct_predicate_pointer(engine, name);
    bool far = name && name->pointers > 1 && pct_predicate_way(engine, name, words, values, &place);
    bool ranged = p->by_place || (p->named && (!name || near || far));
    struct pct_calm_range *range = p->by_place ? &calm->place : &calm->object;
    memcpy(ranged ? range->operations : calm->operations, p->operations, sizeof p->operations);
    if (near)
        *range = (struct pct_calm_range){ .operations = { p->operations[0], p->operations[1] },
                                          .base = pct_predicate_pointer(engine, name),
                                          .from = name->offset[0],
                                          .size = name->size };
    else if (far)
        range->from = place, range->size = place ? name->size : 0;
    else if (ranged)
        mind_ranges(engine, p->from, p->to, range);
    if (p->by_place)
        range->from++; /* a place is behind the call */
}

static bool is_empty(const struct pct_calm_range *range)
{
    return !(range->operations[0] | range->operations[1]);
}

/* The least range with both; what cannot be in one is minded wherever it is. */
static void join(struct pct_calm *calm, struct pct_calm_range *range, const struct pct_calm_range *other)
{
    if (is_empty(other))
        return;
    if (is_empty(range)) {
        *range = *other;
        return;
    }
    for (unsigned i = 0; i < 2; i++) {
        calm->operations[i] |= range->base != other->base ? other->operations[i] : 0;
        range->operations[i] |= range->base == other->base ? other->operations[i] : 0;
    }
    if (range->base != other->base)
        return;
    uint64_t to = range->from + range->size, other_to = other->from + other->size;
    range->from = other->from < range->from ? other->from : range->from;
    range->size = (other_to > to ? other_to : to) - range->from;
}

static void mind_either(struct pct_calm *calm, const struct pct_calm *other)
{
    if (calm->left && other->left && calm->left != other->left)
        mind_all(calm);
    if (other->left) {
        calm->left = other->left;
        calm->link = other->link;
        calm->more = true;
    }
    for (unsigned i = 0; i < 2; i++)
        calm->operations[i] |= other->operations[i];
    join(calm, &calm->object, &other->object);
    join(calm, &calm->place, &other->place);
}

static bool only_leaving(const struct pct_calm *calm)
{
    return calm->left && !(calm->operations[0] | calm->operations[1]) && is_empty(&calm->object) &&
           is_empty(&calm->place);
}

/* What both do, or a little more: of the one that has ranges, the operations of the other. */
static void mind_both(struct pct_calm *calm, const struct pct_calm *other)
{
    const struct pct_calm a = *calm;
    if (only_leaving(&a) || only_leaving(other)) {
        *calm = only_leaving(&a) ? a : *other;
        return;
    }
    bool first = !is_empty(&a.object) || !is_empty(&a.place);
    const struct pct_calm *narrow = first ? &a : other, *wide = first ? other : &a;
    *calm = *narrow;
    for (unsigned i = 0; i < 2; i++) {
        uint64_t in = wide->operations[i] | wide->object.operations[i] | wide->place.operations[i];
        calm->operations[i] &= in;
        calm->object.operations[i] &= in;
        calm->place.operations[i] &= in;
    }
}

/* Whether the answer depends on the thread alone, and not on what it does; *holds: which it is. */
static bool is_state(struct pct_engine *engine, const struct pct_predicate *p, uint32_t thread, bool *holds)
{
    const struct pct_script_look nothing = { .op = PCT_OP_NONE };
    bool fixed = p->kind == PCT_PREDICATE_THREAD || p->kind == PCT_PREDICATE_NAME;
    *holds = (fixed || p->kind == PCT_PREDICATE_ANY || p->kind == PCT_PREDICATE_INSIDE) &&
             pct_predicate_holds(engine, NULL, p, thread, &nothing);
    return *holds || fixed;
}

/* The thread is in one of these functions; it may leave the outermost by no step of its own (an exception, longjmp()).
 */
static void mind_leaving(struct pct_engine *engine, const struct pct_predicate *p, uint32_t thread,
                         struct pct_calm *calm)
{
    for (uint32_t i = pct_engine_inside(engine, thread); i; i = engine->function[i - 1].below) {
        const struct pct_inside *function = &engine->function[i - 1];
        for (uint32_t r = p->from; r < p->to; r++)
            if (function->place > engine->ranges[r].from && function->place <= engine->ranges[r].to) {
                calm->left = function->stack;
                calm->link = function->link;
            }
    }
    calm->more = true;
}

static void mind_not(struct pct_engine *engine, const struct pct_predicate *a, uint32_t thread, struct pct_calm *calm)
{
    bool holds;
    /* What begins there may be a function, or code of a line. */
    if (a->kind == PCT_PREDICATE_OPERATION && !a->named && !pct_calm_has(a->operations, PCT_OP_FUNCTION_ENTER))
        for (unsigned i = 0; i < 2; i++)
            calm->operations[i] = ~a->operations[i];
    else if (!is_state(engine, a, thread, &holds) || !holds)
        mind_all(calm);
    else if (a->kind == PCT_PREDICATE_INSIDE)
        mind_leaving(engine, a, thread, calm);
}

static void mind_operation(struct pct_calm *calm, enum pct_op op)
{
    calm->operations[op >> 6] |= UINT64_C(1) << (op & 63);
}

void pct_predicate_minds(struct pct_engine *engine, const struct pct_predicate *p, uint32_t thread,
                         struct pct_calm *calm)
{
    struct pct_calm other = { 0 };
    bool holds;
    if (is_state(engine, p, thread, &holds)) {
        if (holds)
            mind_all(calm);
        return;
    }
    switch (p->kind) {
    case PCT_PREDICATE_OPERATION:
        mind_operations(engine, p, calm);
        return;
    case PCT_PREDICATE_PLACE:
        memset(calm->place.operations, 0xff, sizeof calm->place.operations);
        mind_ranges(engine, p->from, p->to, &calm->place);
        calm->place.from++;
        return;
    case PCT_PREDICATE_START:
        mind_operation(calm, PCT_OP_THREAD_START);
        if (p->library)
            mind_operation(calm, PCT_OP_FUNCTION_ENTER);
        return;
    case PCT_PREDICATE_POINT:
        mind_operation(calm, PCT_OP_POINT);
        return;
    case PCT_PREDICATE_INSIDE:
        mind_operation(calm, PCT_OP_FUNCTION_ENTER);
        return;
    case PCT_PREDICATE_BLOCKED_BY: /* whoever has to wait does not go on, and the strategy is asked */
        return;
    case PCT_PREDICATE_AND:
    case PCT_PREDICATE_OR:
        pct_predicate_minds(engine, p->a, thread, calm);
        if (p->kind == PCT_PREDICATE_AND && p->a->moved & PCT_MOVED_BY_STEPS)
            return; /* it is called for whatever the first part holds for */
        pct_predicate_minds(engine, p->b, thread, &other);
        (p->kind == PCT_PREDICATE_AND ? mind_both : mind_either)(calm, &other);
        return;
    case PCT_PREDICATE_NOT:
        mind_not(engine, p->a, thread, calm);
        return;
    default:
        mind_all(calm);
    }
}

/* --- For which steps of one thread it may come to hold for another ------------------------------------------------ */

/* Whether what others do may make it hold for this thread, which stands before this operation. */
static bool may_come(const struct pct_predicate *p, uint32_t thread, uint32_t op)
{
    switch (p->kind) {
    case PCT_PREDICATE_OPERATION:
        return pct_calm_has(p->operations, op);
    case PCT_PREDICATE_START:
        return op == PCT_OP_THREAD_START || (op == PCT_OP_FUNCTION_ENTER && p->library);
    case PCT_PREDICATE_POINT:
        return op == PCT_OP_POINT;
    case PCT_PREDICATE_THREAD:
        return thread == p->thread;
    case PCT_PREDICATE_AND:
        return may_come(p->a, thread, op) && (p->a->moved & PCT_MOVED_BY_STEPS || may_come(p->b, thread, op));
    case PCT_PREDICATE_OR:
        return may_come(p->a, thread, op) || may_come(p->b, thread, op);
    default:
        return true;
    }
}

bool pct_op_is_simple(uint32_t op)
{
    return op == PCT_OP_NONE || (op >= PCT_OP_MUTEX_LOCK && op <= PCT_OP_MUTEX_UNLOCK) ||
           (op >= PCT_OP_RWLOCK_RDLOCK && op <= PCT_OP_RWLOCK_UNLOCK) ||
           (op >= PCT_OP_SPIN_LOCK && op <= PCT_OP_SPIN_UNLOCK) || op == PCT_OP_SEM_WAIT || op == PCT_OP_SEM_POST ||
           (op >= PCT_OP_LOAD && op <= PCT_OP_ATOMIC_TRY) || op == PCT_OP_POINT || op == PCT_OP_FUNCTION_ENTER ||
           op == PCT_OP_FUNCTION_RETURN;
}

/* What may change who holds the object before which this thread stands, or whether it has to wait. */
static bool mind_object(struct pct_engine *engine, uint32_t thread, struct pct_calm *calm)
{
    struct pct_script_look look;
    struct pct_calm_range here = { .operations = { UINT64_MAX, UINT64_MAX }, .size = 1 };
    if (!engine->host->look(thread, &look))
        return false;
    bool for_ever = (look.op == PCT_OP_THREAD_JOIN || look.op == PCT_OP_COND_WAIT) && !look.deadline;
    if (!(look.op == PCT_OP_THREAD_START || for_ever || pct_op_is_simple(look.op)))
        return false;
    here.from = look.address;
    if (look.address)
        join(calm, &calm->others, &here);
    return true;
}

bool pct_calm_mind_word(struct pct_calm *calm, const uint64_t *word, uint64_t value)
{
    unsigned at = 0;
    while (at < PCT_CALM_WORDS && calm->pointer[at] && calm->pointer[at] != word)
        at++;
    if (at == PCT_CALM_WORDS)
        return false;
    calm->pointer[at] = word;
    calm->pointed[at] = value;
    calm->more = true;
    return true;
}

bool pct_predicate_minds_ways(struct pct_engine *engine, const struct pct_predicate *p, struct pct_calm *calm)
{
    const uint64_t *words[PCT_SCRIPT_POINTERS];
    uint64_t values[PCT_SCRIPT_POINTERS], place;
    if (p->a && !pct_predicate_minds_ways(engine, p->a, calm))
        return false;
    if (p->b && p->b != p->a && !pct_predicate_minds_ways(engine, p->b, calm))
        return false;
    unsigned count =
        p->behind && p->behind->pointers > 1 ? pct_predicate_way(engine, p->behind, words, values, &place) : 0;
    for (unsigned i = 0; i < count; i++)
        if (!pct_calm_mind_word(calm, words[i], values[i]))
            return false;
    if (count)
        calm->heap_end = engine->host->heap_end;
    return true;
}

/* That none of its pointers comes to point elsewhere; those on longer ways are minded anyway, as far as they can be. */
static bool mind_pointers(struct pct_engine *engine, const struct pct_predicate *p, struct pct_calm *calm)
{
    const uint64_t *words[PCT_SCRIPT_POINTERS];
    uint64_t values[PCT_SCRIPT_POINTERS], place;
    if (p->a && !(mind_pointers(engine, p->a, calm) && (!p->b || mind_pointers(engine, p->b, calm))))
        return false;
    if (!p->behind)
        return true;
    if (p->behind->pointers > 1)
        return pct_predicate_way(engine, p->behind, words, values, &place);
    const uint64_t *pointer = pct_predicate_pointer(engine, p->behind);
    return pointer && pct_calm_mind_word(calm, pointer, *pointer);
}

/* Before the thread's next step, which is made without a question. */
static bool minds_pending(const struct pct_engine *engine, uint32_t thread, const struct pct_calm *calm)
{
    struct pct_script_look look;
    return !engine->host->look(thread, &look) || !pct_op_is_simple(look.op) ||
           pct_calm_is_in(&calm->others, look.op, look.address);
}

bool pct_predicate_minds_others(struct pct_engine *engine, const struct pct_predicate *predicate, uint32_t thread,
                                struct pct_calm *calm)
{
    const unsigned moved = predicate->moved & ~PCT_MOVED_BY_NAMES;
    bool any = false;
    for (uint32_t t = 0; moved && t < engine->threads; t++) {
        uint32_t op = engine->host->pending(t);
        if (t == thread || op >= PCT_OP_COUNT || !pct_engine_may_ask(engine, t) || !may_come(predicate, t, op))
            continue;
        any = true;
        bool holders = moved & PCT_MOVED_BY_HOLDERS && !pct_apart_stays(engine, t);
        if (moved & PCT_MOVED_BY_STEPS || (holders && !mind_object(engine, t, calm)))
            return false;
    }
    const struct pct_apart *apart = &engine->apart;
    unsigned others = apart->predicate ? apart->others : 0;
    for (unsigned i = 0; i < others; i++)
        if (apart->other[i].thread != thread && apart->other[i].asked & PCT_ASKED_HOLDER &&
            !mind_object(engine, apart->other[i].thread, calm))
            return false;
    if (!any && !others)
        return true;
    if (any && moved & PCT_MOVED_BY_POINTERS && !mind_pointers(engine, predicate, calm))
        return false;
    if (!(moved & PCT_MOVED_BY_HOLDERS))
        return true;
    for (uint32_t op = 0; op < PCT_OP_COUNT; op++)
        if (!pct_op_is_simple(op))
            mind_operation(calm, op);
    calm->more = true;
    return !minds_pending(engine, thread, calm);
}
