/* The neighbours of a schedule: see neighbours.h. */
#include "neighbours.h"
#include <cli/trace/switches.h>
#include <common/list.h>
#include <stdio.h>
#include <stdlib.h>
#include <strategies/depth_param.h>
#include <strategies/strategies.h>
#include <string.h>

/* The parameter of this name, or NULL. */
static uint64_t *find(struct pct_config *config, const struct pct_strategy *strategy, const char *name)
{
    for (unsigned i = 0; strategy->params && i < PCT_MAX_PARAMS && strategy->params[i].name; i++)
        if (!strcmp(strategy->params[i].name, name))
            return &config->run.param[i];
    return NULL;
}

/* --- Lists of switches, T.N.U (strategies/schedule.c): N is a number of operations that thread T has made ------------
 */

static bool has_switches(const struct pct_config *config, const struct pct_strategy *strategy)
{
    return strategy->list && !strcmp(strategy->list, "switches") && *config->list != PCT_LIST_PACKED;
}

/* A wake, T.N.wI, is no switch. Returns where the next item begins, NULL after the last. */
static const char *next_item(const char *item, bool *is_switch)
{
    size_t length = strcspn(item, "-");
    *is_switch = !memchr(item, 'w', length);
    return item[length] ? item + length + 1 : NULL;
}

static uint64_t count_switches(const char *list)
{
    uint64_t count = 0;
    bool is_switch;
    for (const char *at = *list ? list : NULL; at; count += is_switch)
        at = next_item(at, &is_switch);
    return count;
}

/* Whether this item comes behind all before it of its kind and thread, as they must. */
static bool is_in_order(const char *list, const char *item)
{
    unsigned long thread = strtoul(item, NULL, 10), count = strtoul(strchr(item, '.') + 1, NULL, 10);
    bool kind, other;
    next_item(item, &kind);
    for (const char *at = list; at < item;) {
        const char *before = at;
        at = next_item(at, &other);
        if (other == kind && strtoul(before, NULL, 10) == thread && strtoul(strchr(before, '.') + 1, NULL, 10) >= count)
            return false;
    }
    return true;
}

/* Move all switches of the list (group 0), or the one of this number. Where they would meet, or come before the first
 * operation, the list stays as it is. */
static void move_switches(char *list, uint64_t group, bool later, uint64_t steps)
{
    char moved[PCT_LIST_MAX] = "";
    uint64_t number = 0;
    size_t used = 0;
    for (const char *at = list; at;) {
        const char *item = at, *value = strchr(item, '.') + 1;
        bool is_switch;
        at = next_item(item, &is_switch);
        number += is_switch;
        uint64_t count = strtoul(value, NULL, 10);
        if (is_switch && (!group || group == number))
            count = later ? count + steps : count > steps ? count - steps : 0;
        const char *rest = strchr(value, '.');
        int length = snprintf(moved + used, sizeof moved - used, "%.*s%llu%.*s", (int)(value - item), item,
                              (unsigned long long)count, (int)(strcspn(rest, "-") + (at ? 1 : 0)), rest);
        if (!count || count > UINT32_MAX || (size_t)length >= sizeof moved - used || !is_in_order(moved, moved + used))
            return;
        used += (size_t)length;
    }
    memcpy(list, moved, sizeof moved);
}

/* --- Schedules ---------------------------------------------------------------------------------------------------- */

/* Where the points of this schedule can be moved, and how they are. */
struct shift {
    uint64_t *later, *earlier, *only;
    uint64_t groups; /* that are moved: all points, then each by itself */
};

static struct shift find_shift(struct pct_config *config, const struct pct_strategy *strategy)
{
    struct shift s = { .later = find(config, strategy, "later"),
                       .earlier = find(config, strategy, "earlier"),
                       .only = find(config, strategy, "only") };
    const uint64_t *depth = find(config, strategy, "depth"), *bound = find(config, strategy, "bound");
    uint64_t points = 0;
    if (has_switches(config, strategy)) {
        points = count_switches(config->list);
        s.groups = points > 1 ? points + 1 : points;
        return s;
    }
    if (!s.later || !s.earlier || !s.only)
        return s;
    if (depth)
        points = pct_depth_of_run(*depth, config->run.seed) - 1;
    if (bound && *bound > points)
        points = *bound;
    bool moved = *s.later || *s.earlier;
    s.groups = points > 1 && !moved ? points + 1 : points > 0;
    return s;
}

uint64_t pct_neighbours_count(const struct pct_config *config, const struct pct_strategy *strategy, uint64_t near)
{
    struct pct_config copy = *config;
    return 1 + 2 * near * find_shift(&copy, strategy).groups;
}

bool pct_neighbours_take_switches(struct pct_config *config, const struct pct_strategy **strategy,
                                  const struct pct_trace *trace)
{
    struct pct_switches switches = { 0 };
    if ((*strategy)->list || strchr(config->strategy, '/') || !strcmp(config->strategy, "none") ||
        find(config, pct_strategy_member(*strategy, config->run.seed), "later") ||
        pct_switches_from_trace(&switches, trace))
        return false;
    char *list = switches.count ? pct_switches_format(&switches, NULL) : NULL;
    struct pct_config made = *config;
    made.run = (struct pct_run){ .seed = config->run.seed };
    made.end = (uint8_t)pct_end_of_run(config->end, config->run.seed);
    bool fits = pct_switches_configure(&made, list);
    if (fits) {
        *config = made;
        *strategy = &pct_strategy_schedule;
    }
    free(list);
    pct_switches_free(&switches);
    return fits;
}

void pct_neighbours_get(struct pct_config *config, const struct pct_strategy *strategy, uint64_t number, char *what,
                        size_t size)
{
    struct shift s = find_shift(config, strategy);
    if (!number || !s.groups) {
        snprintf(what, size, "the schedule itself");
        return;
    }
    uint64_t place = number - 1, steps = place / (2 * s.groups) + 1, group = place / 2 % s.groups;
    bool later = place % 2;
    const char *plural = steps > 1 ? "s" : "", *where = later ? "later" : "earlier";
    if (!s.later || !s.earlier || !s.only) {
        move_switches(config->list, group, later, steps);
        if (group)
            snprintf(what, size, "switch %llu, %llu operation%s %s", (unsigned long long)group,
                     (unsigned long long)steps, plural, where);
        else
            snprintf(what, size, "all switches %llu operation%s %s", (unsigned long long)steps, plural, where);
        return;
    }
    /* A schedule that is a neighbour itself moves on with the same points. */
    if (group)
        *s.only = group;
    uint64_t *more = later ? s.later : s.earlier, *less = later ? s.earlier : s.later;
    uint64_t taken = *less < steps ? *less : steps;
    *less -= taken;
    *more += steps - taken;
    if (*s.only)
        snprintf(what, size, "change point %llu, %llu step%s %s", (unsigned long long)*s.only,
                 (unsigned long long)steps, plural, where);
    else
        snprintf(what, size, "all change points %llu step%s %s", (unsigned long long)steps, plural, where);
}
