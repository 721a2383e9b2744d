/* Who goes first with the strategy maple (maple.c): by where threads stand, and of those that are not held by the
 * parameter `order`.
 *
 * What an iRoot is possible with may be other orders than those of its accesses, which decide where threads go. For
 * these there are more schedules than the paper's: the first thread makes the others, and is the last once it has
 * waited; or priorities change, as in a profile run, but the more seldom the longer the run, and half as often after
 * each change once the iRoot was made: each costs a hand-over. Then the first threads to come to an access may be
 * passed over. An eager one is made though the next one's thread is not there, as what comes behind it may bring that
 * there; a loose one holds nobody before it is due, and its thread goes on as others do. A patient one (order 8) lets
 * the thread of the last access come there before the last but one is made, as what it does on its way may be to the
 * same object. With order 9 the thread that has made the last but one access goes on, and all others wait, as what it
 * does behind that may bring the last one's thread there; of two, the first does not wait.
 *
 * What comes from outside (section 4.6 of the paper): with the orders 10 and 11 (as 1 and 2), where only held threads
 * could go on and others wait for the outside world, that has a while (sched/idle.c) before one is let go; up to VAIN
 * times in vain. The paper marks iRoots that depend on such events, here a campaign does. */
#ifndef PCT_STRATEGIES_MAPLE_ORDER_H
#define PCT_STRATEGIES_MAPLE_ORDER_H

#include <pct/strategy.h>

enum standing {
    FREE,
    OTHER,  /* the accesses are to be made by others */
    LOW,    /* it has made its access, and the next one is not its own */
    HELD,   /* at an access of the iRoot */
    SPOILS, /* would come in between */
    ENDING  /* would end the process */
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
