/* What the host tells of threads and waits that the scheduler does not see: see sched.h. */
#include "internal.h"

bool pct_sched_meet_foreign(struct pct_sched *s, uint32_t kind)
{
    bool known = (__atomic_fetch_or(&s->foreign, kind, __ATOMIC_SEQ_CST) & kind) == kind;
    if (!known)
        pct_sched_in_full(s);
    return !known;
}

void pct_sched_in_full(struct pct_sched *s)
{
    __atomic_store_n(&s->in_full, 1, __ATOMIC_SEQ_CST);
}

void pct_sched_unseen(struct pct_sched *s, bool begins)
{
    s->unseen += begins ? 1 : -1u;
}

uint32_t pct_sched_free_id(struct pct_sched *s)
{
    uint32_t id = __atomic_load_n(&s->threads, __ATOMIC_RELAXED);
    do
        if (id >= PCT_MAX_THREADS)
            return PCT_NO_THREAD;
    while (!__atomic_compare_exchange_n(&s->threads, &id, id + 1, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return id;
}

bool pct_sched_swap_holder(struct pct_sched *s, struct pct_thread *from, struct pct_thread *to)
{
    return __atomic_compare_exchange_n(&s->current, &from, to, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

void pct_sched_pause_at(struct pct_sched *s, uint64_t step)
{
    s->break_step = step;
    s->break_other = 0;
}

void pct_sched_chose(struct pct_sched *s)
{
    s->choices++;
}

void pct_sched_shut(struct pct_sched *s)
{
    s->current = NULL;
}

void pct_sched_fail(struct pct_sched *s, enum pct_verdict verdict, const char *text)
{
    pct_sched_shut(s);
    s->host->end(verdict, text);
}
