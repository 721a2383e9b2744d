/* The nearest failing schedule: see nearest.h. Code that was added before the place of a switch moves it by some operations: so all
 * switches of a thread, or of all threads, are moved alike, and each by itself, ever further. */
#include "nearest.h"
#include "switches.h"
#include <stdlib.h>
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

/* Try them moved by so many operations. Returns 0 or a status. */
static int try(struct pct_trials *trials, const struct pct_switches *switches, const struct group *group, int by,
               bool *found)
{
    static struct pct_trial trial;
    struct pct_failure failure;
    struct pct_switches moved = { .item = calloc(switches->count + 1, sizeof *moved.item), .count = switches->count };
    bool possible = moved.item;
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
    char *list = possible ? pct_switches_format(&moved, NULL) : NULL;
    free(moved.item);
    if (!list || strlen(list) >= sizeof trials->config.list) {
        free(list);
        return 0;
    }
    int failed = pct_trial_run(trials, &trial, "schedule", list, trials->config.run.seed, NULL);
    if (!failed) {
        *found = pct_failure_read(&failure, &trial.result);
        pct_trial_close(&trial);
    }
    if (*found) {
        strcpy(trials->config.list, list);
        trials->config.has_hash = false;
    }
    free(list);
    return failed;
}

int pct_nearest_find(struct pct_trials *trials, bool *found)
{
    struct pct_switches switches;
    *found = false;
    if (strcmp(trials->config.strategy, "schedule") != 0 || !trials->config.list[0] ||
        pct_switches_parse(&switches, trials->config.list))
        return 0;
    int failed = 0;
    for (int by = 1; by <= FURTHEST; by++)
        for (size_t i = 0; i < 2 * (2 * switches.count + 1) && !failed && !*found; i++) {
            size_t which = i / 2;
            struct group group = { .kind = which == 2 * switches.count ? ALL
                                           : which % 2                 ? THREAD
                                                                       : ONE,
                                   .item = which / 2 };
            failed = try(trials, &switches, &group, i % 2 ? -by : by, found);
        }
    pct_switches_free(&switches);
    return failed;
}
