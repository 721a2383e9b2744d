/* Choices of the program's, by pct_choose(): those that the script gives, by chooses(), and the others, which stand
 * among its own. */
#include "engine.h"
#include <lauxlib.h>

static void add_wanted(struct pct_line *line, uint32_t thread, uint32_t way)
{
    pct_line_add_thread(line, thread);
    pct_line_add(line, " to choose ");
    pct_line_add_number(line, way);
}

/* What is left is to be seen from outside: the program may end at any time. */
static void tell(struct pct_engine *engine)
{
    const struct pct_given *given = &engine->given;
    struct pct_line line;
    uint32_t i = 0;
    while (i < given->count && given->item[i].thread == PCT_NO_THREAD)
        i++;
    engine->said->given = i < given->count ? given->item[i].line : 0;
    if (i == given->count)
        return;
    pct_line_start(&line, engine->said->wanted, sizeof engine->said->wanted);
    add_wanted(&line, given->item[i].thread, given->item[i].way);
}

int pct_given_add(lua_State *L)
{
    struct pct_engine *engine = pct_engine_of(L);
    struct pct_given *given = &engine->given;
    lua_Integer thread = luaL_checkinteger(L, 1);
    luaL_argcheck(L, thread >= 0 && thread < (lua_Integer)PCT_MAX_THREADS, 1, "a thread is wanted, or its number");
    pct_core_begin_to_say(L, engine);
    for (int i = 2; i <= lua_gettop(L); i++) {
        lua_Integer way = luaL_checkinteger(L, i);
        luaL_argcheck(L, way >= 0 && way < 65535, i, "pct_choose() returns numbers from 0 to 65534");
        if (given->count == PCT_GIVEN)
            return luaL_error(L, "chooses: there is room for %d numbers", PCT_GIVEN);
        given->item[given->count].thread = (uint32_t)thread;
        given->item[given->count].line = pct_engine_line(L);
        given->item[given->count++].way = (uint32_t)way;
    }
    tell(engine);
    return 0;
}

/* The next that is given for this thread; NULL: none is. */
static struct pct_given_item *take(struct pct_given *given, uint32_t thread)
{
    for (uint32_t i = 0; i < given->count; i++)
        if (given->item[i].thread == thread) {
            given->item[i].thread = PCT_NO_THREAD;
            return &given->item[i];
        }
    return NULL;
}

static void refuse(struct pct_engine *engine, const struct pct_given_item *item, uint32_t thread, uint32_t ways)
{
    struct pct_line line;
    char text[sizeof engine->said->message];
    if (engine->said->outcome != PCT_SCRIPT_UNDER_WAY && engine->said->outcome != PCT_SCRIPT_ENDED)
        return;
    pct_line_start(&line, engine->said->awaited, sizeof engine->said->awaited);
    add_wanted(&line, thread, item->way);
    pct_line_start(&line, text, sizeof text);
    pct_line_add(&line, "it calls pct_choose(");
    pct_line_add_number(&line, ways);
    pct_line_add(&line, ")");
    engine->said->line = item->line;
    pct_engine_end(engine, PCT_SCRIPT_DID_NOT_FIT, text);
}

uint32_t pct_given_choose(struct pct_engine *engine, uint32_t thread, uint32_t ways)
{
    struct pct_script_choice choice = { .of = ways };
    struct pct_line line;
    const struct pct_given_item *item = take(&engine->given, thread);
    const bool fits = item && item->way < (ways ? ways : 1);
    if (item)
        tell(engine);
    if (item && !fits)
        refuse(engine, item, thread, ways);
    if (ways < 2)
        return 0;
    if (fits) {
        choice.chosen = item->way;
    } else if (!pct_core_choose(engine->channel, engine->self->number, &choice)) {
        engine->said->outcome = PCT_SCRIPT_WRONG;
        pct_line_start(&line, engine->said->message, sizeof engine->said->message);
        pct_line_add(&line, "the program made more choices by pct_choose() than there is room for");
        return 0;
    }
    engine->host->record(PCT_SCRIPT_SWITCH_CHOICE, choice.chosen, UINT64_MAX);
    return choice.chosen;
}
