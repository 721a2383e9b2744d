/* Explored runs on the simulated host, one by one: by brute force, all schedules, or those that the search asks for. */
#ifndef PCT_TESTS_EXPLORED_H
#define PCT_TESTS_EXPLORED_H

/* clang-format off: cmocka.h needs these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "simhost.h"
#include <cli/explore/dependence.h>
#include <cli/explore/estimate.h>
#include <cli/explore/explored.h>
#include <cli/explore/order.h>
#include <cli/explore/search.h>
#include <pct/random.h>
#include <stdlib.h>
#include <strategies/strategies.h>
#include <string.h>

enum { EXPLORED_PLAN = 512, EXPLORED_LOG = 1 << 14, EXPLORED_AREA = 1 << 9, EXPLORED_STEPS = 400 };

/* A set of hashes. */
struct hashes {
    uint64_t *at;
    size_t count, room;
};

static inline bool hashes_add(struct hashes *set, uint64_t hash)
{
    for (size_t i = 0; i < set->count; i++)
        if (set->at[i] == hash)
            return false;
    if (set->count == set->room) {
        set->room = 2 * set->room + 64;
        set->at = realloc(set->at, set->room * sizeof *set->at);
        assert_non_null(set->at);
    }
    set->at[set->count++] = hash;
    return true;
}

static inline void hashes_clear(struct hashes *set)
{
    free(set->at);
    *set = (struct hashes){ 0 };
}

/* A run. */
static struct sim_result explored_result;
static uint64_t explored_area[EXPLORED_AREA];
static bool explored_ops[PCT_OP_COUNT]; /* that were made by any run */

static inline struct pct_channel *explored_channel(void)
{
    static struct pct_channel *channel;
    if (!channel) {
        channel = calloc(1, pct_channel_size(EXPLORED_PLAN, EXPLORED_LOG));
        assert_non_null(channel);
        channel->plan_max = EXPLORED_PLAN;
        channel->log_max = EXPLORED_LOG;
    }
    return channel;
}

/* Brute force need not try the beginnings and ends of threads in all orders: nothing but a join, which waits for it,
 * depends on them. A thread that is about to make one does so at once, outside the plan. */
static uint64_t explored_slack;

/* Ends may be seen by others than joins, or a crash may come before. */
static bool explored_to_the_full;

static inline bool explored_is_trivial(uint32_t op)
{
    if (explored_to_the_full)
        return false;
    return (op == PCT_OP_THREAD_START && !explored_slack) || /* it may go on to look at the time */
           op == PCT_OP_THREAD_FINISH || op == PCT_OP_THREAD_JOIN;
}

static uint64_t brute_trivial, brute_enabled;

static inline void brute_announce(void *state, uint32_t thread, const struct pct_operation *next)
{
    uint64_t bit = UINT64_C(1) << thread;
    brute_trivial = explored_is_trivial(next->op) ? brute_trivial | bit : brute_trivial & ~bit;
    pct_strategy_explore.announce(state, thread, next);
}

static inline void brute_enable(void *state, uint32_t thread)
{
    brute_enabled |= UINT64_C(1) << thread;
    pct_strategy_explore.enable(state, thread);
}

static inline void brute_disable(void *state, uint32_t thread)
{
    brute_enabled &= ~(UINT64_C(1) << thread);
    pct_strategy_explore.disable(state, thread);
}

static inline struct pct_choice brute_pick(void *state, const struct pct_point *point)
{
    uint64_t trivial = brute_trivial & brute_enabled;
    if (trivial)
        return (struct pct_choice){ .thread = (uint32_t)__builtin_ctzll(trivial), .budget = 1 };
    return pct_strategy_explore.pick(state, point);
}

static bool explored_by_force; /* runs are those of brute force */

/* A run as these options say, with its records and its log. */
static inline void explored_make(const struct sim_program *program, struct sim_options *options)
{
    struct pct_channel *channel = explored_channel();
    channel->log_count = channel->doubts = 0;
    options->records = explored_area;
    options->max = EXPLORED_AREA;
    options->max_steps = EXPLORED_STEPS;
    options->channel = channel;
    options->slow = true;
    sim_run(program, options, &explored_result);
    for (uint64_t i = 0; i < explored_result.recorded; i++)
        explored_ops[PCT_RECORD_OP(explored_area[i])] = true;
    if (explored_result.broken)
        fail_msg("%s", explored_result.broken);
}

static inline void explored_run(const struct sim_program *program, const uint32_t *plan, uint32_t count)
{
    struct pct_strategy brute = pct_strategy_explore;
    brute.announce = brute_announce;
    brute.enable = brute_enable;
    brute.disable = brute_disable;
    brute.pick = brute_pick;
    brute_trivial = brute_enabled = 0;

    struct pct_channel *channel = explored_channel();
    struct sim_options options = sim_defaults(explored_by_force ? &brute : &pct_strategy_explore);
    assert_true(count <= EXPLORED_PLAN);
    if (count)
        memcpy(channel->plan, plan, count * sizeof *plan);
    channel->plan_count = count;
    options.slack = explored_slack;
    explored_make(program, &options);
}

/* The run as it is kept; its memory is not its own. */
static inline struct pct_explored explored_kept(void)
{
    struct pct_channel *channel = explored_channel();
    bool ended = explored_result.verdict == PCT_VERDICT_EXIT || explored_result.verdict == PCT_VERDICT_DEADLOCK;
    return (struct pct_explored){ .flags = ended ? PCT_EXPLORED_ENDED : 0,
                                  .log = pct_channel_log(channel),
                                  .records = explored_area,
                                  .log_count = channel->log_count,
                                  .record_count = (uint32_t)explored_result.recorded };
}

static inline void explored_read(struct pct_execution *x)
{
    struct pct_explored run = explored_kept();
    assert_int_equal(pct_explored_read(&run, x), 0);
}

static inline uint64_t explored_mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 31;
}

/* What the program did, as it could tell itself: what each thread found in its operations, the variables at the end,
 * how it ended. Nothing of it rests on the table of dependence. */
static inline uint64_t explored_behaviour(void)
{
    uint64_t hash = explored_result.verdict;
    for (unsigned t = 0; t < explored_result.threads; t++)
        hash = explored_mix(hash, sim.thread[t].story);
    for (unsigned v = 0; v < SIM_THINGS; v++)
        hash = explored_mix(explored_mix(hash, (uint64_t)explored_result.var[v]), sim.sem[v]);
    return hash;
}

/* By brute force: at each choice of the run that was made, what else could have been chosen. */
struct chosen {
    uint16_t thread, waiter, waiters;
    uint64_t enabled; /* bit i: thread i */
    uint64_t tried;   /* likewise, and kept while what comes behind is */
};

/* Whether a thread may be chosen while others could: one that ends the process goes last. */
static inline uint64_t may_choose(uint64_t enabled, uint64_t last)
{
    return enabled & ~last ? enabled & ~last : enabled;
}

/* kept: this many of them are those of the run before. */
static inline uint32_t explored_choices(struct chosen *c, uint32_t kept)
{
    const struct pct_channel *channel = explored_channel();
    const struct pct_log_entry *log = pct_channel_log(explored_channel());
    uint64_t enabled = 0, last = 0, trivial = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < channel->log_count; i++) {
        uint64_t bit = UINT64_C(1) << log[i].thread;
        switch (log[i].kind) {
        case PCT_LOG_PICK:
            if (trivial & bit)
                break;
            c[count] = (struct chosen){ .thread = log[i].thread,
                                        .enabled = may_choose(enabled, last),
                                        .tried = bit | (count < kept ? c[count].tried : 0) };
            count++;
            break;
        case PCT_LOG_ENABLE:
            enabled |= bit;
            break;
        case PCT_LOG_DISABLE:
            enabled &= ~bit;
            break;
        case PCT_LOG_ANNOUNCE:
            trivial = explored_is_trivial(log[i].op) ? trivial | bit : trivial & ~bit;
            last = log[i].op == PCT_OP_EXIT_NOW ? last | bit : last & ~bit;
            break;
        case PCT_LOG_CHOICE:
            c[count - 1].waiters = (uint16_t)(log[i].value >> 16);
            c[count - 1].waiter = (uint16_t)log[i].value;
            break;
        }
    }
    return count;
}

/* The next schedule behind the one that was made; 0: there is none. */
static inline uint32_t explored_after(uint32_t *plan, const struct chosen *c, uint32_t count)
{
    for (uint32_t i = count; i--;) {
        uint32_t next = 0;
        if (c[i].waiter + 1 < c[i].waiters)
            next = PCT_PLAN(c[i].thread, c[i].waiter + 2u);
        uint64_t other = c[i].enabled & ~c[i].tried;
        if (!next && other)
            next = PCT_PLAN((uint32_t)__builtin_ctzll(other), 1);
        if (!next)
            continue;
        for (uint32_t k = 0; k < i; k++)
            plan[k] = PCT_PLAN(c[k].thread, c[k].waiter + 1u);
        plan[i] = next;
        return i + 1;
    }
    return 0;
}

#endif
