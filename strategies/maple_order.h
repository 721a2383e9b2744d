/* Who goes first with the strategy maple (maple.c): by where threads stand, and of those that are not held by the
 * parameter `order`. */
#ifndef PCT_STRATEGIES_MAPLE_ORDER_H
#define PCT_STRATEGIES_MAPLE_ORDER_H

#include <pct/strategy.h>

enum standing {
    FREE,
    OTHER,  /* the accesses are to be made by others */
    LOW,    /* it has made its access, and the next one is not its own */
    HELD,   /* at an access of the iRoot */
    SPOILS, /* would come in between */
    ENDING, /* would end the process */
    STANDINGS
};

enum {
    ORDER_RANDOM,
    ORDER_OLDEST,
    ORDER_YOUNGEST,
    ORDER_MAIN,
    ORDER_CHANGING,
    ORDER_PATIENT = 8,
    ORDER_ON,
    ORDER_AWAITS,
    ORDER_AWAITS_YOUNGEST,
    ORDERS
};
enum { EAGER = 1, LOOSE = 2 };
enum { PARAM_ORDER };

static const struct pct_param params[] = {
    [PARAM_ORDER] = { .name = "order",
                      .max = ORDERS - 1,
                      .zero = "random",
                      .help =
                          "who goes first of those that are not held: 1: older threads; 2: younger ones; 3: the first "
                          "thread, then younger ones; 4 to 7: at random, and it changes (5, 7: an access does "
                          "not wait for its partner; 6, 7: nor for those before it); 8: as 1, and the last but one "
                          "access waits for its partner, too; 9: as 1, and its thread goes on before the last one is "
                          "made; 10, 11: as 1, 2, and what comes from outside is waited for; random" },
    { 0 }
};

#endif
