/* What a process knows of its relatives while it waits: see family_memory.h. With the baton. */
#include "family_memory.h"

struct pct_known *pct_known;

bool pct_known_has_asked(uint32_t i)
{
    struct pct_slot *slot = pct_slot_at(i);
    struct pct_known *k = &pct_known[i];
    if (!slot->asks)
        return true;
    if (k->asked_turn != k->turn) {
        k->asked_turn = k->turn;
        k->asked = pct_slot_wake(slot);
    }
    return (int32_t)(__atomic_load_n(&slot->looked, __ATOMIC_SEQ_CST) - k->asked) >= 0;
}

uint32_t pct_known_read(uint32_t period)
{
    uint32_t top = __atomic_load_n(&pct_family_memory->top, __ATOMIC_SEQ_CST);
    for (uint32_t i = 1; i <= top; i++) {
        struct pct_known *k = &pct_known[i];
        if (k->period != period)
            *k = (struct pct_known){ .period = period };
        k->who = pct_slot_who(i);
        k->turn = __atomic_load_n(&pct_slot_at(i)->turn, __ATOMIC_SEQ_CST);
    }
    return top;
}

bool pct_known_is_still(uint32_t top)
{
    for (uint32_t i = 1; i <= top; i++)
        if (__atomic_load_n(&pct_slot_at(i)->turn, __ATOMIC_SEQ_CST) != pct_known[i].turn ||
            pct_slot_who(i).word != pct_known[i].who.word)
            return false;
    return __atomic_load_n(&pct_family_memory->top, __ATOMIC_SEQ_CST) == top;
}
