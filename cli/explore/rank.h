/* How simple a schedule is, and in which order simple ones are tried: the tuples (c, v, t, l) of RankChecker. Pure.
 *
 *  c  preemptions
 *  v  variables: locations in memory before whose accesses it preempts; 0: it does so before calls only
 *  t  threads whose order matters: where the running thread cannot go on, the others go on by an order of priorities,
 *     the same up to the next preemption, whose thread then comes last. 2: by one of two orders in which each two
 * threads stand both ways; 3: by one of those that have each three threads in all ways; PCT_RANK_ANY: by no such order
 *  l  iterations: the most often that a preempted thread had come to the operation before which it was, at that place
 *     of the code and with that object, this time among them
 *
 * Classes of tuples are tried in the paper's order, (0,0,2,1), (1,0,2,1), (1,1,2,1), (1,all,2,1), (2,0,2,1), (2,1,2,1),
 * (0,0,3,1), (1,all,3,1), (2,all,2,1), (2,1,3,1), (2,all,3,1), (3,0,2,1), "and so on": one preemption or iteration more
 * comes behind all with fewer, and schedules that no order of priorities has come behind those of as many. */
#ifndef PCT_CLI_RANK_H
#define PCT_CLI_RANK_H

#include "execution.h"

enum { PCT_RANK_ANY = 255, PCT_RANK_ORDERS = 64, PCT_RANK_VARIABLES = 8 };

struct pct_tuple {
    uint8_t c, v, t, l; /* of v, l: PCT_RANK_VARIABLES, 255: or more */
};

/* Orders of priorities (pct_plan_priority()) for this many threads: bit i: order i. */
struct pct_rank_orders {
    uint64_t above[PCT_RANK_ORDERS][PCT_EXECUTION_SETS]; /* by order and thread: who has a higher priority */
    uint64_t three; /* those that together have each three threads in all ways, as far as there are this many; among
                       them orders 0 and 1, which have each two */
    uint32_t threads;
};

/* Make them for this many threads, of which PCT_EXECUTION_SETS count, unless they are already. Returns 0, or -1: no
 * memory. */
int pct_rank_choose_orders(struct pct_rank_orders *orders, uint32_t threads);

/* A beginning of a schedule, as its tuple goes. */
struct pct_rank_path {
    uint64_t orders; /* those that could have led here since the last preemption */
    uint64_t variable[PCT_RANK_VARIABLES];
    struct pct_tuple tuple; /* its t is that of what came before */
    uint32_t lowest;        /* the thread that was preempted last, plus 1; 0: none was */
};
struct pct_rank_path pct_rank_begin(const struct pct_rank_orders *orders);

/* Let this thread go on in the place of event `at` of the run, up to which the path leads. preempts: that is a
 * preemption. */
void pct_rank_step(struct pct_rank_path *path, const struct pct_rank_orders *orders, const struct pct_execution *x,
                   uint32_t at, uint32_t thread, bool preempts);

/* The tuple of the whole path. */
struct pct_tuple pct_rank_tuple(const struct pct_rank_path *path);

/* Which order to go on in; `order` itself if that will do. */
uint32_t pct_rank_order(const struct pct_rank_path *path, uint32_t order);

/* When such schedules are tried: the lower, the earlier. */
uint32_t pct_rank_tier(struct pct_tuple tuple);

/* "(1, 0, 2, 1)" */
void pct_rank_format(char *text, size_t size, struct pct_tuple tuple);

#endif
