/* Which operations depend on each other: see conflicts.h. */
#include "conflicts.h"
#include <cli/base/cli.h>
#include <pct/operations.h>

static bool is_lock(unsigned class_)
{
    return class_ == PCT_CLASS_MUTEX || class_ == PCT_CLASS_RWLOCK || class_ == PCT_CLASS_SPIN;
}

/* The ends of waits: where the thread goes on is no access of its own. */
static bool is_end_of_wait(uint32_t op)
{
    return op == PCT_OP_COND_WAKE || op == PCT_OP_BARRIER_LEAVE || op == PCT_OP_FUTEX_WOKEN;
}

bool pct_conflict(uint32_t first, uint32_t second)
{
    if (pct_operation_accesses(first))
        return pct_operation_gives(first) || pct_operation_gives(second);
    if (is_end_of_wait(first) || is_end_of_wait(second))
        return false;
    bool gives = pct_operation_gives(first);
    if (!is_lock(pct_name_op_class(first)))
        return gives != pct_operation_gives(second);
    if (gives)
        return pct_operation_locks(second);
    return !pct_operation_locks(first) ||
           (!pct_operation_locks(second) && !pct_operation_gives(second)); /* made, or destroyed */
}
