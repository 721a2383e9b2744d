/* The neighbours of a schedule: see neighbours.h. */
#include "neighbours.h"
#include <string.h>

/* The parameter of this name, or NULL. */
static uint64_t *find(struct pct_config *config, const struct pct_strategy *strategy, const char *name)
{
    for (unsigned i = 0; strategy->params && i < PCT_MAX_PARAMS && strategy->params[i].name; i++)
        if (!strcmp(strategy->params[i].name, name))
            return &config->run.param[i];
    return NULL;
}

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
    if (!s.later || !s.earlier || !s.only)
        return s;
    if (depth)
        points = *depth ? *depth - 1 : 1; /* of depth=auto, how many there are is not known here */
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
    /* A schedule that is a neighbour itself moves on with the same points. */
    if (group)
        *s.only = group;
    uint64_t *more = later ? s.later : s.earlier, *less = later ? s.earlier : s.later;
    uint64_t taken = *less < steps ? *less : steps;
    *less -= taken;
    *more += steps - taken;
    if (*s.only)
        snprintf(what, size, "change point %llu, %llu step%s %s", (unsigned long long)*s.only,
                 (unsigned long long)steps, steps > 1 ? "s" : "", later ? "later" : "earlier");
    else
        snprintf(what, size, "all change points %llu step%s %s", (unsigned long long)steps, steps > 1 ? "s" : "",
                 later ? "later" : "earlier");
}
