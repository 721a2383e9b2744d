/* Strategies that are another one in each run: portfolio.c and mixture.c.
 *
 * The run is that of the member, with the same seed. Parameters go to the member's of the same name, and those that
 * the strategy has not are at their defaults. */
#ifndef PCT_STRATEGIES_MEMBERS_H
#define PCT_STRATEGIES_MEMBERS_H

#include <pct/strategy.h>
#include <stddef.h>

/* The member's state follows. */
struct pct_members {
    const struct pct_strategy *member;
    _Alignas(64) char inner[];
};

/* state_size() and start() of such a strategy, whose parameters are `params`, in a run of this member. */
uint32_t pct_members_size(const struct pct_strategy *member, const struct pct_param *params, const struct pct_run *run);
int pct_members_start(const struct pct_strategy *member, const struct pct_param *params, void *state,
                      const struct pct_run *run, const char **why);

/* The other functions, of struct pct_strategy: the member's. */
void pct_members_created(void *state, uint32_t thread);
void pct_members_announce(void *state, uint32_t thread, const struct pct_operation *next);
void pct_members_enable(void *state, uint32_t thread);
void pct_members_disable(void *state, uint32_t thread);
void pct_members_enable_all(void *state, const uint16_t *threads, uint32_t count);
void pct_members_disable_all(void *state, const uint16_t *threads, uint32_t count);
struct pct_choice pct_members_pick(void *state, const struct pct_point *point);
uint32_t pct_members_choose(void *state, uint32_t waiters, uint64_t step);
void pct_members_spinning(void *state, uint32_t thread, uint64_t spins);
void pct_members_final_wait(void *state, uint32_t thread);
void pct_members_role(void *state, uint32_t thread, uint32_t role);

#define PCT_MEMBERS_FUNCTIONS                                                                                          \
    .created = pct_members_created, .announce = pct_members_announce, .enable = pct_members_enable,                    \
    .disable = pct_members_disable, .pick = pct_members_pick, .choose = pct_members_choose,                            \
    .spinning = pct_members_spinning, .final_wait = pct_members_final_wait, .enable_all = pct_members_enable_all,      \
    .disable_all = pct_members_disable_all, .role = pct_members_role

#endif
