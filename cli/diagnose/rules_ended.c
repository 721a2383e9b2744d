/* Of a run that ended in a deadlock, who would have woken a thread that waits on a condition variable, and has ended:
 * something was stopped too early. See rules.h. */
#include "evidence.h"
#include "rules.h"

/* What kind of thread this is, the same in all runs: the function that it starts with, and where it was made. 0: not
 * known. */
static uint64_t role_of(const struct pct_history *h, uint32_t thread)
{
    uint64_t role = 0;
    for (uint32_t i = 0; i < h->count; i++) {
        const struct pct_moment *m = &h->steps[i];
        if (m->op == PCT_OP_THREAD_CREATE && m->object == thread && !pct_moment_failed(m))
            role ^= m->way;
        if (m->thread == thread) {
            role ^= m->op == PCT_OP_THREAD_START ? m->code * UINT64_C(0x9e3779b97f4a7c15) : 0;
            break;
        }
    }
    return role;
}

static bool notifies(const struct pct_moment *m, const struct pct_moment *cond)
{
    return (m->op == PCT_OP_COND_SIGNAL || m->op == PCT_OP_COND_BROADCAST) && !m->pending &&
           (!cond || pct_moment_same_object(m, cond));
}

/* The key of this kind of thread, which signals the condition variable at this address. */
static uint64_t key_of(uint64_t role, uint64_t address)
{
    return pct_evidence_notice(role ^ UINT64_C(0x726f6c65), address);
}

void pct_rules_roles(const struct pct_history *h, struct pct_evidence *evidence, bool fails)
{
    for (uint32_t thread = 0; thread < h->threads; thread++) {
        uint64_t role = h->last[thread] == PCT_NO_STEP ? 0 : role_of(h, thread);
        for (uint32_t i = role ? h->last[thread] : PCT_NO_STEP; i != PCT_NO_STEP; i = h->steps[i].previous)
            if (notifies(&h->steps[i], NULL) && h->steps[i].address)
                pct_evidence_note(evidence, key_of(role, h->steps[i].address), fails);
    }
}

static bool would_signal(const struct pct_history *h, uint32_t thread, const struct pct_moment *cond,
                         const struct pct_evidence *evidence)
{
    for (uint32_t i = h->last[thread]; i != PCT_NO_STEP; i = h->steps[i].previous)
        if (notifies(&h->steps[i], cond))
            return true;
    uint64_t role = evidence && cond->address ? role_of(h, thread) : 0;
    return role && pct_evidence_has(evidence, key_of(role, cond->address));
}

/* The step by which somebody waits for the end of this thread, made or not. PCT_NO_STEP: nobody does. */
static uint32_t join_of(const struct pct_history *h, uint32_t thread)
{
    for (uint32_t i = h->all; i-- > 0;)
        if (h->steps[i].op == PCT_OP_THREAD_JOIN && h->steps[i].object == thread)
            return i;
    return PCT_NO_STEP;
}

/* The last thing that who waits for its end did before it ended: what told it to, mostly. */
static uint32_t before_join(const struct pct_history *h, uint32_t join, uint32_t finish)
{
    uint32_t i = h->steps[join].previous;
    while (i != PCT_NO_STEP && (i > finish || !(notifies(&h->steps[i], NULL) || pct_moment_access(&h->steps[i]))))
        i = h->steps[i].previous;
    return i;
}

bool pct_rules_ended(struct pct_diagnoses *out, const struct pct_history *h, uint32_t waiting,
                     const struct pct_evidence *evidence)
{
    const struct pct_moment *wait = &h->steps[waiting];
    uint32_t finish = PCT_NO_STEP;
    for (uint32_t thread = 0; thread < h->threads; thread++) {
        uint32_t last = h->last[thread];
        if (last == PCT_NO_STEP || !would_signal(h, thread, wait, evidence))
            continue;
        if (h->steps[last].op != PCT_OP_THREAD_FINISH)
            return false;
        finish = finish == PCT_NO_STEP || last > finish ? last : finish;
    }
    if (finish == PCT_NO_STEP)
        return false;
    uint32_t join = join_of(h, h->steps[finish].thread);
    uint32_t steps[4] = { wait->previous, finish, join == PCT_NO_STEP ? join : before_join(h, join, finish), join };
    unsigned count = steps[2] == PCT_NO_STEP ? 2 : 4;
    struct pct_diagnosis *d = pct_diagnoses_add(out, PCT_RULE_HAS_ENDED, 0, count, steps);
    if (d && count == 4) {
        d->note[1] = "has ended";
        d->note[2] = "by who waits for that, before,";
        d->note[3] = "and here";
    }
    return true;
}
