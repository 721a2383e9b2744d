/* The engine of a script: see engine.h. The script is a coroutine, which is resumed whenever what it waits for has
 * come; between that nothing of Lua runs, unless a predicate is a function of the script's.
 *
 * A script cannot hang: it may do no more than this many instructions before a thread goes on, and its libraries have
 * no loop in C that it could make long. It has no input and output, no clock and no random numbers, so that what it
 * does is a function of the schedule. */
#include "engine.h"
#include <link.h>
#include <preload/run/script.h>
#include <string.h>

enum { ARENA = 64 << 20, STEPS_MOST = 100000000 };

static const struct pct_script_host *the_host;
static struct pct_script_channel *the_channel;
static const struct pct_script_self *the_self;

/* --- Stack -------------------------------------------------------------------------------------------------------- */

/* Call function(argument) on the stack that ends here, a multiple of 16. */
void pct_script_call_on(void *argument, void (*function)(void *), void *stack) __attribute__((visibility("hidden")));
__asm__(".text\n"
        ".globl pct_script_call_on\n"
        ".type pct_script_call_on, @function\n"
        "pct_script_call_on:\n"
        ".cfi_startproc\n"
        "pushq %rbp\n"
        ".cfi_def_cfa_offset 16\n"
        ".cfi_offset %rbp, -16\n"
        "movq %rsp, %rbp\n"
        ".cfi_def_cfa_register %rbp\n"
        "movq %rdx, %rsp\n"
        "call *%rsi\n"
        "movq %rbp, %rsp\n"
        "popq %rbp\n"
        ".cfi_def_cfa %rsp, 8\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size pct_script_call_on, .-pct_script_call_on\n");

static void on_stack(struct pct_engine *engine, void (*function)(void *))
{
    pct_script_call_on(engine, function, engine->stack + sizeof engine->stack);
}

/* --- Where the script is ------------------------------------------------------------------------------------------ */

void pct_engine_note(struct pct_engine *engine, uint32_t thread)
{
    struct pct_script_channel *channel = engine->channel;
    struct pct_script_note note = { .line = engine->said->line, .thread = thread, .step = engine->step };
    if (!engine->self->number && channel->notes < PCT_SCRIPT_NOTES)
        pct_script_notes(channel)[channel->notes++] = note;
    uint32_t i = engine->self->number && engine->meant ? __atomic_fetch_add(&channel->other_notes, 1, __ATOMIC_SEQ_CST)
                                                       : PCT_SCRIPT_NOTES;
    if (i >= PCT_SCRIPT_NOTES)
        return;
    struct pct_script_other_note *other = &pct_script_other_notes(channel)[i];
    other->note = note;
    other->process = engine->self->number;
    __atomic_store_n(&other->image, engine->self->image, __ATOMIC_RELEASE);
}

/* --- Its end ------------------------------------------------------------------------------------------------------ */

void pct_engine_end(struct pct_engine *engine, enum pct_script_outcome outcome, const char *message)
{
    struct pct_script_said *said = engine->said;
    struct pct_line line;
    said->outcome = pct_engine_is_meant(engine) ? outcome : PCT_SCRIPT_NEVER;
    said->step = engine->step;
    pct_line_start(&line, said->message, sizeof said->message);
    pct_line_add_clean(&line, message);
    engine->request.waiting = false;
    engine->control->over = true;
    engine->control->first = PCT_NO_THREAD;
    memset(&engine->control->held, 0, sizeof engine->control->held);
    pct_board_leave(engine);
}

int pct_engine_fail(lua_State *L, enum pct_script_outcome outcome)
{
    struct pct_engine *engine = pct_engine_of(L);
    engine->said->line = pct_engine_line(L);
    pct_engine_end(engine, outcome, lua_tostring(L, -1));
    return lua_error(L);
}

/* --- Going on ----------------------------------------------------------------------------------------------------- */

static void resume(void *data)
{
    struct pct_engine *engine = data;
    lua_State *L = engine->script;
    int results, arguments = 0;
    if (engine->found) {
        lua_pushinteger(L, (lua_Integer)engine->found - 1);
        arguments = 1;
    } else if (engine->said->outcome == PCT_SCRIPT_UNDER_WAY && engine->request.asked) {
        lua_pushboolean(L, 0);
        arguments = 1;
    }
    engine->request.waiting = false;
    engine->instructions = 0;
    engine->went_on = engine->step;
    int status = lua_resume(L, engine->lua, arguments, &results);
    if (status == LUA_OK && !engine->control->over)
        pct_engine_end(engine, PCT_SCRIPT_ENDED, "");
    else if (status != LUA_OK && status != LUA_YIELD)
        pct_engine_end_by_error(engine, L);
    else if (status == LUA_YIELD)
        lua_pop(L, results);
}

/* --- Whether what it waits for has come --------------------------------------------------------------------------- */

bool pct_engine_may_ask(const struct pct_engine *engine, uint32_t thread)
{
    const struct pct_request *request = &engine->request;
    return request->any ? !pct_rank_set_has(&engine->named, thread) : pct_rank_set_has(&request->set, thread);
}

/* Whether this thread is the one. *begun: it has an operation that it is about to make. */
static bool answers(struct pct_engine *engine, uint32_t thread, bool *begun)
{
    struct pct_script_look look;
    *begun = engine->host->look(thread, &look) && (look.op != PCT_OP_NONE || look.finished);
    return *begun && !look.finished && pct_engine_may_ask(engine, thread) && !pct_rank_set_has(&engine->used, thread) &&
           !pct_apart_excludes(engine, thread, &look) &&
           pct_predicate_holds(engine, engine->lua, engine->request.predicate, thread, &look);
}

/* All of them. Those that have not begun yet are looked at again. */
static void ask_all(struct pct_engine *engine, uint32_t from)
{
    bool all_begun = true, begun;
    for (uint32_t id = from; id < engine->threads && !engine->found; id++) {
        if (answers(engine, id, &begun))
            engine->found = id + 1;
        all_begun &= begun;
        if (all_begun)
            engine->seen = id + 1;
    }
}

static void ask_again(void *data)
{
    struct pct_engine *engine = data;
    ask_all(engine, 0);
}

static int ask_protected(lua_State *L)
{
    ask_again(pct_engine_of(L));
    return 0;
}

static void ask_functions(void *data)
{
    struct pct_engine *engine = data;
    lua_pushcfunction(engine->lua, ask_protected);
    engine->instructions = 0;
    if (lua_pcall(engine->lua, 0, 0, 0))
        pct_engine_end_by_error(engine, engine->lua);
}

static bool all_ended(const struct pct_engine *engine)
{
    struct pct_script_look look;
    const struct pct_rank_set *set = &engine->request.set;
    for (uint32_t t = pct_rank_set_lowest(set); t != PCT_NO_RANK; t = pct_rank_set_above(set, t))
        if (engine->host->look(t, &look) && !look.finished)
            return false;
    return true;
}

bool pct_engine_has_ended(const struct pct_engine *engine, uint32_t thread)
{
    struct pct_script_look look;
    return !engine->host->look(thread, &look) || look.finished;
}

/* Look for the answer to the request. True: the script is to go on. */
static bool is_answered(struct pct_engine *engine)
{
    struct pct_request *request = &engine->request;
    bool begun;
    engine->found = 0;
    if (request->end) {
        request->asked = true;
        return pct_engine_has_ended(engine, request->end - 1);
    }
    unsigned moved = request->predicate->moved;
    bool again = !request->asked || moved & ~(unsigned)PCT_MOVED_BY_NAMES ||
                 (moved & PCT_MOVED_BY_NAMES && engine->renamed != *engine->host->renamed);
    engine->renamed = *engine->host->renamed;
    if (again && request->predicate->called) {
        if (!pct_apart_turn(engine) || !request->asked)
            on_stack(engine, ask_functions);
        if (!engine->found && !engine->control->over)
            pct_apart_end_turn(engine);
    } else if (again) {
        ask_all(engine, 0);
    } else {
        if (engine->made != PCT_NO_THREAD && answers(engine, engine->made, &begun))
            engine->found = engine->made + 1;
        else if (engine->seen < engine->threads)
            ask_all(engine, engine->seen);
    }
    request->asked = true;
    return engine->found || (!request->any && all_ended(engine));
}

static void stand_all(struct pct_engine *engine)
{
    const struct pct_rank_set *set = &engine->request.set;
    for (uint32_t t = pct_rank_set_lowest(set); t != PCT_NO_RANK; t = pct_rank_set_above(set, t))
        pct_rank_set_insert(&engine->control->held, t);
}

static void answer(struct pct_engine *engine)
{
    engine->control->first = PCT_NO_THREAD;
    pct_engine_note(engine, engine->found ? engine->found : engine->request.end);
    if (engine->request.tries)
        stand_all(engine);
    if (engine->found) {
        uint32_t thread = engine->found - 1;
        pct_rank_set_insert(&engine->control->held, thread);
        pct_rank_set_insert(&engine->named, thread);
        pct_rank_set_insert(&engine->used, thread);
        engine->since[thread] = engine->said->line;
    }
}

/* Threads that a library starts show only where they enter it what they were given. While a line waits for one, those
 * that have not come that far go before those that stand there, which a later line may name. */
static void hurry_begun(struct pct_engine *engine)
{
    uint32_t first = PCT_NO_THREAD;
    bool stands = false;
    for (uint32_t t = 1; t < engine->threads; t++) {
        struct pct_script_look look;
        if (pct_rank_set_has(&engine->control->held, t) || !engine->host->look(t, &look) || look.finished)
            continue;
        bool enters = pct_predicate_enters(engine, &look);
        stands |= enters;
        if (!enters && look.ready &&
            (t == engine->control->first || (look.op == PCT_OP_THREAD_START && first == PCT_NO_THREAD)))
            first = t;
    }
    engine->control->first = stands ? first : PCT_NO_THREAD;
}

/* Let the script go on as long as what it waits for is there. */
static void serve(struct pct_engine *engine)
{
    struct pct_request *request = &engine->request;
    engine->calm_of = 0;
    while (!engine->control->over && request->waiting && is_answered(engine) && !engine->control->over) {
        answer(engine);
        on_stack(engine, resume);
    }
    if (!engine->control->over && request->waiting && request->any && request->predicate->library)
        hurry_begun(engine);
}

/* The script waits, and only for what this thread does next: for what of that? */
static void calm(void *state, uint32_t thread, struct pct_calm *calm)
{
    struct pct_engine *engine = state;
    const struct pct_request *request = &engine->request;
    if (engine->calm_of != thread + 1) {
        bool is = request->waiting && request->asked && !engine->control->over;
        engine->calm = (struct pct_calm){ 0 };
        if (!request->end) {
            is = is && engine->seen == engine->threads;
            bool own = is && pct_engine_may_ask(engine, thread);
            if (own)
                pct_predicate_minds(engine, request->predicate, thread, &engine->calm);
            is = is && pct_predicate_minds_ways(engine, request->predicate, &engine->calm) &&
                 pct_apart_minds(engine, thread, own, &engine->calm) &&
                 pct_predicate_minds_others(engine, request->predicate, thread, &engine->calm);
        }
        is = is && pct_board_minds(engine, &engine->calm);
        engine->calm.is = is;
        engine->calm_of = thread + 1;
    }
    *calm = engine->calm;
}

/* Whether what the thread that has made a step stands before now is certainly not what the script waits for. */
static bool tells_nothing(const struct pct_engine *engine, uint32_t made)
{
    struct pct_script_look look;
    return made != PCT_NO_THREAD && engine->calm_of == made + 1 && engine->calm.is &&
           engine->renamed == *engine->host->renamed && engine->host->look(made, &look) && !look.finished &&
           (look.ready || !engine->request.predicate || !engine->request.predicate->moved) &&
           !pct_calm_minds(&engine->calm, look.op, look.address, look.place);
}

/* A program may go round for ever where the script lets nobody come to what ends that. */
static bool too_long(struct pct_engine *engine)
{
    if (!engine->request.waiting || engine->step - engine->went_on < STEPS_MOST)
        return false;
    pct_engine_end(engine, PCT_SCRIPT_DID_NOT_FIT, "that did not come in 100,000,000 steps");
    return true;
}

static void turn(void *state, struct pct_script_control *control, uint32_t made, uint64_t step)
{
    struct pct_engine *engine = state;
    engine->step = step;
    engine->made = made;
    __atomic_store_n(&engine->said->came, step, __ATOMIC_RELAXED);
    engine->said->outside &= made == PCT_NO_THREAD;
    engine->said->runs = made == PCT_NO_THREAD ? engine->said->runs : 0;
    if (too_long(engine))
        return;
    if (made != PCT_NO_THREAD)
        pct_rank_set_remove(&engine->used, made);
    if (tells_nothing(engine, made))
        return;
    if (engine->said->outcome == PCT_SCRIPT_NEVER) {
        engine->said->outcome = PCT_SCRIPT_UNDER_WAY;
        on_stack(engine, resume);
    }
    (void)control;
    serve(engine);
}

static void chose(void *state, uint32_t thread, uint64_t step, bool awaited)
{
    const struct pct_engine *engine = state;
    engine->host->record(awaited ? PCT_SCRIPT_SWITCH_AWAITED : PCT_SCRIPT_SWITCH_THREAD, thread, step);
}

void pct_engine_hold_others(struct pct_engine *engine, bool stand, uint32_t line)
{
    for (uint32_t t = 0; t < engine->threads && stand != engine->others_stand; t++) {
        if (pct_rank_set_has(&engine->named, t))
            continue;
        engine->since[t] = line;
        if (stand)
            pct_rank_set_insert(&engine->control->held, t);
        else
            pct_rank_set_remove(&engine->control->held, t);
    }
    engine->others_stand = stand;
}

static void created(void *state, uint32_t thread)
{
    struct pct_engine *engine = state;
    if (engine->others_stand) {
        pct_rank_set_insert(&engine->control->held, thread);
        engine->since[thread] = engine->said->line;
    }
    pct_apart_created(&engine->apart, thread < engine->threads);
    if (thread >= engine->threads)
        engine->threads = thread + 1;
    engine->calm_of = 0; /* it is to be looked at */
    pct_engine_leave_all(engine, thread);
    pct_rank_set_remove(&engine->named, thread); /* the id may be one that is used again */
    pct_rank_set_remove(&engine->used, thread);
}

/* --- Nobody can go on --------------------------------------------------------------------------------------------- */

/* A request that tries is answered, too. */
static void stuck(void *state, struct pct_script_control *control, uint64_t step)
{
    struct pct_engine *engine = state;
    (void)control;
    engine->step = step;
    if (!engine->request.tries) {
        pct_engine_give_up(engine);
        return;
    }
    engine->let++;
    engine->found = 0;
    answer(engine);
    on_stack(engine, resume);
    serve(engine);
}

/* --- The beginning ------------------------------------------------------------------------------------------------ */

/* Addresses of this process from those of the files. */
static int find_module(struct dl_phdr_info *info, size_t size, void *data)
{
    struct pct_engine *engine = data;
    struct pct_script_channel *channel = engine->channel;
    const char *slash = strrchr(info->dlpi_name, '/'), *name = slash ? slash + 1 : info->dlpi_name;
    (void)size;
    for (int i = 0; !*name && !engine->stays_from && i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD)
            engine->stays_from = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
    for (uint32_t i = 0; i < channel->ranges; i++) {
        const struct pct_script_range *range = &pct_script_ranges(channel)[i];
        const char *module = range->module ? pct_script_texts(channel) + range->module : "";
        if (strcmp(module, name) != 0 || (!range->module && !engine->self->same))
            continue;
        engine->ranges[i].from = info->dlpi_addr + range->from;
        engine->ranges[i].to = info->dlpi_addr + range->to;
    }
    return 0;
}

static uint32_t ranges_size(void)
{
    return (uint32_t)((the_channel->ranges + 1) * sizeof(struct pct_script_range) + 63) & ~63u;
}

static int start(void *state, struct pct_script_control *control, const char **why)
{
    struct pct_engine *engine = state;
    char *behind = (char *)(engine + 1);
    (void)why;
    engine->host = the_host;
    engine->channel = the_channel;
    engine->self = the_self;
    engine->said = the_self->number ? &the_channel->process[the_self->number - 1].said : &the_channel->said;
    memset(engine->said, 0, sizeof *engine->said); /* the process may have begun it as another program */
    engine->said->image = engine->self->image - 1;
    engine->control = control;
    engine->ranges = (void *)behind;
    engine->made = PCT_NO_THREAD;
    dl_iterate_phdr(find_module, engine);
    pct_arena_start(&engine->arena, behind + ranges_size(), ARENA);
    on_stack(engine, pct_engine_open_lua);
    return 0;
}

/* Also once the script is over. */
static uint32_t choose(void *state, uint32_t thread, uint32_t ways)
{
    return pct_given_choose(state, thread, ways);
}

static struct pct_script_engine the_engine = { .start = start,
                                               .turn = turn,
                                               .choose = choose,
                                               .chose = chose,
                                               .created = created,
                                               .is_stuck = pct_engine_is_stuck,
                                               .stuck = stuck,
                                               .spins = pct_engine_spins,
                                               .passed = pct_engine_passed,
                                               .calm = calm };

const struct pct_script_engine *pct_script_engine_open(const struct pct_script_host *host,
                                                       struct pct_script_channel *channel,
                                                       const struct pct_script_self *self)
{
    the_host = host;
    the_channel = channel;
    the_self = self;
    the_engine.state_size = (uint32_t)sizeof(struct pct_engine) + ranges_size() + ARENA;
    return &the_engine;
}
