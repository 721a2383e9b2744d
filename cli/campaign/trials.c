/* What trials make of the diagnoses of a run: see trials.h. */
#include "between.h"
#include "trials.h"
#include <math.h>

/* What it makes of a diagnosis's score if the run passes or (the second index) fails where the thread goes on before
 * what is said to come between, and (the first one) right behind that. Where others do the same, one of them may make
 * it fail in any case. */
static const double by_trial[2][2] = { { 0.6, 0.4 }, { 1.2, 0.9 } };

/* What both speak for has at least this where a thread waits for ever, if the other runs are not against it. */
#define TRIED 5.7
#define NOT_AGAINST 0.5
#define NOT_ALONE 0.4 /* of the runs that fail have it */
#define IN_ALL 0.9    /* of the runs that fail: as good as in all of them */
#define WHOLE 4       /* bases above this are of what does not consist of updates */
#define BEHIND 0.97   /* of the best one's score */
#define NEARLY 0.75   /* of the score of updates: nearly as good */
#define ALIKE 0.95    /* precision and recall are nearly as good */
#define MANY 8        /* runs that fail: what all of them have is needed */
#define HARMLESS 0.65 /* of the runs that pass may have it, too: nothing comes of it there */

/* How well other runs tell of what two trials speak for. That it makes this run fail is known by them: how many others
 * fail by it does not matter any more, but how many pass with it does. */
static double precision_of(const struct pct_diagnosis *d)
{
    double precision = d->failing / (d->failing + d->passing + 0.5);
    return precision * sqrt(precision);
}

/* The score of the best diagnosis that one run decides, and that all runs which fail have; 0: there is none. */
static double best_decisive(const struct pct_diagnosing *d)
{
    for (size_t i = 0; i < d->diagnoses.count; i++) {
        const struct pct_diagnosis *item = &d->diagnoses.item[i];
        if (pct_rule_decides(item->rule) && item->base >= PCT_DIAGNOSIS_DECISIVE &&
            item->failing >= IN_ALL * d->evidence.failing)
            return item->score;
    }
    return 0;
}

/* The best score of those that both trials speak for, and other runs are not against; an update is whole by itself. */
static double best_tried(const struct pct_diagnosing *d)
{
    double best = 0;
    for (size_t i = 0; i < d->diagnoses.count; i++) {
        const struct pct_diagnosis *item = &d->diagnoses.item[i];
        if (item->tried && item->base >= WHOLE && item->share >= NOT_AGAINST &&
            item->failing >= NOT_ALONE * d->evidence.failing && item->score > best)
            best = item->score;
    }
    return best;
}

/* Whether it consists of updates, such as of a count of those who are inside: each is whole by itself, so that this is
 * mostly what came of the cause, and what the assertion looks at. */
static bool is_of_updates(const struct pct_diagnosis *d)
{
    return d->rule == PCT_RULE_ATOMICITY && d->base < WHOLE;
}

/* The best score of other pairs of steps that all runs which fail have, and that other runs are not against. A trial
 * may be: where two threads do the same wrong thing, the run fails without one of them, too. */
static double best_in_all(const struct pct_diagnosing *d)
{
    double best = 0;
    for (size_t i = 0; i < d->diagnoses.count; i++) {
        const struct pct_diagnosis *item = &d->diagnoses.item[i];
        if (pct_between_is_said(item) && item->base >= WHOLE && item->share >= NOT_AGAINST &&
            item->failing >= IN_ALL * d->evidence.failing && item->score > best)
            best = item->score;
    }
    return best;
}

/* What no trial speaks for, or the run fails without, too, and what only came of it, stand behind what it does not fail
 * without; updates, behind what all runs that fail have and is nearly as good, too. */
static void put_behind(struct pct_diagnosing *d)
{
    double tried = best_tried(d), in_all = best_in_all(d);
    for (size_t i = 0; i < d->diagnoses.count; i++) {
        struct pct_diagnosis *item = &d->diagnoses.item[i];
        bool updates = is_of_updates(item), effect = updates || item->rule == PCT_RULE_TWICE;
        bool untried = pct_between_is_said(item) && !item->tried;
        if (tried > 0 && (untried || effect) && item->score > BEHIND * tried)
            item->score = BEHIND * tried;
        if (updates && in_all > NEARLY * item->score && item->score > BEHIND * in_all)
            item->score = BEHIND * in_all;
    }
}

/* Whether no run fails without it, as far as one knows. */
static bool is_needed(const struct pct_diagnosing *d, const struct pct_diagnosis *item)
{
    const struct pct_evidence *e = &d->evidence;
    double passing = e->passing ? item->passing / (double)e->passing : 0;
    return item->tried && item->base >= WHOLE && e->failing >= MANY && item->failing == e->failing &&
           passing <= HARMLESS;
}

/* What some runs fail without is one of several ways to the failure, or what came of its cause: it stands behind the
 * best of what all of them have, be it tried, or a rule that names how it ended. */
static void put_needed_first(struct pct_diagnosing *d)
{
    struct pct_diagnosis *first = NULL, *needed = NULL;
    for (size_t i = 0; i < d->diagnoses.count; i++) {
        struct pct_diagnosis *item = &d->diagnoses.item[i];
        first = !first || item->score > first->score ? item : first;
        needed = is_needed(d, item) && (!needed || item->score > needed->score) ? item : needed;
    }
    bool effect = first && pct_rule_decides(first->rule) && first->base <= PCT_DIAGNOSIS_DECISIVE;
    if (needed && (first->tried || effect) && first->failing < d->evidence.failing)
        needed->score = first->score / BEHIND;
}

/* Whether the other one, which both trials speak for, only came of this pair of steps: without this one the run passes,
 * and has not got the other one, either; without the other one it passes, and has this one still. This one has to tell
 * as well which runs fail: what has nothing to do with it, earlier in the run, changes what comes behind it, too. */
static bool leads_to(const struct pct_diagnosing *d, const struct pct_trial *trials, size_t one, size_t other)
{
    const struct pct_diagnosis *a = &d->diagnoses.item[trials[one].item], *b = &d->diagnoses.item[trials[other].item];
    return b->tried && trials[one].seen && trials[other].seen && trials[other].has[one] && !trials[one].has[other] &&
           a->base >= WHOLE && a->share >= ALIKE * b->share && precision_of(a) >= ALIKE * precision_of(b);
}

/* Of these trials the one whose diagnosis scores best, or best among those that lead to another trial's. */
static size_t best_of(const struct pct_diagnosing *d, const struct pct_trial *trials, size_t count, size_t to)
{
    size_t best = count;
    for (size_t i = 0; i < count; i++) {
        double score = d->diagnoses.item[trials[i].item].score;
        if ((to == count || leads_to(d, trials, i, to)) &&
            (best == count || score > d->diagnoses.item[trials[best].item].score))
            best = i;
    }
    return best;
}

/* What came of another one stands behind it. */
static void put_source_first(struct pct_diagnosing *d, const struct pct_trial *trials, size_t count)
{
    size_t best = best_of(d, trials, count, count), source = best_of(d, trials, count, best);
    if (source < count && source != best)
        d->diagnoses.item[trials[source].item].score = d->diagnoses.item[trials[best].item].score / BEHIND;
}

void pct_trials_see(struct pct_diagnosing *d, struct pct_trial *trials, size_t count, size_t trial,
                    const struct pct_history *history)
{
    struct pct_diagnoses there;
    pct_diagnoses_find(&there, history, &d->evidence);
    trials[trial].seen = !there.full;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < there.count && !trials[trial].has[i]; j++)
            trials[trial].has[i] = there.item[j].place_key == d->diagnoses.item[trials[i].item].place_key;
    pct_diagnoses_free(&there);
}

bool pct_trials_weigh(struct pct_diagnosing *d, const struct pct_trial *trials, size_t count)
{
    bool right = false;
    double decisive = best_decisive(d);
    for (size_t i = 0; i < count; i++) {
        const struct pct_trial *trial = &trials[i];
        struct pct_diagnosis *item = &d->diagnoses.item[trial->item];
        if (!trial->ended[0] || !trial->ended[1])
            continue;
        item->score *= by_trial[trial->fails[1]][trial->fails[0]];
        item->tried = trial->fails[1] && !trial->fails[0];
        double precision = precision_of(item), least = TRIED * (0.85 + 0.15 * precision);
        if (item->tried && item->share > 0)
            item->score *= precision / item->share;
        /* This run needs it, if the smallest one does not. */
        if (item->tried && item->unneeded)
            item->score /= PCT_EVIDENCE_NOT_NEEDED;
        /* What runs that pass have, too, does not come before what all that fail have. */
        if (item->passing && decisive > 0 && least > 0.99 * decisive)
            least = 0.99 * decisive;
        bool waits = d->history.trace->header.verdict == PCT_VERDICT_DEADLOCK;
        bool alone = item->failing < NOT_ALONE * d->evidence.failing;
        if (waits && item->tried && item->share >= NOT_AGAINST && !alone && item->score < least)
            item->score = least;
        right = right || item->tried;
    }
    put_behind(d);
    put_needed_first(d);
    put_source_first(d, trials, count);
    return right;
}

void pct_trials_drop_effects(struct pct_diagnosing *d)
{
    size_t kept = 0;
    for (size_t i = 0; i < d->diagnoses.count; i++) {
        const struct pct_diagnosis *item = &d->diagnoses.item[i];
        if (!is_of_updates(item) || item->tried || item->score >= PCT_DIAGNOSIS_LIKELY)
            d->diagnoses.item[kept++] = *item;
    }
    d->diagnoses.count = kept;
    d->known = kept;
}

bool pct_trials_trust(const struct pct_diagnosing *d)
{
    const struct pct_diagnosis *best = d->diagnoses.item;
    return d->known && best->score >= PCT_DIAGNOSIS_LIKELY && !is_of_updates(best) && best->rule != PCT_RULE_TWICE;
}
