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

void pct_sched_chose(struct pct_sched *s)
{
    s->choices++;
}

void pct_sched_shut(struct pct_sched *s)
{
    s->current = NULL;
}
