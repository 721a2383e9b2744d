/* Agents sell the seats of a flight. Stands for: AirLineTickets (ConTest).
 * Bug: that the flight is sold out is noticed by a look at a flag, which is set after the sale, without a lock.
 * Shows as: an assertion: more seats are sold than there are. FIXED: a lock. */
#include "shared.h"

enum { AGENTS = 3, SEATS = 2 };
static int sold;
static bool sold_out;

static void *agent(void *unused)
{
    (void)unused;
    fix_lock();
    if (!sold_out) { /* culprit */
        __atomic_fetch_add(&sold, 1, __ATOMIC_SEQ_CST);
        if (sold == SEATS)
            sold_out = true;
    }
    fix_unlock();
    return NULL;
}

int main(void)
{
    run_threads(AGENTS, agent);
    assert(sold <= SEATS);
    return 0;
}
