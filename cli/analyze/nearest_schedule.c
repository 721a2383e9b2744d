/* The nearest failing schedule: see nearest_schedule.h. Code that was added before the place of a switch moves it by
 * some operations: so all switches of a thread, or of all threads, are moved alike, and each by itself, ever further.
 */
#include "nearest_schedule.h"
#include "queries.h"
#include <cli/base/list.h>
#include <cli/trace/switches.h>
#include <errno.h>
#include <stdlib.h>
#include <strategies/strategies.h>
#include <string.h>

enum { FURTHEST = 8 };

/* Which switches are moved: one, those of a thread, or all. */
struct group {
    enum { ONE, THREAD, ALL } kind;
    size_t item; /* the one, or one of the thread */
};

static bool is_in(const struct pct_switches *switches, const struct group *group, size_t i)
{
    return group->kind == ALL || i == group->item ||
           (group->kind == THREAD && switches->item[i].thread == switches->item[group->item].thread);
}

/* Where the search stands, and what it has found. */
struct search {
    struct pct_query_runs *runs;
    struct pct_switches switches;
    size_t next; /* the next way to move them: nearer ones come first */
    bool found;
};

/* The switches moved by this many operations, as a list; *list is NULL if that cannot be. Returns 0 or -ENOMEM. */
static int move(const struct search *s, const struct group *group, int by, char **list)
{
    const struct pct_switches *switches = &s->switches;
    struct pct_switches moved = { .item = calloc(switches->count + 1, sizeof *moved.item), .count = switches->count };
    bool possible = true;
    *list = NULL;
    if (!moved.item)
        return -ENOMEM;
    for (size_t i = 0; possible && i < switches->count; i++) {
        moved.item[i] = switches->item[i];
        if (!is_in(switches, group, i))
            continue;
        possible = by > 0 || moved.item[i].made > (uint32_t)-by;
        moved.item[i].made += (uint32_t)by;
    }
    for (size_t i = 0; possible && i < moved.count; i++)
        for (size_t j = 0; j < i && possible; j++)
            possible = moved.item[i].thread != moved.item[j].thread || moved.item[i].wake != moved.item[j].wake ||
                       moved.item[i].made > moved.item[j].made;
    *list = possible ? pct_switches_format(&moved, NULL) : NULL;
    free(moved.item);
    return possible && !*list ? -ENOMEM : 0;
}

static int ask(void *context, size_t number, struct pct_query *query)
{
    struct search *s = context;
    const size_t groups = 2 * s->switches.count + 1, ways = 2 * groups * FURTHEST;
    char *list = NULL;
    (void)number;
    while (!list && s->next < ways) {
        size_t way = s->next++, which = way / 2 % groups;
        int by = 1 + (int)(way / (2 * groups));
        struct group group = { .kind = which == groups - 1 ? ALL : which % 2 ? THREAD : ONE, .item = which / 2 };
        int failed = move(s, &group, way % 2 ? -by : by, &list);
        if (failed)
            return failed;
    }
    query->what = (struct pct_try){ .strategy = "schedule", .list = list, .seed = s->runs->config.run.seed };
    query->expected = 1;
    return list != NULL;
}

static enum pct_answer answer(void *context, size_t number, struct pct_query *query, struct pct_query_run *run)
{
    struct search *s = context;
    struct pct_failure failure;
    (void)number;
    if (!pct_failure_read(&failure, &run->result))
        return PCT_ANSWER_NEXT;
    s->found = true;
    free(s->runs->list);
    s->runs->list =
        pct_list_take(&s->runs->config, &pct_strategy_schedule, query->what.list) ? NULL : strdup(query->what.list);
    s->runs->config.has_hash = false;
    return PCT_ANSWER_STOP;
}

int pct_nearest_schedule_find(struct pct_query_runs *runs, bool *found)
{
    struct search s = { .runs = runs };
    struct pct_queries queries = { .ask = ask, .answer = answer, .context = &s };
    *found = false;
    char *list = pct_list_text(runs->list ? runs->list : runs->config.list);
    bool known = list && *list && !strcmp(runs->config.strategy, "schedule") && !pct_switches_parse(&s.switches, list);
    free(list);
    if (!known)
        return 0;
    pct_queries_step(runs, "looking for the nearest schedule that fails", 0);
    int failed = pct_queries_run(runs, &queries);
    pct_switches_free(&s.switches);
    *found = s.found;
    return failed;
}
