/* The board between processes: places with a name and a value, in the channel, which they post and await. */
#include "engine.h"
#include <lauxlib.h>
#include <string.h>

/* The place of the board with this name; NULL: nobody has posted it. */
static const struct pct_script_post *find_post(const struct pct_script_channel *channel, const char *name)
{
    uint32_t count = __atomic_load_n(&channel->posts, __ATOMIC_SEQ_CST);
    for (uint32_t i = 0; i < count && i < PCT_SCRIPT_POSTS; i++)
        if (__atomic_load_n(&channel->post[i].there, __ATOMIC_SEQ_CST) && !strcmp(channel->post[i].name, name))
            return &channel->post[i];
    return NULL;
}

static const char *check_post(lua_State *L)
{
    size_t length;
    const char *name = luaL_checklstring(L, 1, &length);
    if (length >= PCT_SCRIPT_POST_NAME)
        luaL_error(L, "names on the board have at most %d bytes", PCT_SCRIPT_POST_NAME - 1);
    return name;
}

static void tell(struct pct_engine *engine)
{
    __atomic_fetch_add(&engine->channel->posted, 1, __ATOMIC_SEQ_CST);
    engine->host->wake(&engine->channel->posted);
}

int pct_board_post(lua_State *L)
{
    struct pct_engine *engine = pct_engine_of(L);
    const char *name = check_post(L);
    lua_Integer value = luaL_optinteger(L, 2, 0);
    struct pct_line line;
    pct_core_begin_to_say(L, engine);
    if (find_post(engine->channel, name))
        return luaL_error(L, "board.post: '%s' has been posted already", name);
    uint32_t i = __atomic_fetch_add(&engine->channel->posts, 1, __ATOMIC_SEQ_CST);
    if (i >= PCT_SCRIPT_POSTS)
        return luaL_error(L, "board.post: there is room for %d names", PCT_SCRIPT_POSTS);
    struct pct_script_post *at = &engine->channel->post[i];
    pct_line_start(&line, at->name, sizeof at->name);
    pct_line_add(&line, name);
    at->value = value;
    engine->host->record(PCT_SCRIPT_SWITCH_POST, i, UINT64_MAX);
    __atomic_store_n(&at->there, 1, __ATOMIC_SEQ_CST);
    tell(engine);
    return 0;
}

/* --- Waits in vain ------------------------------------------------------------------------------------------------ */

/* It may not have seen yet that what it waits for is there. */
static bool waits(const struct pct_script_channel *channel, const struct pct_script_said *said)
{
    return __atomic_load_n(&said->waits, __ATOMIC_SEQ_CST) && !find_post(channel, said->place);
}

static bool may_post(const struct pct_script_channel *channel, const struct pct_script_said *said)
{
    return !__atomic_load_n(&said->over, __ATOMIC_SEQ_CST) && !waits(channel, said);
}

/* Whether a process has lines that it may come to, or one may be made that has: they may post something. */
static bool somebody_may_post(const struct pct_script_channel *channel)
{
    uint32_t processes = __atomic_load_n(&channel->processes, __ATOMIC_SEQ_CST);
    bool may = may_post(channel, &channel->said);
    for (uint32_t i = 0; i < processes && i < PCT_SCRIPT_PROCESSES; i++)
        may |= may_post(channel, &channel->process[i].said);
    for (uint32_t i = 0; i < channel->parts; i++)
        may |= !__atomic_load_n(&channel->part[i].begun, __ATOMIC_SEQ_CST);
    return may;
}

static bool somebody_waits(const struct pct_script_channel *channel)
{
    uint32_t processes = __atomic_load_n(&channel->processes, __ATOMIC_SEQ_CST);
    bool is = waits(channel, &channel->said);
    for (uint32_t i = 0; i < processes && i < PCT_SCRIPT_PROCESSES; i++)
        is |= waits(channel, &channel->process[i].said);
    return is;
}

/* A place without a name, for the replay alone: what waits for it waits for nothing else. PCT_SCRIPT_POSTS: none is
 * left. */
static uint32_t take_place(const struct pct_engine *engine)
{
    uint32_t place = __atomic_fetch_add(&engine->channel->posts, 1, __ATOMIC_SEQ_CST);
    return place < PCT_SCRIPT_POSTS ? place : PCT_SCRIPT_POSTS;
}

/* Whoever waits does so in vain, and shall say so, however soon this process goes on. In a replay, it waits for this
 * place. */
static void end_waits(struct pct_engine *engine, uint32_t place)
{
    uint32_t not_yet = 0;
    if (__atomic_compare_exchange_n(&engine->channel->deadlocked, &not_yet, place + 1, false, __ATOMIC_SEQ_CST,
                                    __ATOMIC_SEQ_CST))
        tell(engine);
}

/* Likewise, as this process has come here: a replay does it at the same point. That is the last at which the script was
 * asked: from a loop this process may come to no other. */
static void end_waits_here(struct pct_engine *engine)
{
    uint32_t place = take_place(engine);
    engine->host->record(PCT_SCRIPT_SWITCH_POST, place, engine->said->came);
    end_waits(engine, place);
}

void pct_board_leave(struct pct_engine *engine)
{
    struct pct_script_channel *channel = engine->channel;
    __atomic_store_n(&engine->said->over, 1, __ATOMIC_SEQ_CST);
    if (somebody_waits(channel) && !__atomic_load_n(&channel->deadlocked, __ATOMIC_SEQ_CST) &&
        !somebody_may_post(channel))
        end_waits_here(engine);
}

bool pct_board_minds(const struct pct_engine *engine, struct pct_calm *calm)
{
    const struct pct_script_channel *channel = engine->channel;
    uint64_t waited = __atomic_load_n(&channel->waited, __ATOMIC_SEQ_CST);
    return !channel->parts || (!somebody_waits(channel) && pct_calm_mind_word(calm, &channel->waited, waited));
}

/* --- Waiting ------------------------------------------------------------------------------------------------------ */

/* Until the place is there, which is returned. NULL: it will not be, as *how says. */
static const struct pct_script_post *await(struct pct_engine *engine, const char *name, enum pct_script_await *how,
                                           struct pct_script_runner *runner)
{
    struct pct_script_channel *channel = engine->channel;
    const struct pct_script_post *found;
    *how = PCT_SCRIPT_AWAIT_CHANGED;
    for (;;) {
        uint32_t posted = __atomic_load_n(&channel->posted, __ATOMIC_SEQ_CST);
        if ((found = find_post(channel, name)) || *how != PCT_SCRIPT_AWAIT_CHANGED)
            return found;
        bool ended = __atomic_load_n(&channel->deadlocked, __ATOMIC_SEQ_CST);
        if (!ended && !somebody_may_post(channel))
            end_waits_here(engine);
        else if (!ended)
            *how = engine->host->await(&channel->posted, posted, runner);
        else
            *how = PCT_SCRIPT_AWAIT_VAIN;
    }
}

/* A replay goes on where this process did, once the other one has come to the point behind which it came to no other.
 */
static void record_runner(struct pct_engine *engine, const struct pct_script_runner *runner)
{
    uint32_t place = take_place(engine);
    if (place < PCT_SCRIPT_POSTS)
        engine->host->record_of(runner, PCT_SCRIPT_SWITCH_POST, place);
    engine->host->record(PCT_SCRIPT_SWITCH_WAIT, place, UINT64_MAX);
}

/* Nobody can post it: perhaps as the process that a line is for was not made yet, by this one, which stands. */
static void add_why(const struct pct_script_channel *channel, struct pct_line *line)
{
    uint32_t i = 0;
    pct_line_add(line, "no other process can post that: ");
    while (i < channel->parts && i < PCT_SCRIPT_PARTS && __atomic_load_n(&channel->part[i].begun, __ATOMIC_SEQ_CST))
        i++;
    if (i >= channel->parts || i >= PCT_SCRIPT_PARTS) {
        pct_line_add(line, "each has ended, or waits, too");
        return;
    }
    pct_line_add(line, "the one that line ");
    pct_line_add_number(line, channel->part[i].line);
    pct_line_add(line, " is for was not made yet; if this one makes it, a line before must let it go on "
                       "beyond its does \"fork\"");
}

static int give_up(lua_State *L, struct pct_engine *engine, enum pct_script_await how,
                   const struct pct_script_runner *runner)
{
    const struct pct_script_channel *channel = engine->channel;
    struct pct_line line;
    char text[sizeof engine->said->message];
    pct_line_start(&line, text, sizeof text);
    if (how == PCT_SCRIPT_AWAIT_RUNS) {
        record_runner(engine, runner);
        pct_line_add(&line, runner->text);
        pct_line_add(&line, "; if it waits for this process, let that go on first; if it computes, a larger "
                            "PCT_WATCHDOG (milliseconds; the script waits for six times that) gives it time");
    } else {
        end_waits(engine, PCT_SCRIPT_POSTS);
        engine->host->record(PCT_SCRIPT_SWITCH_WAIT, channel->deadlocked - 1, UINT64_MAX);
        engine->said->vain = 1;
        add_why(channel, &line);
    }
    lua_pushstring(L, text);
    return pct_engine_fail(L, PCT_SCRIPT_DID_NOT_FIT);
}

int pct_board_await(lua_State *L)
{
    struct pct_engine *engine = pct_engine_of(L);
    struct pct_script_channel *channel = engine->channel;
    const char *name = check_post(L);
    struct pct_script_runner runner;
    struct pct_line line;
    enum pct_script_await how;
    pct_core_begin_to_say(L, engine);
    pct_core_set_awaited(L, engine, 2);
    pct_line_start(&line, engine->said->place, sizeof engine->said->place);
    pct_line_add(&line, name);
    __atomic_store_n(&engine->said->waits, 1, __ATOMIC_SEQ_CST);
    __atomic_fetch_add(&channel->waited, 1, __ATOMIC_SEQ_CST);
    const struct pct_script_post *found = await(engine, name, &how, &runner);
    __atomic_store_n(&engine->said->waits, 0, __ATOMIC_SEQ_CST);
    if (!found)
        return give_up(L, engine, how, &runner);
    engine->host->record(PCT_SCRIPT_SWITCH_WAIT, (uint32_t)(found - channel->post), UINT64_MAX);
    pct_engine_note(engine, 0);
    lua_pushinteger(L, (lua_Integer)found->value);
    return 1;
}
