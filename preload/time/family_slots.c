/* Who is in which slot of a family's memory: see family_memory.h. */
#include "family_memory.h"
#include <preload/core/kernel.h>
#include <preload/core/sys.h>

struct pct_family *pct_family_memory;

/* pct_slot.start: the time (clock ticks, as far as they fit) with the process that it is of. What another process finds
 * out late about one that was in the slot before shall not be taken for this one's. */
union start {
    uint64_t word;
    struct {
        uint64_t pid : 22;
        uint64_t age : 10;
        uint64_t ticks : 32;
    };
};

static bool change(uint32_t i, union pct_who was, union pct_who is)
{
    return __atomic_compare_exchange_n(&pct_slot_at(i)->who.word, &was.word, is.word, false, __ATOMIC_SEQ_CST,
                                       __ATOMIC_SEQ_CST);
}

static bool set_free(uint32_t i, union pct_who was)
{
    return change(i, was, (union pct_who){ .age = was.age });
}

uint32_t pct_slot_ticket(uint32_t i, union pct_who who)
{
    return (uint32_t)who.age * (PCT_SLOTS + 1) + i;
}

/* Whose the slot is, if it is still the one that the ticket was for. */
static bool holds(uint32_t ticket, union pct_who *who)
{
    *who = pct_slot_who(pct_slot_of(ticket));
    return !pct_slot_is_free(*who) && pct_slot_ticket(pct_slot_of(ticket), *who) == ticket;
}

bool pct_slot_has(uint32_t pid)
{
    for (uint32_t i = 1; i <= pct_family_memory->top; i++)
        if (pct_slot_who(i).pid == pid)
            return true;
    return false;
}

static void use(uint32_t i)
{
    uint32_t *at = &pct_family_memory->top, top = __atomic_load_n(at, __ATOMIC_SEQ_CST);
    while (top < i && !__atomic_compare_exchange_n(at, &top, i, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        ;
}

/* What the kernel says of a process that is in a slot; the first time fixes which of all processes with this id it is.
 */
static enum pct_relative look_at_process(uint32_t i, union pct_who who)
{
    uint64_t *at = &pct_slot_at(i)->start, made = 0;
    union start known = { .word = __atomic_load_n(at, __ATOMIC_SEQ_CST) };
    enum pct_relative state = pct_relative_look((int)who.pid, &made);
    union start now = { .pid = who.pid, .age = who.age, .ticks = made };
    if (state == PCT_RELATIVE_GONE || !made)
        return state;
    if (known.pid == now.pid && known.age == now.age)
        return known.ticks == now.ticks ? state : PCT_RELATIVE_GONE;
    __atomic_compare_exchange_n(at, &known.word, now.word, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    return state;
}

/* The same of one whose id is not known. What system() makes tells its id when its run begins. The kernel knows it
 * before. */
static enum pct_relative look_for_child(uint32_t i, union pct_who who)
{
    int children[16], count = pct_relative_children((int)who.maker, children, 16);
    uint64_t made = 0;
    for (int k = 0; k < count; k++, made = 0) {
        union pct_who is = who;
        enum pct_relative state = pct_relative_look(children[k], &made);
        is.pid = (uint32_t)children[k];
        if (state != PCT_RELATIVE_GONE && !pct_slot_has((uint32_t)is.pid) && change(i, who, is))
            return state;
    }
    /* Nobody will tell it any more. */
    return pct_relative_look((int)who.maker, &made) == PCT_RELATIVE_GONE ? PCT_RELATIVE_GONE : PCT_RELATIVE_BUSY;
}

enum pct_relative pct_slot_look(uint32_t i, union pct_who who)
{
    enum pct_relative state = who.pid ? look_at_process(i, who) : look_for_child(i, who);
    if (state == PCT_RELATIVE_GONE)
        set_free(i, who);
    return state;
}

static uint32_t reserve_free(uint32_t thread, uint64_t began)
{
    for (uint32_t i = 1; i <= PCT_SLOTS; i++) {
        union pct_who was = pct_slot_who(i), is = { .maker = thread, .age = was.age + 1 };
        struct pct_slot *slot = pct_slot_at(i);
        if (!pct_slot_is_free(was) || !change(i, was, is))
            continue;
        slot->began = began;
        slot->real = pct_relative_now();
        slot->turn += slot->turn & 1;
        slot->children = slot->images = slot->wants = 0;
        slot->path[0] = '?';
        slot->path[1] = 0;
        use(i);
        return pct_slot_ticket(i, is);
    }
    return 0;
}

uint32_t pct_slot_reserve(uint32_t thread, uint64_t began)
{
    uint32_t ticket = reserve_free(thread, began);
    for (uint32_t i = 1; !ticket && i <= PCT_SLOTS; i++) {
        union pct_who who = pct_slot_who(i);
        if (!pct_slot_is_free(who))
            pct_slot_look(i, who);
    }
    ticket = ticket ? ticket : reserve_free(thread, began);
    if (!ticket)
        pct_family_memory->crowded = 1;
    return ticket;
}

bool pct_slot_enter(uint32_t ticket, uint32_t pid)
{
    union pct_who was, is;
    do {
        if (!holds(ticket, &was) || (was.member && was.pid != pid))
            return false;
        is = was;
        is.pid = pid;
        is.member = true;
    } while (!change(pct_slot_of(ticket), was, is));
    pct_slot_at(pct_slot_of(ticket))->images++;
    return true;
}

void pct_slot_tell(uint32_t ticket, uint32_t pid)
{
    union pct_who was, is;
    do {
        if (!holds(ticket, &was) || was.member)
            return;
        is = was;
        is.pid = pid;
    } while (!change(pct_slot_of(ticket), was, is));
}

void pct_slot_set_member(uint32_t ticket, bool member)
{
    union pct_who was, is;
    do {
        if (!holds(ticket, &was))
            return;
        is = was;
        is.member = member;
    } while (!change(pct_slot_of(ticket), was, is));
}

void pct_slot_release(uint32_t ticket)
{
    union pct_who was;
    while (holds(ticket, &was) && !set_free(pct_slot_of(ticket), was))
        ;
}

void pct_slot_forget(uint32_t pid)
{
    for (uint32_t i = 1; i <= pct_family_memory->top; i++) {
        union pct_who who = pct_slot_who(i);
        if (who.pid == pid)
            set_free(i, who);
    }
}

/* For each slot: of whom it is known how long it had waited for a CPU, by the last pct_slot_note_strangers(). */
static struct stranger {
    union pct_who who;
    uint64_t waited;
} * strangers;

void pct_slot_note_strangers(void)
{
    if (!strangers)
        strangers = pct_map((PCT_SLOTS + 1) * sizeof *strangers);
    for (uint32_t i = 1; strangers && i <= pct_family_memory->top; i++) {
        union pct_who who = pct_slot_who(i);
        bool keeps = who.member || !who.pid;
        strangers[i] = (struct stranger){ who, keeps ? 0 : pct_relative_waited((int)who.pid) };
    }
}

/* Since when it keeps no time, and that is not counted. */
static uint64_t owes_since(uint32_t i, uint64_t counted)
{
    uint64_t since = __atomic_load_n(&pct_slot_at(i)->real, __ATOMIC_SEQ_CST);
    return since > counted ? since : counted;
}

bool pct_slot_owes(uint32_t but, uint64_t counted, uint64_t least)
{
    uint64_t now = 0;
    for (uint32_t i = 1; i <= pct_family_memory->top; i++) {
        union pct_who who = pct_slot_who(i);
        if (i == but || pct_slot_is_free(who) || who.member)
            continue;
        now = now ? now : pct_relative_now();
        if (now > owes_since(i, counted) + least)
            return true;
    }
    return false;
}

uint64_t pct_slot_took(uint32_t i, uint64_t now, uint64_t counted, uint64_t least)
{
    union pct_who who = pct_slot_who(i);
    uint64_t from = owes_since(i, counted);
    if (pct_slot_is_free(who) || who.member || from >= now)
        return least;
    uint64_t real = now - from;
    enum pct_relative state = pct_slot_look(i, who);
    uint32_t pid = (uint32_t)pct_slot_who(i).pid; /* the look may have found it */
    if (state == PCT_RELATIVE_STOPPED || (state != PCT_RELATIVE_GONE && !pid))
        return least;
    if (state == PCT_RELATIVE_RUNS) {
        /* All that one has waited counts of which nothing is known: it came since. */
        bool known = strangers && strangers[i].who.word == who.word;
        real = pct_relative_went_by((int)pid, real, known ? strangers[i].waited : 0);
    }
    return real > least ? real : least;
}

uint64_t pct_slot_first_deadline(uint32_t but)
{
    uint64_t first = UINT64_MAX;
    for (uint32_t i = 1; i <= pct_family_memory->top; i++) {
        const struct pct_slot *slot = pct_slot_at(i);
        bool idle = pct_slot_who(i).member && pct_slot_is_idle(slot);
        if (i != but && idle && slot->deadline < first)
            first = slot->deadline;
    }
    return first;
}

uint64_t pct_slot_before_deadlines(uint32_t but, uint64_t now, uint64_t length)
{
    uint64_t first = pct_slot_first_deadline(but);
    return first > now && first - now > length ? length : first > now ? first - now - 1 : 0;
}

uint32_t pct_slot_wake(struct pct_slot *slot)
{
    uint32_t word = __atomic_add_fetch(&slot->word, 1, __ATOMIC_SEQ_CST);
    PCT_SYS3(SYS_futex, &slot->word, 1 /* FUTEX_WAKE */, INT32_MAX);
    return word;
}

void pct_slot_wake_next(uint32_t but)
{
    uint32_t next = 0;
    for (uint32_t i = 1; i <= pct_family_memory->top; i++) {
        const struct pct_slot *slot = pct_slot_at(i);
        union pct_who who = pct_slot_who(i);
        if (pct_slot_is_free(who))
            continue;
        if (!who.member || !pct_slot_is_idle(slot))
            return;
        if (!next || slot->deadline < pct_slot_at(next)->deadline)
            next = i;
    }
    if (next && next != but && pct_slot_at(next)->deadline != UINT64_MAX)
        pct_slot_wake(pct_slot_at(next));
}
