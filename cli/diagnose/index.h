/* What the rules ask of a whole history again and again, found once: so none of them goes through all of it for each of
 * its steps, and what a diagnosis takes grows as the run does. */
#ifndef PCT_CLI_INDEX_H
#define PCT_CLI_INDEX_H

#include <cli/base/table.h>

struct pct_history;
struct pct_moment;

/* Some of the steps, or of the holds, in order: as the first of an array. */
struct pct_group {
    const uint32_t *item;
    uint32_t count;
};

struct pct_groups {
    struct pct_table of; /* where each begins, and how many: by key */
    uint32_t *item;
};

/* The key of the group that this one belongs to; 0: none. */
typedef uint64_t pct_key_at(const struct pct_history *history, uint32_t i);

/* Group those below `count` by their keys. False: there is no memory. To be freed in any case. */
bool pct_groups_make(struct pct_groups *groups, const struct pct_history *history, uint32_t count, pct_key_at *key);
void pct_groups_free(struct pct_groups *groups);
struct pct_group pct_groups_find(const struct pct_groups *groups, uint64_t key);

struct pct_index {
    struct pct_groups steps; /* that were made, by class and object */
    struct pct_groups own;   /* by thread, a pending one too */
    struct pct_groups holds; /* by class and object */
    uint32_t *outer;         /* beside holds.item: the last of those before it that was held for longer, + 1; 0: none */
    struct pct_table tells;  /* a set: by whom which condition variables and barriers are notified */
    struct pct_table handed; /* a set: semaphores that are posted by who has nothing of them to give back */
    uint64_t *role;          /* by thread: pct_history_role() */
    uint64_t *took, *told;   /* by thread: mutexes and condition variables, as bits by number: the first 63 */
};

/* Make that of a history that has all its steps and holds, and fill in their fields that say so. Returns 0, or -ENOMEM.
 * To be freed in any case. */
int pct_index_make(struct pct_history *history);
void pct_index_free(struct pct_index *index);

/* The steps that were made on this object, and the holds of it. */
struct pct_group pct_history_on(const struct pct_history *history, unsigned class_, uint32_t object);
struct pct_group pct_history_sections(const struct pct_history *history, unsigned class_, uint32_t object);

/* Of steps, the place of the first behind this one; of holds, of the first that was taken there. */
uint32_t pct_group_behind(const struct pct_group *steps, uint32_t step);
uint32_t pct_sections_behind(const struct pct_history *history, const struct pct_group *holds, uint32_t step);

/* The first step of the thread behind this one, a pending one too. PCT_NO_STEP: there is none. */
uint32_t pct_history_next(const struct pct_history *history, uint32_t thread, uint32_t step);

/* How many steps of the thread come behind the first of these and not behind the last. */
uint32_t pct_history_own_steps(const struct pct_history *history, uint32_t thread, uint32_t first, uint32_t last);

/* What kind of thread this is, the same in all runs: the function that it starts with, and where it was made. 0: not
 * known. */
uint64_t pct_history_role(const struct pct_history *history, uint32_t thread);

/* Whether the thread has let those go on, at any time, that wait for the object of this step, a condition variable or a
 * barrier; and whether a step does so. */
bool pct_history_tells(const struct pct_history *history, uint32_t thread, const struct pct_moment *awaited);
bool pct_moment_tells(const struct pct_moment *moment);

#endif
