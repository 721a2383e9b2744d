/* What happens before what in a finished run, and which pairs of events could have come the other way round. Pure. */
#ifndef PCT_CLI_ORDER_H
#define PCT_CLI_ORDER_H

#include "users.h"

struct pct_order {
    const struct pct_execution *x;
    uint32_t threads;
    uint32_t *clock;  /* of event i, from i * threads on: how many events of each thread are it or happen before it */
    uint32_t *before; /* the same, without what the event itself adds but what its thread did, and who ended its wait:
                         so far it had to come; and the last jump of time, unless it waited before that already */
    bool freed_early; /* a block is freed where nothing keeps another thread from still using it: PCT_DOUBT_FREED */
    uint64_t *uses;   /* of event i: bits of what it uses; the highest: it commutes with nothing */
    struct pct_users users; /* of those */
};

/* Returns 0 or -ENOMEM. */
int pct_order_make(struct pct_order *order, const struct pct_execution *execution);
void pct_order_free(struct pct_order *order);

/* A hash of the order: equal for runs that are the same but for the order of events that commute. */
uint64_t pct_order_class(const struct pct_order *order);

/* What event i has part in that: the sum over the first events stands for the state behind them. */
uint64_t pct_order_hash(const struct pct_order *order, uint32_t i);

/* What came behind the second event of a race, and not behind the first: not looked at yet; or it is there, as far as
 * there is any; or not looked at, and an earlier run had this race, perhaps with something else behind it. */
enum pct_rest { PCT_REST_UNKNOWN, PCT_REST_WHOLE, PCT_REST_AGAIN };

/* Events that are to be made behind the first `base` ones, in this order: the last of them, which came behind event
 * `base`, now comes without it. */
struct pct_reversal {
    uint32_t base;
    uint32_t second; /* the event of the run that this last one is; PCT_NO_EVENT: none */
    uint32_t count;
    uint32_t rest; /* behind these in event[] */
    enum pct_rest known;
    const struct pct_event *event;
};
enum { PCT_REVERSAL_REST = 1, PCT_NO_EVENT = UINT32_MAX };

/* Call this for each reversal of an event from `from` on with one before it, and, at_end, of what was pending at the
 * end; and of those before `from` for which again (by event) is true. Where it returns PCT_REVERSAL_REST, once more
 * with the rest. Returns the first other result that is not 0, or -ENOMEM. */
typedef int pct_take_reversal(void *context, const struct pct_reversal *reversal);
int pct_order_reversals(const struct pct_order *order, uint32_t from, const bool *again, bool at_end,
                        pct_take_reversal *take, void *context);

#endif
