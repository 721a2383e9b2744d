/* Of a run that ended in a deadlock, who would have woken a thread that waits on a condition variable, or come to its
 * barrier, and has ended, or waits as well: something was stopped too early, or each waits for the other. See rules.h.
 */
#include "evidence.h"
#include "rules.h"
#include <stdlib.h>

/* The base of what no thread of its kind does in runs that pass, as in those of who has not come. */
#define SILENTLY 6.4

/* The key of this kind of thread, which lets those go on that wait for the object at this address, a condition variable
 * or a barrier. */
static uint64_t key_of(uint64_t role, uint64_t address)
{
    return pct_evidence_notice(role ^ UINT64_C(0x726f6c65), address);
}

static bool has_ended(const struct pct_history *h, uint32_t thread)
{
    return h->last[thread] != PCT_NO_STEP && h->steps[h->last[thread]].op == PCT_OP_THREAD_FINISH;
}

/* The keys of a thread of this kind that has taken the mutex, or signalled the condition variable, at this address, and
 * of one that has ended without. */
static uint64_t key_of_coming(uint64_t role, uint64_t address, bool came)
{
    return pct_evidence_notice(role ^ (came ? UINT64_C(0x636f6d6573) : UINT64_C(0x736b697073)), address);
}

static void note_coming(const struct pct_history *h, struct pct_evidence *evidence, bool fails)
{
    /* By number: of mutexes, and of condition variables. */
    uint64_t address[64] = { 0 };
    for (uint32_t i = 0; i < h->hold_count; i++)
        if (h->holds[i].class_ == PCT_CLASS_MUTEX && h->holds[i].object < 64)
            address[h->holds[i].object] = h->steps[h->holds[i].taken].address;
    for (uint32_t i = 0; i < h->count; i++)
        if (h->steps[i].class_ == PCT_CLASS_COND && h->steps[i].object < 64 && pct_moment_tells(&h->steps[i]))
            address[h->steps[i].object] = h->steps[i].address;
    for (uint32_t thread = 0; thread < h->threads; thread++) {
        const uint64_t role = has_ended(h, thread) ? pct_history_role(h, thread) : 0;
        const uint64_t taken = h->index.took[thread] | h->index.told[thread];
        for (unsigned object = 0; role && object < 64; object++)
            if (address[object])
                pct_evidence_note(evidence, key_of_coming(role, address[object], taken >> object & 1), fails);
    }
}

/* Whether the thread wakes who waits for the word right behind this step: that is a notice, which is sent by whoever
 * has something to tell. */
static bool is_notice(const struct pct_history *h, const struct pct_moment *m)
{
    const struct pct_moment *next = m->next == PCT_NO_STEP ? NULL : &h->steps[m->next];
    return next && next->op == PCT_OP_FUTEX_WAKE && next->address == m->address;
}

/* Whether the step changes a word in memory, and is no notice. */
static bool changes_word(const struct pct_history *h, const struct pct_moment *m)
{
    return !m->pending && m->class_ == PCT_CLASS_MEMORY && pct_moment_access(m) != PCT_ACCESS_READ && !is_notice(h, m);
}

/* By thread, the last step by which it changed the word at this address, but for notices; PCT_NO_STEP: it did not. To
 * be freed; NULL: there is no memory. */
static uint32_t *changed_by(const struct pct_history *h, uint64_t address)
{
    uint32_t *step = malloc((h->threads + (size_t)1) * sizeof *step);
    for (uint32_t thread = 0; step && thread < h->threads; thread++)
        step[thread] = PCT_NO_STEP;
    for (uint32_t i = 0; step && i < h->count; i++)
        if (h->steps[i].address == address && changes_word(h, &h->steps[i]))
            step[h->steps[i].thread] = i;
    return step;
}

/* A step by which another thread of this kind changed it. PCT_NO_STEP: none did. */
static uint32_t changed_alike(const struct pct_history *h, uint32_t thread, const uint32_t *changed)
{
    const uint64_t role = pct_history_role(h, thread);
    for (uint32_t other = 0; role && other < h->threads; other++)
        if (other != thread && changed[other] != PCT_NO_STEP && pct_history_role(h, other) == role)
            return changed[other];
    return PCT_NO_STEP;
}

/* The key of a word at this address to which several threads of this kind come, at one place. */
static uint64_t key_of_several(uint64_t role, uint64_t address)
{
    return pct_evidence_notice(role ^ UINT64_C(0x7365766572616c), address);
}

/* The first words that are waited for by futexes: how many. */
static unsigned find_words(const struct pct_history *h, uint64_t *words, unsigned room)
{
    unsigned count = 0;
    for (uint32_t i = 0; i < h->count && count < room; i++) {
        uint64_t address = h->steps[i].op == PCT_OP_FUTEX_WAIT ? h->steps[i].address : 0;
        for (unsigned j = 0; j < count && address; j++)
            address = words[j] == address ? 0 : address;
        if (address)
            words[count++] = address;
    }
    return count;
}

/* Remember the words of futexes to which several threads of a kind come. */
static void note_several(const struct pct_history *h, struct pct_evidence *evidence, bool fails)
{
    enum { WORDS = 16, THREADS = 64 };
    uint64_t words[WORDS];
    const unsigned count = find_words(h, words, WORDS);
    for (unsigned i = 0; i < count; i++) {
        uint32_t step[THREADS] = { 0 }; /* by thread, + 1 */
        for (uint32_t j = 0; j < h->count; j++)
            if (h->steps[j].address == words[i] && h->steps[j].thread < THREADS && changes_word(h, &h->steps[j]))
                step[h->steps[j].thread] = j + 1;
        for (uint32_t one = 0; one < THREADS; one++)
            for (uint32_t other = 0; step[one] && other < one; other++) {
                const uint64_t place = h->steps[step[one] - 1].place;
                if (!step[other] || !place || h->steps[step[other] - 1].place != place)
                    continue;
                const uint64_t role = pct_history_role(h, one);
                if (role && role == pct_history_role(h, other))
                    pct_evidence_note(evidence, key_of_several(role, words[i]), fails);
            }
    }
}

void pct_rules_roles(const struct pct_history *h, struct pct_evidence *evidence, bool fails)
{
    note_coming(h, evidence, fails);
    note_several(h, evidence, fails);
    for (uint32_t thread = 0; thread < h->threads; thread++) {
        uint64_t role = h->last[thread] == PCT_NO_STEP ? 0 : pct_history_role(h, thread);
        for (uint32_t i = role ? h->last[thread] : PCT_NO_STEP; i != PCT_NO_STEP; i = h->steps[i].previous)
            if (pct_moment_tells(&h->steps[i]) && h->steps[i].address)
                pct_evidence_note(evidence, key_of(role, h->steps[i].address), fails);
    }
}

static bool would_signal(const struct pct_history *h, uint32_t thread, const struct pct_moment *awaited,
                         const struct pct_evidence *evidence)
{
    if (pct_history_tells(h, thread, awaited))
        return true;
    uint64_t role = evidence && awaited->address ? pct_history_role(h, thread) : 0;
    return role && pct_evidence_has(evidence, key_of(role, awaited->address));
}

enum pct_signallers pct_rules_signallers(const struct pct_history *h, const struct pct_moment *wait,
                                         const struct pct_evidence *evidence)
{
    bool ended = false, unknown = false;
    for (uint32_t thread = 0; thread < h->threads; thread++) {
        const uint32_t last = h->last[thread];
        if (thread == wait->thread || last == PCT_NO_STEP)
            continue;
        const bool would = would_signal(h, thread, wait, evidence);
        if (would && !has_ended(h, thread))
            return PCT_SIGNALLERS_LEFT;
        ended = ended || would;
        /* What threads of its kind do in other runs is not known of main(). */
        const bool joins = h->steps[last].class_ == PCT_CLASS_THREAD;
        unknown = unknown || (!joins && !has_ended(h, thread) && !pct_history_role(h, thread));
    }
    return ended && !unknown ? PCT_SIGNALLERS_ENDED : PCT_SIGNALLERS_UNKNOWN;
}

/* The step by which somebody waits for the end of this thread, made or not. PCT_NO_STEP: nobody does. */
static uint32_t join_of(const struct pct_history *h, uint32_t thread)
{
    const struct pct_group made = pct_history_on(h, PCT_CLASS_THREAD, thread);
    for (uint32_t i = h->all; i-- > h->count;)
        if (h->steps[i].op == PCT_OP_THREAD_JOIN && h->steps[i].object == thread)
            return i;
    for (uint32_t i = made.count; i-- > 0;)
        if (h->steps[made.item[i]].op == PCT_OP_THREAD_JOIN)
            return made.item[i];
    return PCT_NO_STEP;
}

/* The last thing that who waits for its end did before it ended: what told it to, mostly. */
static uint32_t before_join(const struct pct_history *h, uint32_t join, uint32_t finish)
{
    uint32_t i = h->steps[join].previous;
    while (i != PCT_NO_STEP && (i > finish || !(pct_moment_tells(&h->steps[i]) || pct_moment_access(&h->steps[i]))))
        i = h->steps[i].previous;
    return i;
}

/* --- Those who are left wait as well ------------------------------------------------------------------------------ */

static bool waits_on_condition(const struct pct_moment *m)
{
    return m->pending && m->op == PCT_OP_COND_WAKE && m->class_ == PCT_CLASS_COND;
}

/* Where the thread had last come through a section with the mutex of this wait, before the one that waits: mostly where
 * it took what the others need. PCT_NO_STEP: it had not. */
static uint32_t section_before(const struct pct_history *h, uint32_t waiting)
{
    uint32_t i = h->steps[waiting].previous;
    for (unsigned sections = 0; i != PCT_NO_STEP; i = h->steps[i].previous)
        if (h->steps[i].op == PCT_OP_MUTEX_LOCK && h->steps[i].object == h->steps[waiting].mutex && sections++)
            return i;
    return PCT_NO_STEP;
}

/* Whether somebody has signalled what the thread waits for since it began to wait, and woken another one. */
static bool signalled_since(const struct pct_history *h, uint32_t waiting)
{
    const struct pct_moment *m = &h->steps[waiting];
    const struct pct_group on = pct_history_on(h, m->class_, m->object);
    for (uint32_t i = on.count; i-- > 0 && on.item[i] >= m->previous;)
        if (pct_moment_tells(&h->steps[on.item[i]]) && h->steps[on.item[i]].argument != PCT_ARG_NOBODY)
            return true;
    return false;
}

/* Less than that a signal has woken one of several, wherever that was: one was sent. */
#define SENT_TO_ANOTHER 3

/* Each thread that would signal waits on a condition variable itself, or has ended; two or more of them wait. */
static bool all_wait(struct pct_diagnoses *out, const struct pct_history *h, uint32_t waiting,
                     const struct pct_evidence *evidence)
{
    uint32_t steps[PCT_DIAGNOSIS_STEPS] = { h->steps[waiting].previous };
    unsigned count = 1, waiters = 1;
    bool sent = signalled_since(h, waiting);
    for (uint32_t thread = 0; thread < h->threads; thread++) {
        uint32_t last = h->last[thread];
        if (last == PCT_NO_STEP || h->steps[last].op == PCT_OP_THREAD_FINISH ||
            !would_signal(h, thread, &h->steps[waiting], evidence))
            continue;
        if (!waits_on_condition(&h->steps[last]))
            return false;
        waiters += last != waiting;
        sent = sent || signalled_since(h, last);
        uint32_t before = section_before(h, last);
        if (last != waiting && count < PCT_DIAGNOSIS_STEPS)
            steps[count++] = h->steps[last].previous;
        if (before != PCT_NO_STEP && count < PCT_DIAGNOSIS_STEPS)
            steps[count++] = before;
    }
    if (waiters < 2)
        return false;
    struct pct_diagnosis *d = pct_diagnoses_add(out, PCT_RULE_ALL_WAIT, sent ? SENT_TO_ANOTHER : 0, count, steps);
    for (unsigned i = 0; d && i < count; i++)
        d->note[i] = h->steps[steps[i]].op == PCT_OP_COND_WAIT ? "and it waits" : "it has come through here,";
    return true;
}

/* --- Who has ended ------------------------------------------------------------------------------------------------ */

/* The last that the thread of this step did to any object before it. PCT_NO_STEP: nothing. */
static uint32_t last_access(const struct pct_history *h, uint32_t step)
{
    do
        step = h->steps[step].previous;
    while (step != PCT_NO_STEP && !pct_moment_access(&h->steps[step]));
    return step;
}

/* Where the waiter asked for what it waits for, if that was too late: a notice for which nobody waits any more, behind
 * the last look of the thread that has ended. PCT_NO_STEP: it did not. */
static uint32_t asked_too_late(const struct pct_history *h, uint32_t wait, uint32_t finish)
{
    uint32_t look = h->steps[finish].previous, i = h->steps[wait].previous;
    while (look != PCT_NO_STEP && !pct_moment_locks(&h->steps[look]) && h->steps[look].op != PCT_OP_COND_WAKE)
        look = h->steps[look].previous;
    while (i != PCT_NO_STEP && !pct_moment_tells(&h->steps[i]))
        i = h->steps[i].previous;
    return look != PCT_NO_STEP && i != PCT_NO_STEP && i > look && h->steps[i].argument == PCT_ARG_NOBODY ? i
                                                                                                         : PCT_NO_STEP;
}

/* Who waits by itself, and who waits for the end of others, at its last step. */
static bool has_nothing_to_tell(const struct pct_moment *last, const struct pct_moment *wait)
{
    return last == wait || (last->blocked && last->class_ == PCT_CLASS_THREAD);
}

/* The end of a thread without a signal to this wait, where each of its kind that ended in runs that passed had sent
 * one. PCT_NO_STEP: there is none. */
static uint32_t ended_silently(const struct pct_history *h, const struct pct_moment *wait,
                               const struct pct_evidence *evidence)
{
    for (uint32_t thread = 0; evidence && wait->address && wait->object < 64 && thread < h->threads; thread++) {
        uint64_t role = has_ended(h, thread) ? pct_history_role(h, thread) : 0;
        if (role && !(h->index.told[thread] >> wait->object & 1) &&
            pct_evidence_passing(evidence, key_of_coming(role, wait->address, true)) >= PCT_EVIDENCE_ENOUGH &&
            !pct_evidence_passing(evidence, key_of_coming(role, wait->address, false)))
            return h->last[thread];
    }
    return PCT_NO_STEP;
}

/* That the thread of this step has ended; base: 0: the rule's. */
static void add_ended(struct pct_diagnoses *out, const struct pct_history *h, uint32_t wait, uint32_t finish,
                      double base)
{
    const uint32_t did = last_access(h, finish);
    struct pct_diagnosis *d =
        pct_diagnoses_add(out, PCT_RULE_HAS_ENDED, base, did == PCT_NO_STEP ? 2 : 3, (uint32_t[]){ wait, finish, did });
    if (!d)
        return;
    d->note[1] = "has ended";
    d->note[2] = "does this last";
}

bool pct_rules_ended(struct pct_diagnoses *out, const struct pct_history *h, uint32_t waiting,
                     const struct pct_evidence *evidence)
{
    const struct pct_moment *wait = &h->steps[waiting];
    uint32_t finish = ended_silently(h, wait, evidence);
    if (finish != PCT_NO_STEP) {
        add_ended(out, h, wait->previous, finish, SILENTLY);
        return true;
    }
    for (uint32_t thread = 0; thread < h->threads; thread++) {
        uint32_t last = h->last[thread];
        if (last == PCT_NO_STEP || has_nothing_to_tell(&h->steps[last], wait) ||
            !would_signal(h, thread, wait, evidence))
            continue;
        if (h->steps[last].op != PCT_OP_THREAD_FINISH)
            return all_wait(out, h, waiting, evidence);
        finish = finish == PCT_NO_STEP || last > finish ? last : finish;
    }
    if (finish == PCT_NO_STEP)
        return false;
    uint32_t join = join_of(h, h->steps[finish].thread);
    uint32_t before = join == PCT_NO_STEP ? PCT_NO_STEP : before_join(h, join, finish);
    uint32_t asked = asked_too_late(h, wait->previous, finish);
    uint32_t steps[5] = { wait->previous, finish };
    const char *note[5] = { NULL, "has ended" };
    unsigned count = 2;
    if (before != PCT_NO_STEP) {
        note[count] = "by who waits for that, before,";
        steps[count++] = before;
        note[count] = "and here";
        steps[count++] = join;
    }
    if (asked != PCT_NO_STEP) {
        note[count] = "asks for it, and nobody waits for that any more";
        steps[count++] = asked;
    }
    /* That it has ended is no more than what came of it, if nobody shows why it should not have. */
    if (count == 2) {
        add_ended(out, h, wait->previous, finish, 4.2);
        return true;
    }
    struct pct_diagnosis *d = pct_diagnoses_add(out, PCT_RULE_HAS_ENDED, 0, count, steps);
    for (unsigned i = 0; d && i < count; i++)
        d->note[i] = note[i];
    return true;
}

/* --- Barriers ----------------------------------------------------------------------------------------------------- */

void pct_rules_barriers(struct pct_diagnoses *out, const struct pct_history *h, const struct pct_evidence *evidence)
{
    if (h->trace->header.verdict != PCT_VERDICT_DEADLOCK)
        return;
    for (uint32_t waiting = h->count; waiting < h->all; waiting++) {
        const struct pct_moment *m = &h->steps[waiting];
        if (!m->blocked || m->op != PCT_OP_BARRIER_LEAVE || m->previous == PCT_NO_STEP)
            continue;
        for (uint32_t thread = 0; thread < h->threads; thread++) {
            uint32_t finish = h->last[thread];
            if (finish == PCT_NO_STEP || h->steps[finish].op != PCT_OP_THREAD_FINISH ||
                !would_signal(h, thread, m, evidence))
                continue;
            uint32_t before = last_access(h, finish);
            struct pct_diagnosis *d = pct_diagnoses_add(out, PCT_RULE_LEFT_BARRIER, 0, before == PCT_NO_STEP ? 2 : 3,
                                                        (uint32_t[]){ m->previous, finish, before });
            if (!d)
                continue;
            d->note[0] = "waits for the others";
            d->note[1] = "and has ended";
            d->note[2] = "does this last,";
        }
    }
}

/* --- Who has not come --------------------------------------------------------------------------------------------- */

/* The address of the mutex of this wait, 0: not known. */
static uint64_t address_of_mutex(const struct pct_history *h, const struct pct_moment *wait)
{
    const struct pct_group sections = pct_history_sections(h, PCT_CLASS_MUTEX, wait->mutex);
    for (uint32_t i = 0; i < sections.count; i++) {
        const struct pct_moment *taken = &h->steps[h->holds[sections.item[i]].taken];
        if (taken->op != PCT_OP_COND_WAKE)
            return taken->address;
    }
    return 0;
}

/* Whether another thread of this kind has taken the mutex in this run. */
static bool like_came(const struct pct_history *h, uint64_t role, uint32_t mutex)
{
    for (uint32_t thread = 0; thread < h->threads; thread++)
        if (h->last[thread] != PCT_NO_STEP && h->index.took[thread] >> mutex & 1 && pct_history_role(h, thread) == role)
            return true;
    return false;
}

bool pct_rules_not_come(struct pct_diagnoses *out, const struct pct_history *h, uint32_t waiting,
                        const struct pct_evidence *evidence)
{
    const struct pct_moment *m = &h->steps[waiting];
    uint64_t address = m->mutex && m->mutex < 64 ? address_of_mutex(h, m) : 0;
    for (uint32_t thread = 0; address && thread < h->threads; thread++) {
        uint64_t role = has_ended(h, thread) ? pct_history_role(h, thread) : 0;
        if (!role || h->index.took[thread] >> m->mutex & 1)
            continue;
        bool always = evidence &&
                      pct_evidence_passing(evidence, key_of_coming(role, address, true)) >= PCT_EVIDENCE_ENOUGH &&
                      !pct_evidence_passing(evidence, key_of_coming(role, address, false));
        bool some = evidence && pct_evidence_passing(evidence, key_of_coming(role, address, false));
        if (!always && (some || !like_came(h, role, m->mutex)))
            continue;
        uint32_t finish = h->last[thread], before = last_access(h, finish);
        struct pct_diagnosis *d =
            pct_diagnoses_add(out, PCT_RULE_NOT_COME, always ? 0 : 5, before == PCT_NO_STEP ? 2 : 3,
                              (uint32_t[]){ m->previous, finish, before });
        if (d) {
            d->note[0] = "waits";
            d->note[1] = "and has ended";
            d->note[2] = "does this last,";
        }
        return true;
    }
    return false;
}

/* Whether the word has been taken as a lock is (words.h). */
static bool is_lock(const struct pct_history *h, uint64_t address)
{
    for (uint32_t i = 0; i < h->hold_count; i++)
        if (h->holds[i].class_ == PCT_CLASS_MEMORY && h->steps[h->holds[i].taken].address == address)
            return true;
    return false;
}

/* changed: by thread (changed_by()). */
static void look_at_word(struct pct_diagnoses *out, const struct pct_history *h, const struct pct_moment *m,
                         const uint32_t *changed, const struct pct_evidence *evidence)
{
    for (uint32_t thread = 0; thread < h->threads; thread++) {
        const bool came = !has_ended(h, thread) || changed[thread] != PCT_NO_STEP;
        const uint32_t alike = came ? PCT_NO_STEP : changed_alike(h, thread, changed);
        /* A word of its own, as a thread that parks has, is none that others come to. */
        if (alike == PCT_NO_STEP ||
            (h->steps[alike].thread == m->thread &&
             !(evidence && pct_evidence_has(evidence, key_of_several(pct_history_role(h, thread), m->address)))))
            continue;
        uint32_t finish = h->last[thread], before = last_access(h, finish);
        struct pct_diagnosis *d = pct_diagnoses_add(out, PCT_RULE_NOT_COUNTED, 0, before == PCT_NO_STEP ? 3 : 4,
                                                    (uint32_t[]){ m->previous, finish, alike, before });
        if (!d)
            continue;
        d->note[0] = "waits";
        d->note[1] = "and has ended";
        d->note[2] = "comes to it";
        d->note[3] = before == PCT_NO_STEP ? NULL : "does this last,";
    }
}

void pct_rules_not_counted(struct pct_diagnoses *out, const struct pct_history *h, const struct pct_evidence *evidence)
{
    uint64_t address = 0; /* of the word that was looked at last */
    uint32_t *changed = NULL;
    for (uint32_t i = h->count; i < h->all && h->trace->header.verdict == PCT_VERDICT_DEADLOCK; i++) {
        const struct pct_moment *m = &h->steps[i];
        if (!m->blocked || m->class_ != PCT_CLASS_FUTEX || !m->address || is_lock(h, m->address))
            continue;
        if (m->address != address)
            free(changed);
        changed = m->address == address ? changed : changed_by(h, m->address);
        address = m->address;
        if (changed)
            look_at_word(out, h, m, changed, evidence);
        out->full = out->full || !changed;
    }
    free(changed);
}
