/* One process of a family at a time: see family.h.
 *
 * Who rests gives up its turn. Who can go on again waits until nobody has it, and until all others rest for certain,
 * or wait for it, too, and come behind: what the last one did has then come to all whom it concerns, so that who is
 * next does not depend on who heard of it first. Of members that rest the kernel is asked whether their threads sleep,
 * as before a jump of the clock; of processes that are not under pct, or not yet, too.
 *
 * Where the one whose turn it is goes on for longer than PATIENCE while others wait, it may wait for them in a way that
 * nobody sees (by reading a file again and again): then there are no turns any more. */
#include "family_memory.h"
#include <preload/core/kernel.h>
#include <preload/core/shim.h>
#include <preload/core/sys.h>
#include <string.h>

/* How often to look, real ns, ever more seldom; and how long all that takes at most. */
enum { SHORTEST_LOOK = 20000, LONGEST_LOOK = 2000000 };
#define PATIENCE UINT64_C(2000000000)

/* Times of waiting, unlike those of family.c. */
static uint32_t period = UINT32_C(1) << 31;

void pct_turns_begin(uint32_t ticket)
{
    uint32_t none = PCT_TURNS_NONE, nobody = 0;
    if (__atomic_load_n(&pct_family_memory->turns, __ATOMIC_SEQ_CST) == none &&
        __atomic_compare_exchange_n(&pct_family_memory->holder, &nobody, ticket, false, __ATOMIC_SEQ_CST,
                                    __ATOMIC_SEQ_CST))
        __atomic_compare_exchange_n(&pct_family_memory->turns, &none, PCT_TURNS_ON, false, __ATOMIC_SEQ_CST,
                                    __ATOMIC_SEQ_CST);
}

static void wake_all(void)
{
    __atomic_fetch_add(&pct_family_memory->given, 1, __ATOMIC_SEQ_CST);
    PCT_SYS3(SYS_futex, &pct_family_memory->given, 1 /* FUTEX_WAKE */, INT32_MAX);
}

static bool are_on(void)
{
    return __atomic_load_n(&pct_family_memory->turns, __ATOMIC_SEQ_CST) == PCT_TURNS_ON;
}

void pct_turns_give(uint32_t ticket)
{
    if (are_on() &&
        __atomic_compare_exchange_n(&pct_family_memory->holder, &ticket, 0, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        wake_all();
}

static bool is_before(uint32_t a, uint32_t b)
{
    int order = strverscmp(pct_slot_at(a)->path, pct_slot_at(b)->path); /* the tenth child comes behind the second */
    return order ? order < 0 : a < b;
}

enum rest { RESTS, ASKED, GOES_ON };

/* Whether this relative rests, or comes behind this one. ASKED: that is not certain yet. holder: as it was before; one
 * that has just become it says for a moment still that it waits. */
static enum rest look_at(uint32_t i, uint32_t self, uint32_t holder)
{
    const struct pct_known *k = &pct_known[i];
    struct pct_slot *slot = pct_slot_at(i);
    if (i == self || pct_slot_is_free(k->who))
        return RESTS;
    enum pct_relative state = pct_slot_look(i, k->who);
    bool idles = k->who.member && k->turn & 1;
    if (state == PCT_RELATIVE_STOPPED)
        return RESTS;
    if (state != PCT_RELATIVE_GONE && k->who.member && !idles && __atomic_load_n(&slot->wants, __ATOMIC_SEQ_CST))
        return pct_slot_ticket(i, k->who) == holder || is_before(i, self) ? GOES_ON : RESTS;
    /* The end of one may have made others run. */
    if (state != PCT_RELATIVE_SLEEPS)
        return GOES_ON;
    if (k->who.member && !idles)
        return pct_relative_awaits_child((int)k->who.pid, pct_slot_has) ? RESTS : GOES_ON;
    /* Its deadline has come, and it has yet to see that. */
    if (idles && !slot->world && slot->deadline <= __atomic_load_n(&pct_family_memory->clock, __ATOMIC_SEQ_CST)) {
        pct_slot_wake(slot);
        return GOES_ON;
    }
    if (!pct_relative_sleeps((int)k->who.pid))
        return GOES_ON;
    return !idles || pct_known_has_asked(i) ? RESTS : ASKED;
}

/* Whether all others rest. */
static bool is_next(uint32_t self, uint32_t holder)
{
    uint32_t top = pct_known_read(period);
    enum rest all = pct_family_memory->crowded ? GOES_ON : RESTS;
    for (uint32_t i = 1; i <= top; i++) {
        enum rest this = look_at(i, self, holder);
        all = this > all ? this : all;
    }
    /* Whoever has asked has done so before another one went on. */
    if (all == GOES_ON || !pct_known_is_still(top))
        period = (period + 1) | UINT32_C(1) << 31;
    /* A thread of our own that comes back from outside has not told yet. */
    return all == RESTS &&
           (pct_sched_threads(&pct_S) < 2 || pct_relative_others_sleep((int)PCT_SYS0(SYS_getpid), pct_any_tid())) &&
           pct_known_is_still(top);
}

static bool try_to_take(uint32_t ticket)
{
    uint32_t before = __atomic_load_n(&pct_family_memory->holder, __ATOMIC_SEQ_CST);
    return before == ticket || (is_next(pct_slot_of(ticket), before) &&
                                __atomic_compare_exchange_n(&pct_family_memory->holder, &before, ticket, false,
                                                            __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
}

/* Waiting for the turn. */
struct patience {
    uint64_t began;         /* real ns */
    uint64_t since;         /* when it was last given, or taken; as seen from here */
    uint32_t given, holder; /* at that time */
};

/* Whether the one whose turn it is goes on for too long; or all together do, who may let each other go on for ever. */
static bool is_over(struct patience *p)
{
    uint32_t given = __atomic_load_n(&pct_family_memory->given, __ATOMIC_SEQ_CST);
    uint32_t holder = __atomic_load_n(&pct_family_memory->holder, __ATOMIC_SEQ_CST);
    uint32_t top = __atomic_load_n(&pct_family_memory->top, __ATOMIC_SEQ_CST);
    uint64_t now = pct_relative_now();
    p->began = p->began ? p->began : now;
    if (!p->since || given != p->given || holder != p->holder)
        *p = (struct patience){ p->began, now, given, holder };
    return now - p->since >= PATIENCE || now - p->began >= top * PATIENCE;
}

void pct_family_end_turns(void)
{
    uint32_t on = PCT_TURNS_ON;
    if (pct_family_memory && __atomic_compare_exchange_n(&pct_family_memory->turns, &on, PCT_TURNS_GIVEN_UP, false,
                                                         __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        wake_all();
}

uint32_t pct_family_runner(uint64_t *cpu)
{
    uint32_t runner = 0, count = 0, top = pct_family_memory ? pct_family_memory->top : 0;
    *cpu = 0;
    for (uint32_t i = 1; i <= top; i++) {
        union pct_who who = pct_slot_who(i);
        const struct pct_slot *slot = pct_slot_at(i);
        bool rests = pct_slot_is_idle(slot) || __atomic_load_n(&slot->wants, __ATOMIC_SEQ_CST);
        if (pct_slot_is_free(who) || !who.member || rests)
            continue;
        runner = pct_slot_ticket(i, who);
        *cpu = pct_relative_cpu((int)who.pid);
        count++;
    }
    return count == 1 ? runner : 0;
}

bool pct_turns_await(uint32_t ticket)
{
    if (!are_on())
        return false;
    struct pct_slot *me = pct_slot_at(pct_slot_of(ticket));
    struct timespec moment = { .tv_nsec = SHORTEST_LOOK };
    struct patience patience = { 0 };
    struct pct_thread *current = pct_sched_swap_current(&pct_S, NULL); /* one that sleeps here is not stuck */
    __atomic_store_n(&me->wants, 1, __ATOMIC_SEQ_CST);
    period = (period + 1) | UINT32_C(1) << 31;
    while (are_on()) {
        uint32_t given = __atomic_load_n(&pct_family_memory->given, __ATOMIC_SEQ_CST);
        if (try_to_take(ticket))
            break;
        if (is_over(&patience)) {
            pct_family_end_turns();
            break;
        }
        PCT_SYS4(SYS_futex, &pct_family_memory->given, PCT_FUTEX_WAIT_SHARED, given, &moment);
        moment.tv_nsec += moment.tv_nsec < LONGEST_LOOK ? moment.tv_nsec / 4 : 0;
    }
    __atomic_store_n(&me->wants, 0, __ATOMIC_SEQ_CST);
    pct_sched_swap_current(&pct_S, current);
    return true;
}

bool pct_family_lost_turns(void)
{
    return pct_family_memory && __atomic_load_n(&pct_family_memory->turns, __ATOMIC_SEQ_CST) == PCT_TURNS_GIVEN_UP;
}
