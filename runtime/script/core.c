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

void pct_core_begin_to_say(lua_State *L, struct pct_engine *engine)
{
    engine->waited = true;
    if (pct_engine_is_meant(engine))
        return;
    lua_pushliteral(L, "");
    pct_engine_fail(L, PCT_SCRIPT_NEVER);
}

void pct_core_set_awaited(lua_State *L, struct pct_engine *engine, int awaited)
{
    struct pct_line line;
    pct_line_start(&line, engine->said->awaited, sizeof engine->said->awaited);
    pct_line_add_clean(&line, luaL_checkstring(L, awaited));
    engine->said->line = pct_engine_line(L);
}

/* The script waits from now on. awaited: what for, at this place of the stack. */
static int wait(lua_State *L, struct pct_engine *engine, int awaited)
{
    if (L != engine->script)
        return luaL_error(L, "a function that is asked of an event cannot let threads go on");
    pct_core_begin_to_say(L, engine);
    pct_core_set_awaited(L, engine, awaited);
    engine->request.waiting = true;
    return lua_yield(L, 0);
}

/* select(threads or nil, predicate, first or nil, awaited, tries): the first of these threads, or of those that were
 * never named, that is about to do what the predicate says; it stands there. Returns its id, or false: they have all
 * ended; with `tries` also where no thread can go on, and all of these then stand. */
static int select_thread(lua_State *L)
{
    struct pct_engine *engine = pct_engine_of(L);
    struct pct_request *request = &engine->request;
    memset(request, 0, sizeof *request);
    request->any = lua_isnoneornil(L, 1);
    request->tries = lua_toboolean(L, 5);
    request->predicate = pct_predicate_check(L, 2);
    pct_predicate_check_lines(L, request->predicate);
    pct_apart_begin(engine, request->predicate);
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

/* await_end(thread, awaited): until it has ended. */
static int await_end(lua_State *L)
{
    struct pct_engine *engine = pct_engine_of(L);
    uint32_t thread = check_thread(L, 1);
    memset(&engine->request, 0, sizeof engine->request);
    pct_apart_begin(engine, NULL);
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

/* The place of the next choice: several processes take them in turn. NULL: there is no room. */
static struct pct_script_choice *next_choice(struct pct_script_channel *channel, uint32_t *place)
{
    *place = __atomic_load_n(&channel->choices, __ATOMIC_SEQ_CST);
    while (*place < PCT_SCRIPT_CHOICES)
        if (__atomic_compare_exchange_n(&channel->choices, place, *place + 1, false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST))
            return &pct_script_choices(channel)[*place];
    return NULL;
}

/* What is planned for this choice, which is made at this place; NULL: nothing. */
static const struct pct_script_choice *find_planned(struct pct_script_channel *channel, uint32_t place,
                                                    const struct pct_script_choice *choice)
{
    const struct pct_script_choice *plan = pct_script_plan(channel);
    for (uint32_t i = 0; i < channel->planned; i++) {
        const struct pct_script_choice *planned = &plan[(place + i) % channel->planned];
        if (planned->process == choice->process && planned->number == choice->number)
            return planned;
    }
    return NULL;
}

bool pct_core_choose(struct pct_script_channel *channel, uint32_t process, struct pct_script_choice *choice)
{
    uint32_t place, *made = process ? &channel->process[process - 1].choices : &channel->own_choices;
    struct pct_script_choice *at = next_choice(channel, &place);
    if (!at)
        return false;
    choice->process = process;
    choice->number = (*made)++;
    const struct pct_script_choice *planned = find_planned(channel, place, choice);
    if (planned && planned->chosen < choice->of)
        choice->chosen = planned->chosen;
    else if (channel->seed)
        choice->chosen = (uint32_t)pct_random_below(channel->seed, PCT_STREAM_CHOOSE,
                                                    (uint64_t)process << 32 | choice->number, choice->of);
    *at = *choice;
    return true;
}

static int no_room(lua_State *L)
{
    return luaL_error(L, "there were %d choices: more than there is room for", PCT_SCRIPT_CHOICES);
}

/* A number of ways, at the first place of the stack; how many. */
static uint32_t check_ways(lua_State *L, lua_Integer of)
{
    luaL_argcheck(L, of >= 1 && of <= 65535, 1, "a choice is among 1 to 65535");
    pct_core_begin_to_say(L, pct_engine_of(L));
    return (uint32_t)of;
}

/* choose(n): a number from 1 to n. */
static int choose(lua_State *L)
{
    struct pct_script_choice choice = { .of = check_ways(L, luaL_checkinteger(L, 1)) };
    if (!pct_core_choose(pct_engine_of(L)->channel, pct_engine_of(L)->self->number, &choice))
        return no_room(L);
    lua_pushinteger(L, (lua_Integer)choice.chosen + 1);
    return 1;
}

/* The id at place i of the list at this place of the stack. */
static uint32_t id_of(lua_State *L, int list, lua_Integer i)
{
    lua_geti(L, list, i);
    uint32_t id = check_thread(L, -1);
    lua_pop(L, 1);
    return id;
}

/* The threads of this list, as bits; 0: one is not among the first. */
static uint64_t mask_of(lua_State *L, int list)
{
    uint64_t mask = 0;
    for (lua_Integer i = 1; i <= luaL_len(L, list); i++) {
        uint32_t id = id_of(L, list, i);
        if (id >= PCT_SCRIPT_TURN_THREADS)
            return 0;
        mask |= UINT64_C(1) << id;
    }
    return mask;
}

/* The place in the list of the thread that was chosen last, if it could go on; of: it is not there, or could not. */
static uint32_t place_of_last(lua_State *L, const struct pct_engine *engine, uint32_t of)
{
    struct pct_script_look look;
    for (uint32_t i = 0; i < of && engine->chosen; i++)
        if (id_of(L, 1, i + 1) + 1 == engine->chosen && engine->host->look(engine->chosen - 1, &look) && look.ready)
            return i;
    return of;
}

/* What stands beside a choice that is not PLAIN. */
static void look_around(const struct pct_engine *engine, struct pct_script_choice *choice)
{
    const struct pct_rank_set *held = &engine->control->held;
    choice->at = pct_script_log(engine->channel)->log_count;
    choice->let = engine->let + engine->control->let;
    for (uint32_t t = 0; t < PCT_SCRIPT_TURN_THREADS; t++)
        choice->stand |= (uint64_t)pct_rank_set_has(held, t) << t;
}

/* A choice that --all=dpor may leave out, between the threads of the list at the first place. Returns whether it is. */
static bool make_turn(lua_State *L, struct pct_script_channel *channel, struct pct_script_choice *choice)
{
    choice->list = mask_of(L, 2);
    choice->able = mask_of(L, 1);
    if (!choice->list || !choice->able || choice->of > PCT_SCRIPT_TURN_MOST) {
        channel->wholes |= 1u << PCT_SCRIPT_WHOLE_MANY;
        return false;
    }
    for (uint32_t i = choice->of; i--;) {
        choice->thread[i] = (uint8_t)id_of(L, 1, i + 1);
        if (!(channel->avoid >> choice->thread[i] & 1))
            choice->chosen = i;
    }
    choice->kind = PCT_SCRIPT_CHOICE_TURN;
    look_around(pct_engine_of(L), choice);
    return true;
}

/* choose_thread(able, list, why): one of the threads `able`, by its place; they are those of `list` that can go on.
 * why: what keeps --all=dpor from leaving it out (enum pct_script_whole), or nil. */
static int choose_thread(lua_State *L)
{
    struct pct_engine *engine = pct_engine_of(L);
    struct pct_script_channel *channel = engine->channel;
    struct pct_script_choice choice = { .of = check_ways(L, luaL_len(L, 1)) };
    uint32_t last = place_of_last(L, engine, choice.of);
    bool bounded = channel->bound && last < choice.of;
    if (!lua_isnoneornil(L, 3) && choice.of > 1)
        channel->wholes |= 1u << luaL_checkinteger(L, 3);
    if (channel->log && lua_isnoneornil(L, 3) && !make_turn(L, channel, &choice))
        choice = (struct pct_script_choice){ .of = choice.of };
    if (bounded)
        choice.chosen = last;
    /* With no preemption left there is one way, and it is no choice. */
    if (!(bounded && engine->preemptions + 1 >= channel->bound) &&
        !pct_core_choose(channel, engine->self->number, &choice))
        return no_room(L);
    engine->preemptions += last < choice.of && choice.chosen != last;
    engine->chosen = id_of(L, 1, choice.chosen + 1) + 1;
    lua_pushinteger(L, (lua_Integer)choice.chosen + 1);
    return 1;
}

/* turns_end(): behind turns that --all=dpor may change the order of. */
static int turns_end(lua_State *L)
{
    struct pct_script_channel *channel = pct_engine_of(L)->channel;
    if (!channel->log)
        return 0;
    struct pct_script_choice end = { .of = 1, .kind = PCT_SCRIPT_CHOICE_TURNS_END };
    look_around(pct_engine_of(L), &end);
    return pct_core_choose(channel, pct_engine_of(L)->self->number, &end) ? 0 : no_room(L);
}

/* moves(predicate): whether what others do may change its answer. */
static int moves(lua_State *L)
{
    lua_pushboolean(L, pct_predicate_check(L, 1)->moved != 0);
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
    if (pct_engine_of(L)->apart.asking)
        pct_apart_push_event(L, thread, &look);
    else
        pct_core_push_event(L, thread, &look);
    return 1;
}

/* able(thread): whether it is not blocked; nil: it has ended. As look(), for many threads. */
static int able(lua_State *L)
{
    struct pct_script_look look;
    pct_engine_of(L)->host->look(check_thread(L, 1), &look);
    if (look.finished)
        lua_pushnil(L);
    else
        lua_pushboolean(L, look.ready);
    return 1;
}

/* holds(thread, predicate): whether it stands there. */
static int holds(lua_State *L)
{
    struct pct_script_look look;
    uint32_t thread = check_thread(L, 1);
    const struct pct_predicate *predicate = pct_predicate_check(L, 2);
    pct_engine_of(L)->host->look(thread, &look);
    pct_apart_note(pct_engine_of(L), thread, 0);
    lua_pushboolean(L, !look.finished && pct_predicate_holds(pct_engine_of(L), L, predicate, thread, &look));
    return 1;
}

/* A function of the script's asks for what stands here. own: in memory that stays for the whole run. */
static void note_value(struct pct_engine *engine, uint64_t from, uint64_t size, bool own)
{
    uint64_t word = from & ~UINT64_C(7);
    if (!engine->apart.asking)
        return;
    bool fits = from % 8 + size <= 8 && (own || pct_predicate_stays(engine, word));
    pct_apart_note_word(engine, fits ? (const uint64_t *)(uintptr_t)word : NULL, !own);
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
    /* Libraries that are there from the start stay, too: a process that another has made may have others. */
    bool own = !name->pointers && !(engine->self->number && pct_script_ranges(engine->channel)[name->first].module);
    int64_t number = 0;
    if (name->pointers) {
        pct_predicate_note_way(engine, name);
        from = pct_predicate_behind(engine, name);
    }
    if (from)
        note_value(engine, from, size, own);
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

bool pct_core_only_looks(lua_CFunction function)
{
    return function == look_at || function == holds || function == value;
}

/* --- Several processes -------------------------------------------------------------------------------------------- */

/* Whether this line is for this process. */
static bool means(const struct pct_engine *engine, const struct pct_script_part *part)
{
    if (!engine->self->number)
        return false;
    return part->number ? part->number == engine->self->number : !strcmp(part->program, engine->self->program);
}

/* The next line for another process, as the first process finds it: at the first place of the stack is which. */
static void add_part(lua_State *L, const struct pct_engine *engine, struct pct_script_part *part)
{
    const struct pct_script_part *first = engine->channel->part;
    struct pct_line line;
    memset(part, 0, sizeof *part);
    part->line = pct_engine_line(L);
    pct_line_start(&line, part->program, sizeof part->program);
    if (lua_type(L, 1) == LUA_TSTRING)
        pct_line_add(&line, lua_tostring(L, 1));
    else
        part->number = (uint32_t)lua_tointeger(L, 1);
    for (const char *at = part->program; *at; at++)
        luaL_argcheck(L, *at != '/' && (unsigned char)*at >= ' ', 1, "programs have names without directories");
    for (const struct pct_script_part *other = first; other < part; other++)
        if (other->number == part->number && !strcmp(other->program, part->program))
            luaL_error(L, "process: line %d is for that one already", (int)other->line);
    engine->channel->parts = engine->parts;
}

/* process(which): whether what follows is for this process: which is its number, from 1 on, or its program. The first
 * process learns that there may be one. */
static int process(lua_State *L)
{
    struct pct_engine *engine = pct_engine_of(L);
    struct pct_script_channel *channel = engine->channel;
    if (channel->log)
        return luaL_error(L, "process: --all=dpor is for a single process; --all makes all ways of several");
    if (engine->waited)
        return luaL_error(L, "process: lines for other processes come before the first that says what threads do");
    luaL_argcheck(L, lua_type(L, 1) == LUA_TSTRING || (luaL_checkinteger(L, 1) > 0 && lua_tointeger(L, 1) < INT32_MAX),
                  1, "a number from 1 on, or the name of a program");
    if (engine->parts == PCT_SCRIPT_PARTS)
        return luaL_error(L, "process: there is room for %d lines", PCT_SCRIPT_PARTS);
    struct pct_script_part *part = &channel->part[engine->parts++];
    if (!engine->self->number)
        add_part(L, engine, part);
    engine->meant = means(engine, part);
    if (engine->meant)
        __atomic_store_n(&part->begun, 1, __ATOMIC_SEQ_CST);
    for (uint32_t i = engine->parts; engine->meant && i < channel->parts; i++)
        if (means(engine, &channel->part[i]))
            __atomic_store_n(&channel->part[i].taken, part->line, __ATOMIC_SEQ_CST);
    lua_pushboolean(L, engine->meant);
    return 1;
}

/* fail(kind, message, awaited): the end of the script; awaited: what the line wants, where it does not fit. */
static int fail(lua_State *L)
{
    static const char *const kinds[] = { "assertion", "fit", "wrong", "ended", NULL };
    static const enum pct_script_outcome outcomes[] = { PCT_SCRIPT_ASSERTION, PCT_SCRIPT_DID_NOT_FIT, PCT_SCRIPT_WRONG,
                                                        PCT_SCRIPT_ENDED };
    enum pct_script_outcome outcome = outcomes[luaL_checkoption(L, 1, NULL, kinds)];
    luaL_checkstring(L, 2);
    if (outcome == PCT_SCRIPT_DID_NOT_FIT)
        pct_core_set_awaited(L, pct_engine_of(L), 3);
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
                                          { "choose_thread", choose_thread },
                                          { "chooses", pct_given_add },
                                          { "turns_end", turns_end },
                                          { "moves", moves },
                                          { "look", look_at },
                                          { "able", able },
                                          { "holds", holds },
                                          { "value", value },
                                          { "process", process },
                                          { "post", pct_board_post },
                                          { "await_post", pct_board_await },
                                          { "fail", fail },
                                          { NULL, NULL } };
    luaL_setfuncs(L, functions, 0);
}
