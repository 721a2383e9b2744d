/* What programs tell by <pct/script.h>: named scheduling points, and choices that a schedule makes for them. The header
 * finds both by weak names. */
#include <preload/core/pass.h>
#include <preload/core/point.h>
#include <strategies/script.h>

/* name: a text that stays where it is; the point is known by its address, and by what stands there. */
PCT_EXPORT void pct_program_point(const char *name);
PCT_EXPORT void pct_program_point(const char *name)
{
    PCT_ENTER(self);
    if (!self) {
        PASS(PCT_OP_POINT, PCT_CLASS_POINT, name, 0);
        return;
    }
    struct pct_object *point = pct_at(self, PCT_OP_POINT, name, PCT_CLASS_POINT);
    pct_done(self, PCT_OP_POINT, 0, point);
}

/* A number below `ways`, as a signal chooses among waiters: by the strategy, and so by the token. 0: off turn, or there
 * are less than two ways. More than 65,535 count as that many. */
PCT_EXPORT unsigned pct_program_choose(unsigned ways);
PCT_EXPORT unsigned pct_program_choose(unsigned ways)
{
    enum { MOST = 65535 };
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_CHOICE, PCT_CLASS_NONE, NULL, 0u);
    pct_here(self, PCT_OP_CHOICE);
    uint32_t most = ways < MOST ? ways : MOST;
    uint32_t chosen = pct_sched_has_script(&pct_S)
                          ? pct_strategy_script_choose(pct_sched_strategy_state(&pct_S), self->core.id, most)
                          : pct_sched_choose_number(&pct_S, most);
    pct_done(self, PCT_OP_CHOICE, chosen, NULL);
    return chosen;
}
