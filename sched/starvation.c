/* Threads that starve: others go on for so long without a spin that anybody could see (they lock and unlock in an order
 * of their own, or try again what can only succeed when the starved thread has run). PCT, section 4.1, lowers their
 * priorities for that, too. */
#include "internal.h"

/* As with one that polls for a whole block: a strategy may heed one spin of sixteen only. */
enum { TELLS = 256 };

void pct_starvation_notice(struct pct_sched *s)
{
    if (pct_steps(s) < s->starving_step)
        return;
    s->starving_step = pct_steps(s) + PCT_STARVATION_STEPS;
    struct pct_thread *runs = s->thread_at(PCT_RECORD_THREAD(s->record[-1]));
    bool starves = false;
    if (runs->state == PCT_STATE_FINISHED)
        return;
    for (uint32_t id = 0; id < s->threads && pct_readiness_now(s) > 1; id++) {
        struct pct_thread *t = s->thread_at(id);
        if (t == runs || pct_state(t) != PCT_STATE_ENABLED || t->early)
            continue;
        starves |= t->passed_over;
        t->passed_over = true;
    }
    if (starves)
        pct_sched_overtake(s, runs, TELLS);
}
