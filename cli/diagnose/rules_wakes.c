/* Of a run that ended in a deadlock, why nobody woke those that wait on condition variables: see rules.h. */
#include "evidence.h"
#include "rules_wakes.h"
#include <stdlib.h>

/* --- Lost wake-up ------------------------------------------------------------------------------------------------- */

/* The change that this signal tells of was made under the mutex, before the waiter took it: then the waiter has seen
 * it, and the signal was for others. Who has signalled the same elsewhere since tells of another change. */
static bool was_seen(const struct pct_waiter *w, uint32_t signal)
{
    const struct pct_history *h = w->history;
    const struct pct_moment *m = &h->steps[signal];
    uint32_t before = m->previous;
    /* The mutex of a condition_variable_any itself. */
    if (before != PCT_NO_STEP && w->guard->object != w->at->mutex && h->steps[before].object == w->at->mutex)
        before = h->steps[before].previous;
    for (; before != PCT_NO_STEP && pct_moment_notifies(&h->steps[before]); before = h->steps[before].previous)
        if (pct_moment_same_object(&h->steps[before], m) && h->steps[before].place != m->place)
            return false;
    return before != PCT_NO_STEP && before < w->taken && h->steps[before].object == w->guard->object &&
           (h->steps[before].op == PCT_OP_MUTEX_UNLOCK || h->steps[before].op == PCT_OP_RWLOCK_UNLOCK);
}

/* The last thing that the waiter looked at before this signal, with the mutex of the wait; if nothing, where it has
 * taken that. */
static uint32_t last_look(const struct pct_waiter *w, uint32_t signal)
{
    const struct pct_history *h = w->history;
    for (uint32_t i = h->steps[w->wait].previous; i != PCT_NO_STEP && i > w->taken; i = h->steps[i].previous)
        if (i < signal && pct_moment_access(&h->steps[i]))
            return i;
    return w->taken;
}

static bool lost_wakeup(struct pct_diagnoses *out, const struct pct_waiter *w)
{
    const struct pct_history *h = w->history;
    for (uint32_t i = w->wait; i-- > w->taken + 1;) {
        const struct pct_moment *m = &h->steps[i];
        if (!pct_moment_notifies(m) || !pct_moment_same_object(m, w->at) || m->thread == w->at->thread ||
            was_seen(w, i))
            continue;
        uint32_t look = last_look(w, i);
        struct pct_diagnosis *d = pct_diagnoses_add(out, PCT_RULE_LOST_WAKEUP, 0, 3, (uint32_t[]){ look, i, w->wait });
        if (d) {
            d->note[0] = "it looks,";
            d->note[1] = "which nobody waits for yet,";
            d->note[2] = "and it waits";
        }
        return true;
    }
    return false;
}

/* --- A notice to others alone ------------------------------------------------------------------------------------- */

/* The section that this notice stands in or behind, if its mutex is this one: where it was taken. */
static uint32_t section_of(const struct pct_history *h, uint32_t notice, uint32_t mutex)
{
    const uint32_t taken = h->steps[notice].section;
    const struct pct_hold *hold = taken == PCT_NO_STEP ? NULL : &h->holds[h->steps[taken].hold];
    return hold && hold->class_ == PCT_CLASS_MUTEX && hold->object == mutex ? taken : PCT_NO_STEP;
}

/* The key of a broadcast at this place, to others, while somebody waits on the condition variable at this address. */
static uint64_t key_of_others(uint64_t place, uint64_t address)
{
    return pct_evidence_notice(place ^ UINT64_C(0x6f7468657273), address);
}

bool pct_still_waits(const struct pct_history *h, uint32_t wait, uint32_t step)
{
    uint32_t wake = h->steps[wait].next;
    if (h->steps[wait].op != PCT_OP_COND_WAIT || wait > step || wake == PCT_NO_STEP || wake < step)
        return false;
    return h->steps[wake].pending || h->steps[wake].cause == PCT_NO_STEP || h->steps[wake].cause > step;
}

/* Remember whom broadcasts pass by: others than those who wait on another condition variable with the same mutex. */
static void note_others(const struct pct_history *h, struct pct_evidence *evidence, bool fails)
{
    enum { FAR = 4096 };                                              /* steps before a broadcast that are looked at */
    uint32_t *last = malloc((h->threads + (size_t)1) * sizeof *last); /* by thread: its last step so far */
    for (uint32_t thread = 0; last && thread < h->threads; thread++)
        last[thread] = PCT_NO_STEP;
    for (uint32_t i = 0; last && i < h->count; i++) {
        const struct pct_moment *m = &h->steps[i];
        for (uint32_t thread = 0; m->op == PCT_OP_COND_BROADCAST && m->place && thread < h->threads; thread++) {
            const uint32_t wait = last[thread];
            const struct pct_moment *w = wait == PCT_NO_STEP || i - wait >= FAR ? NULL : &h->steps[wait];
            if (w && w->op == PCT_OP_COND_WAIT && w->mutex && w->address && !pct_moment_same_object(w, m) &&
                pct_still_waits(h, wait, i) && section_of(h, i, w->mutex) != PCT_NO_STEP)
                pct_evidence_note(evidence, key_of_others(m->place, w->address), fails);
        }
        last[m->thread] = i;
    }
    evidence->full = evidence->full || !last;
    free(last);
}

bool pct_is_notified_behind(const struct pct_history *h, const struct pct_moment *cond, uint32_t step)
{
    const struct pct_group on = pct_history_on(h, cond->class_, cond->object);
    for (uint32_t i = on.count; i-- > 0 && on.item[i] > step;)
        if (pct_moment_notifies(&h->steps[on.item[i]]))
            return true;
    return false;
}

/* Who ends what threads wait for in two ways, and tells those who wait in one of them. If runs pass in which somebody
 * waits meanwhile, it is no more than what others wait for. */
static bool tells_others(struct pct_diagnoses *out, const struct pct_waiter *w, const struct pct_evidence *evidence)
{
    const struct pct_history *h = w->history;
    for (uint32_t i = h->count; i-- > w->wait + 1;) {
        const struct pct_moment *m = &h->steps[i];
        if (m->op != PCT_OP_COND_BROADCAST || pct_moment_same_object(m, w->at) || m->thread == w->at->thread)
            continue;
        uint32_t taken = section_of(h, i, w->at->mutex);
        if (taken == PCT_NO_STEP || taken < w->wait || pct_is_notified_behind(h, w->at, taken) ||
            (evidence && pct_evidence_passing(evidence, key_of_others(m->place, w->at->address))))
            continue;
        struct pct_diagnosis *d =
            pct_diagnoses_add(out, PCT_RULE_TELLS_OTHERS, 0, 3, (uint32_t[]){ w->wait, taken, i });
        if (d) {
            d->note[0] = "waits";
            d->note[1] = "changes something,";
            d->note[2] = "and tells others";
        }
        return true;
    }
    return false;
}

/* --- A change without a notice ------------------------------------------------------------------------------------ */

/* Whether the step lets those go on who wait as at that one: for a condition variable, or for a word that counts
 * notices, as those of Rust do. */
static bool tells(const struct pct_moment *m, const struct pct_moment *waits)
{
    return waits->class_ == PCT_CLASS_FUTEX ? m->word == PCT_WORD_NOTICE && m->address == waits->address
                                            : pct_moment_notifies(m) && pct_moment_same_object(m, waits);
}

uint32_t pct_notice_of(const struct pct_history *h, const struct pct_hold *section, const struct pct_moment *cond)
{
    bool behind = false;
    for (uint32_t i = h->steps[section->taken].next; i != PCT_NO_STEP && i < h->count; i = h->steps[i].next) {
        const struct pct_moment *m = &h->steps[i];
        if (tells(m, cond))
            return i;
        if (behind && (pct_moment_locks(m) || m->op == PCT_OP_COND_WAIT || m->op == PCT_OP_THREAD_FINISH))
            break;
        if (i == section->released && m->op == PCT_OP_COND_WAIT)
            break;
        behind = behind || i == section->released;
    }
    return PCT_NO_STEP;
}

uint64_t pct_key_of_waiters(uint64_t place, uint64_t address)
{
    return pct_evidence_notice(place ^ UINT64_C(0x77616974), address);
}

uint64_t pct_key_of_sections(uint64_t place, bool waits)
{
    return pct_evidence_notice(place, UINT64_C(0x73656374) + waits);
}

/* The key of a wait at this place that is made again, when it has ended: it is made in a loop. */
static uint64_t key_of_loop(uint64_t place)
{
    return pct_evidence_notice(place, UINT64_C(0x6c6f6f70));
}

/* Remember the sections that wait, and those that do not. */
static void note_waiters(const struct pct_history *h, struct pct_evidence *evidence, bool fails)
{
    for (uint32_t i = 0; i < h->hold_count; i++) {
        const struct pct_hold *section = &h->holds[i];
        const struct pct_moment *end = section->released == PCT_NO_STEP ? NULL : &h->steps[section->released];
        uint64_t place = h->steps[section->taken].place;
        if (!end || !place)
            continue;
        bool waits = end->op == PCT_OP_COND_WAIT;
        pct_evidence_note(evidence, pct_key_of_sections(place, waits), fails);
        if (waits && end->address)
            pct_evidence_note(evidence, pct_key_of_waiters(place, end->address), fails);
    }
}

/* Where the wait that has ended here was made again, at the same place, and the mutex was not given back between: the
 * wait stands in a loop. PCT_NO_STEP: it was not. */
static uint32_t looped(const struct pct_history *h, uint32_t wake)
{
    const struct pct_moment *m = &h->steps[wake];
    const struct pct_hold *hold = m->hold == PCT_NO_HOLD ? NULL : &h->holds[m->hold];
    uint32_t again =
        hold && m->previous != PCT_NO_STEP && pct_hold_ends_in_wait(h, hold) ? hold->released : PCT_NO_STEP;
    bool same = again != PCT_NO_STEP && h->steps[again].op == PCT_OP_COND_WAIT &&
                h->steps[again].place == h->steps[m->previous].place;
    return same ? again : PCT_NO_STEP;
}

/* Whether a lock that is made of a word is taken back here, behind a wait on a condition variable made of a futex. */
static bool takes_word_back(const struct pct_moment *m)
{
    return m->waits && m->word == PCT_WORD_TAKES;
}

/* Whether the thread waits again behind this step, without having done anything but look. */
static bool waits_behind(const struct pct_history *h, uint32_t back)
{
    const struct pct_moment *m = &h->steps[back];
    return takes_word_back(m) ? m->hold != PCT_NO_HOLD && pct_hold_ends_in_wait(h, &h->holds[m->hold])
                              : pct_waited_again(h, back) != PCT_NO_STEP;
}

static void note_loops(const struct pct_history *h, struct pct_evidence *evidence, bool fails)
{
    for (uint32_t i = 0; i < h->count; i++) {
        uint32_t again = h->steps[i].op == PCT_OP_COND_WAKE ? looped(h, i) : PCT_NO_STEP;
        if (takes_word_back(&h->steps[i]) && waits_behind(h, i) && h->steps[i].place)
            pct_evidence_note(evidence, key_of_loop(h->steps[i].place), fails);
        if (again != PCT_NO_STEP && h->steps[again].place)
            pct_evidence_note(evidence, key_of_loop(h->steps[again].place), fails);
    }
}

void pct_rules_notices(const struct pct_history *h, struct pct_evidence *evidence, bool fails)
{
    note_waiters(h, evidence, fails);
    note_loops(h, evidence, fails);
    note_others(h, evidence, fails);
    pct_rules_silent_sections(h, evidence, fails);
    for (uint32_t i = 0; i < h->count; i++) {
        const struct pct_moment *m = &h->steps[i];
        /* The section that it stands in or behind: the last lock that was taken. */
        const bool notice = pct_moment_notifies(m) || m->word == PCT_WORD_NOTICE;
        const uint32_t taken = notice && m->address ? m->section : PCT_NO_STEP;
        if (taken != PCT_NO_STEP && h->steps[taken].place)
            pct_evidence_note(evidence, pct_evidence_notice(h->steps[taken].place, m->address), fails);
    }
}

/* Sections with the mutex of a wait that notify who waits there, by the places where they begin: the first notice, + 1.
 * False: there is no memory. */
static bool find_notices(const struct pct_waiter *w, struct pct_table *notices)
{
    const struct pct_history *h = w->history;
    const struct pct_group sections = pct_history_sections(h, w->lock_class, w->lock);
    for (uint32_t i = 0; i < sections.count; i++) {
        const struct pct_hold *section = &h->holds[sections.item[i]];
        const uint64_t place = h->steps[section->taken].place;
        const uint32_t notice =
            place && !pct_table_find(notices, place) ? pct_notice_of(h, section, w->at) : PCT_NO_STEP;
        uint32_t *there = notice == PCT_NO_STEP ? NULL : pct_table_add(notices, place);
        if (notice != PCT_NO_STEP && !there)
            return false;
        if (there)
            *there = notice + 1;
    }
    return true;
}

/* The base of this where a notice came later, which woke one of several. */
#define TOLD_LATER 4.4

static bool no_notice(struct pct_diagnoses *out, const struct pct_waiter *w, const struct pct_evidence *evidence)
{
    const struct pct_history *h = w->history;
    const struct pct_group sections = pct_history_sections(h, w->lock_class, w->lock);
    struct pct_table notices = PCT_TABLE(uint32_t);
    struct pct_wakes through = { 0 };
    const bool fine = find_notices(w, &notices) && pct_waiter_find_through(w, &through);
    bool found = false;
    for (uint32_t i = pct_sections_behind(h, &sections, w->since); fine && i < sections.count; i++) {
        const struct pct_hold *section = &h->holds[sections.item[i]];
        uint64_t place = h->steps[section->taken].place;
        /* A section that the run did not come to the end of could still have signalled. */
        if (section->thread == w->at->thread || section->released == PCT_NO_STEP || !place ||
            pct_hold_ends_in_wait(h, section) || pct_notice_of(h, section, w->at) != PCT_NO_STEP)
            continue;
        const uint32_t *there = pct_table_find(&notices, place);
        const uint32_t notice = there ? *there - 1 : PCT_NO_STEP;
        bool other_run =
            notice == PCT_NO_STEP && evidence && pct_evidence_has(evidence, pct_evidence_notice(place, w->at->address));
        if (notice == PCT_NO_STEP && !other_run)
            continue;
        struct pct_diagnosis *d = pct_diagnoses_add(
            out, PCT_RULE_NO_NOTICE, pct_waiter_is_one_of_several(w, section, &through) ? TOLD_LATER : 0,
            notice == PCT_NO_STEP ? 2 : 3, (uint32_t[]){ w->wait, section->taken, notice });
        if (d)
            d->note[2] = notice == PCT_NO_STEP ? NULL : "elsewhere";
        found = true;
    }
    out->full = out->full || !fine;
    pct_table_free(&notices);
    free(through.step);
    return found;
}

/* --- Woken too late ----------------------------------------------------------------------------------------------- */

bool pct_section_competes(const struct pct_history *h, uint32_t taken, const struct pct_moment *cond,
                          const struct pct_evidence *evidence)
{
    const struct pct_moment *m = &h->steps[taken];
    const struct pct_hold *section = &h->holds[m->hold];
    return m->op == PCT_OP_COND_WAKE || pct_hold_ends_in_wait(h, section) ||
           (evidence && m->place && cond->address &&
            pct_evidence_has(evidence, pct_key_of_waiters(m->place, cond->address)));
}

/* What a thread was woken for was taken back before it came to look, and nobody tells it again. */
static bool taken_back(struct pct_diagnoses *out, const struct pct_waiter *w, const struct pct_evidence *evidence)
{
    const struct pct_history *h = w->history;
    uint32_t wake = w->taken;
    if (wake == PCT_NO_STEP || h->steps[wake].op != PCT_OP_COND_WAKE || h->steps[wake].cause == PCT_NO_STEP ||
        pct_waited_again(h, wake) != w->wait || pct_is_notified_behind(h, w->at, h->steps[wake].cause))
        return false;
    uint32_t between = pct_section_between(h, h->steps[wake].cause, wake, PCT_CLASS_MUTEX, w->at->mutex);
    if (between == PCT_NO_STEP || pct_section_competes(h, between, w->at, evidence))
        return false;
    struct pct_diagnosis *d =
        pct_diagnoses_add(out, PCT_RULE_TAKEN_BACK, 0, 3, (uint32_t[]){ h->steps[wake].cause, between, w->wait });
    if (d) {
        d->note[0] = "wakes it,";
        d->note[1] = "comes first,";
        d->note[2] = "and it waits again";
    }
    return true;
}

static void nobody_signals(struct pct_diagnoses *out, const struct pct_waiter *w)
{
    if (!pct_is_notified_behind(w->history, w->at, w->wait))
        pct_diagnoses_add(out, PCT_RULE_NOBODY_SIGNALS, 0, 1, &w->wait);
}

/* --- Signalled before --------------------------------------------------------------------------------------------- */

/* Who waits without looking waits in every run, whatever has happened. */
static bool never_looks(const struct pct_waiter *w, const struct pct_evidence *evidence)
{
    uint64_t place = w->taken == PCT_NO_STEP ? 0 : w->history->steps[w->taken].place;
    return place && evidence && !pct_evidence_has(evidence, pct_key_of_sections(place, false)) &&
           pct_evidence_passing(evidence, pct_key_of_sections(place, true)) >= PCT_EVIDENCE_ENOUGH;
}

/* The last notice of all to who waits there. PCT_NO_STEP: there is none, or it has woken somebody. */
static uint32_t last_in_vain(const struct pct_history *h, const struct pct_moment *at)
{
    uint32_t last = h->count;
    while (last-- > 0)
        if (pct_moment_notifies(&h->steps[last]) && pct_moment_same_object(&h->steps[last], at))
            break;
    for (uint32_t i = last + 1; last != PCT_NO_STEP && i < h->count; i++)
        if (h->steps[i].cause == last)
            return PCT_NO_STEP;
    return last;
}

/* A signal that came before the wait is missed then. last: the last one before the wait is over, or all is, if it has
 * woken nobody. */
static bool signalled_before(struct pct_diagnoses *out, const struct pct_waiter *w, uint32_t last, enum pct_rule rule)
{
    const struct pct_history *h = w->history;
    if (last == PCT_NO_STEP || w->taken == PCT_NO_STEP || last > w->taken || h->steps[last].thread == w->at->thread)
        return false;
    struct pct_diagnosis *d = pct_diagnoses_add(out, rule, 0, 3, (uint32_t[]){ w->taken, last, w->wait });
    if (d) {
        d->note[0] = "comes behind that,";
        d->note[1] = "nobody waits for it yet";
        d->note[2] = "and waits";
    }
    return true;
}

/* --- Who waits at the end ----------------------------------------------------------------------------------------- */

/* Whether this futex counts notices, as the condition variables of Rust and those of the program's own do: somebody
 * raises the word, and nobody takes it as a lock is taken. */
static bool counts_notices(const struct pct_history *h, const struct pct_moment *futex)
{
    bool raised = false;
    for (uint32_t i = 0; futex->address && i < h->count; i++) {
        const struct pct_moment *m = &h->steps[i];
        /* It is made by a store. */
        if (m->class_ != PCT_CLASS_MEMORY || m->address != futex->address || (m->op == PCT_OP_STORE && !raised))
            continue;
        if (m->op != PCT_OP_ATOMIC_UPDATE && pct_moment_access(m) != PCT_ACCESS_READ)
            return false;
        raised = raised || m->op == PCT_OP_ATOMIC_UPDATE;
    }
    return raised;
}

/* Whether this futex is a flag, such as of std::atomic::wait(): none of those who wait for it writes it. */
static bool is_flag(const struct pct_history *h, const struct pct_moment *futex)
{
    bool *waits = calloc(h->threads + (size_t)1, sizeof *waits), written = false, otherwise = !waits;
    for (uint32_t i = 0; waits && i < h->count; i++)
        if (h->steps[i].op == PCT_OP_FUTEX_WAIT && pct_moment_same_object(&h->steps[i], futex))
            waits[h->steps[i].thread] = true;
    for (uint32_t i = 0; futex->address && !otherwise && i < h->count; i++) {
        const struct pct_moment *m = &h->steps[i];
        if (m->class_ != PCT_CLASS_MEMORY || m->address != futex->address || m->op == PCT_OP_LOAD ||
            m->op == PCT_OP_ATOMIC_LOAD)
            continue;
        otherwise = m->word || waits[m->thread];
        written = true;
    }
    free(waits);
    return written && !otherwise;
}

/* The lock with which the waiter has looked: that of the wait, or, if it gives another one back while it has that, the
 * other one. So does a C++ condition_variable_any, which waits with a mutex of its own. */
static void find_guard(struct pct_waiter *w)
{
    const struct pct_history *h = w->history;
    const struct pct_hold *own = pct_history_ended(h, w->wait), *guard = NULL;
    for (uint32_t i = own ? h->steps[own->taken].held : 0; i; i = h->links[i].next) {
        const struct pct_hold *hold = &h->holds[h->links[i].hold];
        if (hold->taken < own->taken && hold->released > own->taken && hold->released < w->wait &&
            (!guard || hold > guard))
            guard = hold;
    }
    w->guard = guard ? guard : own;
    w->taken = own ? w->guard->taken : PCT_NO_STEP;
    w->lock_class = PCT_CLASS_MUTEX;
    w->lock = w->at->mutex;
    w->since = w->wait;
}

/* The same of who waits for a word that counts notices: the lock that is made of a word, which it has given up for
 * that. Returns whether that is known. */
static bool find_word(struct pct_waiter *w)
{
    const struct pct_history *h = w->history;
    uint32_t given = h->steps[w->wait].previous;
    while (given != PCT_NO_STEP &&
           (h->steps[given].op == PCT_OP_FUTEX_WAKE || h->steps[given].op == PCT_OP_ATOMIC_LOAD))
        given = h->steps[given].previous;
    w->guard = given != PCT_NO_STEP && h->steps[given].waits ? pct_history_ended(h, given) : NULL;
    if (!w->guard || w->guard->class_ != PCT_CLASS_MEMORY)
        return false;
    w->taken = w->guard->taken;
    w->lock_class = PCT_CLASS_MEMORY;
    w->lock = w->guard->object;
    w->since = given;
    return true;
}

void pct_rules_wakes(struct pct_diagnoses *out, const struct pct_history *h, const struct pct_evidence *evidence)
{
    if (h->trace->header.verdict != PCT_VERDICT_DEADLOCK)
        return;
    pct_rules_nobody_left(out, h, evidence);
    for (uint32_t i = h->count; i < h->all; i++) {
        struct pct_waiter w = { .history = h, .at = &h->steps[i], .wait = h->steps[i].previous };
        bool futex = w.at->blocked && w.at->class_ == PCT_CLASS_FUTEX && w.wait != PCT_NO_STEP &&
                     h->steps[w.wait].op == PCT_OP_FUTEX_WAIT;
        if (futex && counts_notices(h, w.at) && !pct_rules_wrong_waiter(out, &w) && find_word(&w))
            no_notice(out, &w, evidence);
        else if (futex && is_flag(h, w.at))
            pct_rules_one_woken(out, &w);
        if (w.at->op != PCT_OP_COND_WAKE || w.at->class_ != PCT_CLASS_COND || !w.at->mutex)
            continue;
        find_guard(&w);
        bool found = w.taken != PCT_NO_STEP && lost_wakeup(out, &w);
        found = pct_rules_wrong_waiter(out, &w) || found;
        found = no_notice(out, &w, evidence) || found;
        found =
            found || tells_others(out, &w, evidence) || taken_back(out, &w, evidence) || pct_rules_overtaken(out, h, i);
        if (!found)
            pct_rules_silent(out, &w, evidence);
        bool known = found || (never_looks(&w, evidence) &&
                               signalled_before(out, &w, last_in_vain(h, w.at), PCT_RULE_SIGNALLED_BEFORE));
        known = known || pct_rules_passed(out, &w, evidence);
        /* What speaks for one of these two best is named. */
        bool ended = !known && pct_rules_ended(out, h, i, evidence);
        bool absent = !known && pct_rules_not_come(out, h, i, evidence);
        if (!known && !ended && !absent)
            nobody_signals(out, &w);
    }
}

/* --- Waited in vain, and not looked ------------------------------------------------------------------------------- */

/* Who waits again when its time is up has looked. Runs that pass are counted without evidence: where it is nothing that
 * makes a run fail, they have it, too. */
void pct_rules_timed_out(struct pct_diagnoses *out, const struct pct_history *h, const struct pct_evidence *evidence)
{
    uint32_t objects = 0;
    for (uint32_t i = 0; i < h->count; i++)
        if (h->steps[i].op == PCT_OP_COND_WAKE && h->steps[i].object >= objects)
            objects = h->steps[i].object + 1;
    uint32_t *notice = calloc(objects, sizeof *notice); /* by condition variable: behind its last one so far */
    bool *woke = calloc(h->count, sizeof *woke);        /* by notice */
    for (uint32_t i = 0; woke && i < h->count; i++)
        if (h->steps[i].cause != PCT_NO_STEP)
            woke[h->steps[i].cause] = true;
    for (uint32_t wake = 0; notice && woke && wake < h->count; wake++) {
        const struct pct_moment *m = &h->steps[wake];
        if (m->class_ == PCT_CLASS_COND && m->object < objects && pct_moment_notifies(m))
            notice[m->object] = wake + 1;
        const uint32_t last = m->class_ == PCT_CLASS_COND && m->object < objects ? notice[m->object] - 1 : PCT_NO_STEP;
        if (m->op != PCT_OP_COND_WAKE || m->argument != PCT_ARG_TIMEOUT || !m->mutex || m->previous == PCT_NO_STEP ||
            last == PCT_NO_STEP || woke[last] || pct_waited_again(h, wake) != PCT_NO_STEP)
            continue;
        struct pct_waiter w = { .history = h, .at = m, .wait = m->previous };
        find_guard(&w);
        if (!evidence || never_looks(&w, evidence))
            signalled_before(out, &w, last, PCT_RULE_TIMED_OUT);
    }
    free(woke);
    free(notice);
}

/* --- Woken, and not looked again ---------------------------------------------------------------------------------- */

/* What woke the thread that has the lock again here, with which it looked; or, made of words, the last notice before
 * that: whether it has waited for it does not matter. PCT_NO_STEP: there is none. */
static uint32_t notice_before(const struct pct_history *h, uint32_t back)
{
    const struct pct_moment *m = &h->steps[back];
    if (m->op == PCT_OP_COND_WAKE)
        return m->mutex ? m->cause : PCT_NO_STEP;
    uint32_t given = takes_word_back(m) ? m->previous : PCT_NO_STEP;
    while (given != PCT_NO_STEP && (!h->steps[given].waits || !pct_moment_same_object(&h->steps[given], m)))
        given = h->steps[given].previous;
    for (uint32_t i = back; given != PCT_NO_STEP && i-- > given;)
        if (h->steps[i].word == PCT_WORD_NOTICE && h->steps[i].thread != m->thread)
            return i;
    return PCT_NO_STEP;
}

/* Whether the thread fails right behind this step, before it does anything else. */
static bool fails_behind(const struct pct_history *h, uint32_t step)
{
    uint32_t next = h->steps[step].next;
    while (next != PCT_NO_STEP && h->steps[next].foreign && !h->steps[next].unwinding)
        next = h->steps[next].next;
    return next == PCT_NO_STEP ? h->trace->header.culprit == h->steps[step].thread : h->steps[next].unwinding;
}

/* Whether it was made in a loop or not, nobody sees in a trace, unless it was made again in this run or another one:
 * only that the thread went on. Most of those who do have looked; one that fails before it does anything else has
 * hardly. */
void pct_rules_woken(struct pct_diagnoses *out, const struct pct_history *h, const struct pct_evidence *evidence)
{
    for (uint32_t back = 0; back < h->failed; back++) {
        const struct pct_moment *m = &h->steps[back];
        uint32_t notice = notice_before(h, back);
        if (notice == PCT_NO_STEP || waits_behind(h, back))
            continue;
        bool word = takes_word_back(m);
        uint64_t place = word ? m->place : m->previous == PCT_NO_STEP ? 0 : h->steps[m->previous].place;
        bool loop = evidence && place && pct_evidence_has(evidence, key_of_loop(place));
        uint32_t between = pct_section_between(h, notice, back, word ? PCT_CLASS_MEMORY : PCT_CLASS_MUTEX,
                                               word ? m->object : m->mutex);
        /* A broadcast lets all go on who wait: those who look whether it is for them may come in any order. */
        if (between == PCT_NO_STEP || (loop && notice_before(h, between) == notice))
            continue;
        struct pct_diagnosis *d =
            pct_diagnoses_add(out, loop ? PCT_RULE_WOKEN_SECOND : PCT_RULE_NOT_LOOKED_AGAIN,
                              fails_behind(h, back) && !loop ? 9 : 0, 3, (uint32_t[]){ notice, between, back });
        if (d) {
            d->note[0] = "wakes it,";
            d->note[1] = loop ? "comes first," : "comes in between,";
            d->note[2] = "and it goes on";
        }
    }
}
