/* Of a run that ended in a deadlock, a section that tells nobody of what it changed, while somebody waits for it: see
 * rules_wakes.h. What is changed nobody sees. Other runs tell, in two ways: who comes behind such a section finds what
 * others wait for; or the section never comes while somebody waits in runs that pass, and it does in those that fail.
 */
#include "evidence.h"
#include "rules_wakes.h"

enum { FAR = 1024, ALL = 1 << 20 }; /* steps behind a wait, and behind all of them, that are looked at */

/* What is known of a section at one place, while somebody waits at another: that it is silent; that who came next, to
 * look for the same, found it; or did not. Of the wait alone: that it is made; that others who look there look for
 * something else, which they find though nobody has changed anything. */
enum known { SILENT, FOUND, NOT_FOUND, WAITED, ELSE };

static uint64_t key_of(uint64_t section, uint64_t wait, enum known what)
{
    return pct_evidence_notice(section ^ UINT64_C(0x73696c656e74), wait + what * UINT64_C(0x9e3779b97f4a7c15));
}

/* A wait, and where its thread had come to look. */
struct wait {
    const struct pct_history *history;
    const struct pct_moment *at;
    uint32_t step;
    uint64_t look; /* the place where it had taken the mutex to look, 0: it was woken and looked again */
};

/* Whether the section is one with the mutex of this wait, by another thread, that has come to its end. */
static bool is_of(const struct wait *w, const struct pct_hold *section)
{
    return section->class_ == PCT_CLASS_MUTEX && section->object == w->at->mutex && section->thread != w->at->thread &&
           section->taken > w->step && section->released != PCT_NO_STEP;
}

static bool waits_alike(const struct wait *w, const struct pct_hold *section)
{
    const struct pct_moment *end = &w->history->steps[section->released];
    return end->op == PCT_OP_COND_WAIT && pct_moment_same_object(end, w->at);
}

/* Whether who has the mutex in this section may have been waiting for the same, or does so behind it. */
static bool is_silent(const struct wait *w, const struct pct_hold *section)
{
    const struct pct_moment *begin = &w->history->steps[section->taken];
    const struct pct_moment *end = &w->history->steps[section->released];
    bool woken = begin->op == PCT_OP_COND_WAKE && pct_moment_same_object(begin, w->at);
    return begin->place && begin->place != w->look && !woken && end->op != PCT_OP_COND_WAIT &&
           pct_notice_of(w->history, section, w->at) == PCT_NO_STEP;
}

/* Remember what comes while this one waits. Returns how many steps were looked at. */
static unsigned note_wait(const struct wait *w, struct pct_evidence *evidence, bool fails)
{
    const struct pct_history *h = w->history;
    const struct pct_hold *silent = NULL;
    bool vain = true; /* nobody has changed anything since somebody looked in vain */
    unsigned steps = 0;
    for (uint32_t i = w->step + 1; i < h->count && steps < FAR && pct_still_waits(h, w->step, i); i++, steps++) {
        const struct pct_hold *section = h->steps[i].hold == PCT_NO_HOLD ? NULL : &h->holds[h->steps[i].hold];
        if (!section || !is_of(w, section))
            continue;
        uint64_t place = h->steps[i].place;
        bool waits = waits_alike(w, section), looks = place && place == w->look && h->steps[i].op != PCT_OP_COND_WAKE;
        if (silent && vain && (waits || looks))
            pct_evidence_note(evidence, key_of(h->steps[silent->taken].place, w->at->place, waits ? NOT_FOUND : FOUND),
                              fails);
        if (!silent && vain && looks && !waits)
            pct_evidence_note(evidence, key_of(0, w->at->place, ELSE), fails);
        bool quiet = is_silent(w, section);
        if (quiet)
            pct_evidence_note(evidence, key_of(place, w->at->place, SILENT), fails);
        vain = waits || (vain && quiet && !silent);
        silent = quiet && vain ? section : NULL;
    }
    return steps;
}

void pct_rules_silent_sections(const struct pct_history *h, struct pct_evidence *evidence, bool fails)
{
    unsigned steps = 0;
    for (uint32_t i = 0; i < h->hold_count && steps < ALL; i++) {
        const struct pct_hold *hold = &h->holds[i];
        const struct pct_moment *begin = &h->steps[hold->taken];
        const struct pct_moment *end = hold->released == PCT_NO_STEP ? NULL : &h->steps[hold->released];
        if (!end || end->op != PCT_OP_COND_WAIT || !end->mutex || end->mutex != hold->object || !end->place)
            continue;
        struct wait w = { h, end, hold->released, begin->op == PCT_OP_COND_WAKE ? 0 : begin->place };
        pct_evidence_note(evidence, key_of(0, end->place, WAITED), fails);
        steps += note_wait(&w, evidence, fails);
    }
}

/* The base of this where other runs tell that the section has to signal; and where they are few in which anybody waits.
 */
#define HAS_TO 8
#define MAY_HAVE_TO 6.5

/* How well other runs tell that a section at this place has to signal, while somebody waits at that one: the base; 0:
 * they do not. */
static double has_to_signal(const struct pct_evidence *e, uint64_t section, uint64_t wait)
{
    if (pct_evidence_has(e, key_of(section, wait, FOUND)) && !pct_evidence_has(e, key_of(section, wait, NOT_FOUND)) &&
        !pct_evidence_has(e, key_of(0, wait, ELSE)))
        return HAS_TO;
    unsigned failing = pct_evidence_failing(e, key_of(section, wait, SILENT));
    unsigned waited = pct_evidence_passing(e, key_of(0, wait, WAITED));
    if (failing <= PCT_EVIDENCE_ENOUGH || failing < PCT_EVIDENCE_NEARLY_ALL * e->failing ||
        pct_evidence_passing(e, key_of(section, wait, SILENT)) ||
        pct_evidence_passing(e, pct_key_of_sections(section, false)) < PCT_EVIDENCE_ENOUGH)
        return 0;
    return waited >= PCT_EVIDENCE_ENOUGH ? HAS_TO : waited ? MAY_HAVE_TO : 0;
}

/* The base of this where its thread signals what is waited for at other times. */
#define OF_SIGNALLER 4.6

void pct_rules_silent(struct pct_diagnoses *out, const struct pct_waiter *waiter, const struct pct_evidence *evidence)
{
    const struct pct_history *h = waiter->history;
    const struct wait w = { h, &h->steps[waiter->wait], waiter->wait, 0 };
    const struct pct_group sections = pct_history_sections(h, PCT_CLASS_MUTEX, w.at->mutex);
    uint32_t step = PCT_NO_STEP;
    double base = 0;
    for (uint32_t i = pct_sections_behind(h, &sections, w.step); i < sections.count; i++) {
        const struct pct_hold *section = &h->holds[sections.item[i]];
        if (!is_of(&w, section))
            continue;
        double tells = evidence && is_silent(&w, section)
                           ? has_to_signal(evidence, h->steps[section->taken].place, w.at->place)
                           : 0;
        bool may = !pct_section_competes(h, section->taken, waiter->at, evidence);
        if (tells <= 0 && may && pct_history_tells(h, section->thread, w.at))
            tells = OF_SIGNALLER;
        if (tells < base || (tells <= 0 && !may))
            continue;
        step = section->taken;
        base = tells;
    }
    if (step == PCT_NO_STEP || pct_is_notified_behind(h, waiter->at, waiter->wait))
        return;
    /* Where something speaks for it, how long before the end it was does not matter. */
    struct pct_diagnosis *d = pct_diagnoses_add(out, PCT_RULE_UNTOLD, base, base > 0 ? 3 : 2,
                                                (uint32_t[]){ waiter->wait, step, h->steps[waiter->wait].next });
    if (!d)
        return;
    d->note[0] = "waits";
    d->note[2] = base > 0 ? "still waits" : NULL;
}
