/* Semaphores: which of them are used as locks are, and who took the way to a post without making it: see rules.h. */
#include "evidence.h"
#include "rules.h"
#include <pct/strategy.h>
#include <stdlib.h>

static bool takes_count(const struct pct_moment *m)
{
    return (m->op == PCT_OP_SEM_WAIT || m->op == PCT_OP_SEM_TRYWAIT) && !pct_moment_failed(m);
}

/* The key of what is known of the semaphore at this address: it counts what others hand over, and is no lock. */
static uint64_t key_of_counter(uint64_t address)
{
    return pct_evidence_notice(UINT64_C(0x636f756e746572), address);
}

/* The key of what is known of the semaphore at this address: who takes from it gives back. */
static uint64_t key_of_giving_back(uint64_t address)
{
    return pct_evidence_notice(UINT64_C(0x6261636b), address);
}

/* Whether the thread of this post has given back before all that it had taken. */
static bool hands_over(const struct pct_history *h, uint32_t post)
{
    uint32_t given = 0;
    for (uint32_t i = h->steps[post].previous; i != PCT_NO_STEP; i = h->steps[i].previous) {
        if (!pct_moment_same_object(&h->steps[i], &h->steps[post]))
            continue;
        if (h->steps[i].op == PCT_OP_SEM_POST)
            given++;
        else if (takes_count(&h->steps[i]) && !given--)
            return false;
    }
    return true;
}

bool pct_rules_semaphore_is_lock(const struct pct_history *h, const struct pct_moment *wait,
                                 const struct pct_evidence *evidence)
{
    if (evidence && wait->address && pct_evidence_has(evidence, key_of_counter(wait->address)))
        return false;
    for (uint32_t i = 0; i < h->count; i++)
        if (h->steps[i].op == PCT_OP_SEM_POST && pct_moment_same_object(&h->steps[i], wait) && hands_over(h, i))
            return false;
    return true;
}

/* A way to a post: from where a thread has got a lock, a semaphore or a wake-up, to where it comes there again. */
static bool begins_way(const struct pct_moment *m, const struct pct_moment *semaphore)
{
    bool begins = pct_moment_locks(m) || m->op == PCT_OP_COND_WAKE || takes_count(m);
    return begins && !m->pending && m->place && m->object && !pct_moment_failed(m) &&
           !pct_moment_same_object(m, semaphore);
}

/* The post of this semaphore on the way that begins here. PCT_NO_STEP: there is none; *whole: to the end of the way. */
static uint32_t post_on_way(const struct pct_history *h, uint32_t begin, const struct pct_moment *semaphore,
                            bool *whole)
{
    *whole = false;
    for (uint32_t i = h->steps[begin].next; i != PCT_NO_STEP && !*whole; i = h->steps[i].next) {
        const struct pct_moment *m = &h->steps[i];
        if (m->op == PCT_OP_SEM_POST && !m->pending && pct_moment_same_object(m, semaphore))
            return i;
        *whole = m->place == h->steps[begin].place || m->op == PCT_OP_THREAD_FINISH;
    }
    return PCT_NO_STEP;
}

void pct_rules_posts(const struct pct_history *h, struct pct_evidence *evidence, bool fails)
{
    enum { FAR = 16 }; /* steps before a post that may be where a way begins */
    for (uint32_t i = 0; i < h->count; i++) {
        const struct pct_moment *m = &h->steps[i];
        if (m->op != PCT_OP_SEM_POST || !m->address)
            continue;
        pct_evidence_note(evidence, hands_over(h, i) ? key_of_counter(m->address) : key_of_giving_back(m->address),
                          fails);
        uint32_t way = m->previous;
        for (unsigned far = 0; way != PCT_NO_STEP && far < FAR; far++, way = h->steps[way].previous) {
            if (h->steps[way].op == PCT_OP_SEM_POST && pct_moment_same_object(&h->steps[way], m))
                break;
            if (begins_way(&h->steps[way], m))
                pct_evidence_note(evidence, pct_evidence_notice(h->steps[way].place, m->address), fails);
        }
    }
}

/* A post on a way that begins at the same place, in this run. PCT_NO_STEP: there is none. */
static uint32_t elsewhere(const struct pct_history *h, uint64_t place, const struct pct_moment *wait)
{
    bool whole;
    uint32_t post = PCT_NO_STEP;
    for (uint32_t i = 0; i < h->count && post == PCT_NO_STEP; i++)
        if (h->steps[i].place == place && begins_way(&h->steps[i], wait))
            post = post_on_way(h, i, wait, &whole);
    return post;
}

bool pct_rules_comes_to_post(const struct pct_history *h, const struct pct_moment *wait,
                             const struct pct_moment *semaphore, const struct pct_evidence *evidence)
{
    for (uint32_t i = wait->previous; i != PCT_NO_STEP; i = h->steps[i].previous)
        if (h->steps[i].op == PCT_OP_SEM_POST && pct_moment_same_object(&h->steps[i], semaphore))
            return true;
    return wait->place &&
           (elsewhere(h, wait->place, semaphore) != PCT_NO_STEP ||
            (evidence && pct_evidence_has(evidence, pct_evidence_notice(wait->place, semaphore->address))));
}

static void look_for_post(struct pct_diagnoses *out, const struct pct_history *h, uint32_t waiting,
                          const struct pct_evidence *evidence)
{
    const struct pct_moment *wait = &h->steps[waiting];
    for (uint32_t i = 0; i < h->count; i++) {
        const struct pct_moment *m = &h->steps[i];
        bool whole;
        if (m->thread == wait->thread || !begins_way(m, wait) || post_on_way(h, i, wait, &whole) != PCT_NO_STEP ||
            !whole)
            continue;
        uint32_t post = elsewhere(h, m->place, wait);
        if (post == PCT_NO_STEP &&
            !(evidence && pct_evidence_has(evidence, pct_evidence_notice(m->place, wait->address))))
            continue;
        /* What is handed over by a semaphore is mostly what is given back by another one. */
        struct pct_diagnosis *d = pct_diagnoses_add(out, PCT_RULE_NO_POST, m->class_ == PCT_CLASS_SEM ? 0 : 6,
                                                    post == PCT_NO_STEP ? 2 : 3, (uint32_t[]){ waiting, i, post });
        if (d)
            d->note[2] = post == PCT_NO_STEP ? NULL : "elsewhere";
    }
}

/* --- One post for several ----------------------------------------------------------------------------------------- */

/* The last post of this semaphore. PCT_NO_STEP: there is none. */
static uint32_t last_post(const struct pct_history *h, const struct pct_moment *semaphore)
{
    for (uint32_t i = h->count; i-- > 0;)
        if (h->steps[i].op == PCT_OP_SEM_POST && pct_moment_same_object(&h->steps[i], semaphore))
            return i;
    return PCT_NO_STEP;
}

/* Where the thread of this post has looked last before it, at what others want of it. */
static uint32_t looked(const struct pct_history *h, uint32_t post)
{
    uint32_t look = h->steps[post].previous;
    while (look != PCT_NO_STEP && !begins_way(&h->steps[look], &h->steps[post]))
        look = h->steps[look].previous;
    return look == PCT_NO_STEP ? post : look;
}

/* The first step by which a thread takes from it behind the post, where all who do had come before that look, and so
 * take once. PCT_NO_STEP: there is none, or one comes later, or again, and may have what was another one's. */
static uint32_t taken_by_who_had_come(const struct pct_history *h, uint32_t post, uint32_t look)
{
    uint32_t first = PCT_NO_STEP;
    for (uint32_t i = post + 1; i < h->count; i++) {
        if (!takes_count(&h->steps[i]) || !pct_moment_same_object(&h->steps[i], &h->steps[post]))
            continue;
        if (h->steps[i].previous == PCT_NO_STEP || h->steps[i].previous > look)
            return PCT_NO_STEP;
        first = first == PCT_NO_STEP ? i : first;
    }
    return first;
}

/* Whether the thread is through with what it does: it has ended, or waits for others, and for no lock. */
static bool is_through(const struct pct_history *h, uint32_t thread)
{
    const struct pct_moment *last = &h->steps[h->last[thread]];
    return last->op == PCT_OP_THREAD_FINISH || (last->blocked && !pct_moment_locks(last));
}

/* Several had come when somebody looked, who then made one post: as for a batch. */
static void look_at_last_post(struct pct_diagnoses *out, const struct pct_history *h, uint32_t waiting)
{
    const struct pct_moment *wait = &h->steps[waiting];
    const uint32_t post = last_post(h, wait);
    if (post == PCT_NO_STEP || h->steps[post].thread == wait->thread || !is_through(h, h->steps[post].thread))
        return;
    const uint32_t look = looked(h, post), then = taken_by_who_had_come(h, post, look);
    if (then == PCT_NO_STEP || wait->previous == PCT_NO_STEP || wait->previous > look)
        return;
    struct pct_diagnosis *d =
        pct_diagnoses_add(out, PCT_RULE_ONE_POST, 0, look == post ? 3 : 4, (uint32_t[]){ waiting, post, then, look });
    if (!d)
        return;
    d->note[1] = "lets one go,";
    d->note[2] = "which is this one";
    d->note[3] = look == post ? NULL : "both had come by then";
}

/* --- A post too many ---------------------------------------------------------------------------------------------- */

/* The keys of the semaphore at this address: it is used; at the end, it was posted more often than taken from. */
static uint64_t key_of_use(uint64_t address, bool more)
{
    return pct_evidence_notice(UINT64_C(0x757365) + more, address);
}

/* Whether no earlier step is on this semaphore, whose address is known here. */
static bool is_first(const struct pct_history *h, uint32_t step)
{
    if (h->steps[step].class_ != PCT_CLASS_SEM || !h->steps[step].address)
        return false;
    for (uint32_t i = 0; i < step; i++)
        if (h->steps[i].address && pct_moment_same_object(&h->steps[i], &h->steps[step]))
            return false;
    return true;
}

void pct_rules_balances(const struct pct_history *h, struct pct_evidence *evidence)
{
    for (uint32_t first = 0; first < h->count; first++) {
        if (!is_first(h, first))
            continue;
        uint32_t posts = 0, taken = 0;
        for (uint32_t i = first; i < h->count; i++) {
            bool same = pct_moment_same_object(&h->steps[i], &h->steps[first]);
            posts += same && h->steps[i].op == PCT_OP_SEM_POST;
            taken += same && takes_count(&h->steps[i]);
        }
        pct_evidence_note(evidence, key_of_use(h->steps[first].address, false), false);
        if (posts > taken)
            pct_evidence_note(evidence, key_of_use(h->steps[first].address, true), false);
    }
}

/* The step by which the thread has given back all that it had taken, before this post; PCT_NO_STEP: it has not. */
static uint32_t gave_back(const struct pct_history *h, uint32_t post)
{
    uint32_t last = h->steps[post].previous;
    while (last != PCT_NO_STEP &&
           (h->steps[last].op != PCT_OP_SEM_POST || !pct_moment_same_object(&h->steps[last], &h->steps[post])))
        last = h->steps[last].previous;
    return last != PCT_NO_STEP && hands_over(h, post) && !hands_over(h, last) ? last : PCT_NO_STEP;
}

/* The next step by which another thread takes from it. PCT_NO_STEP: there is none. */
static uint32_t taken_behind(const struct pct_history *h, uint32_t post)
{
    for (uint32_t i = post + 1; i < h->count; i++)
        if (takes_count(&h->steps[i]) && h->steps[i].thread != h->steps[post].thread &&
            pct_moment_same_object(&h->steps[i], &h->steps[post]))
            return i;
    return PCT_NO_STEP;
}

/* Who takes and gives back a barrier's turnstile may well post once more; but then somebody takes that, too. */
void pct_rules_too_many(struct pct_diagnoses *out, const struct pct_history *h, const struct pct_evidence *evidence)
{
    for (uint32_t i = 0; evidence && i < h->count; i++) {
        const struct pct_moment *m = &h->steps[i];
        if (m->op != PCT_OP_SEM_POST || !m->address)
            continue;
        unsigned used = pct_evidence_passing(evidence, key_of_use(m->address, false));
        unsigned more = pct_evidence_passing(evidence, key_of_use(m->address, true));
        uint32_t before = used < PCT_EVIDENCE_ENOUGH || more < used ? PCT_NO_STEP : gave_back(h, i);
        uint32_t then = before == PCT_NO_STEP ? PCT_NO_STEP : taken_behind(h, i);
        struct pct_diagnosis *d = then == PCT_NO_STEP ? NULL
                                                      : pct_diagnoses_add(out, PCT_RULE_TOO_MANY_POSTS, 0, 3,
                                                                          (uint32_t[]){ before, i, then });
        if (!d)
            continue;
        d->note[0] = "gives back,";
        d->note[1] = "and once more;";
        d->note[2] = "which lets this one pass";
    }
}

/* Whether the thread of this post has taken from the semaphore before. */
static bool has_taken(const struct pct_history *h, uint32_t post)
{
    for (uint32_t i = h->steps[post].previous; i != PCT_NO_STEP; i = h->steps[i].previous)
        if (takes_count(&h->steps[i]) && pct_moment_same_object(&h->steps[i], &h->steps[post]))
            return true;
    return false;
}

/* Whether two other threads or more give it back, and none posts it otherwise. */
static bool others_give_back(const struct pct_history *h, uint32_t post)
{
    uint32_t first = PCT_NO_THREAD;
    bool more = false;
    for (uint32_t i = 0; i < h->count; i++) {
        const struct pct_moment *m = &h->steps[i];
        if (m->thread == h->steps[post].thread || !pct_moment_same_object(m, &h->steps[post]))
            continue;
        if (m->op == PCT_OP_SEM_POST && !has_taken(h, i))
            return false;
        if (!takes_count(m))
            continue;
        more = more || (first != PCT_NO_THREAD && first != m->thread);
        first = m->thread;
    }
    return more;
}

/* Whether more was taken at some time than had been posted: it began with a count of its own. One that began with none
 * has nothing before somebody posts what he has not taken. */
static bool begins_with_count(const struct pct_history *h, const struct pct_moment *semaphore)
{
    uint32_t posted = 0;
    for (uint32_t i = 0; i < h->count; i++) {
        const struct pct_moment *m = &h->steps[i];
        if (!pct_moment_same_object(m, semaphore))
            continue;
        if (m->op == PCT_OP_SEM_POST)
            posted++;
        else if (takes_count(m) && !posted--)
            return true;
    }
    return false;
}

/* The last thing that the thread of this step did to any other object before it: mostly how it came to it. */
static uint32_t decided(const struct pct_history *h, uint32_t step)
{
    uint32_t i = h->steps[step].previous;
    while (i != PCT_NO_STEP && !pct_moment_access(&h->steps[i]))
        i = h->steps[i].previous;
    return i;
}

void pct_rules_untaken(struct pct_diagnoses *out, const struct pct_history *h)
{
    for (uint32_t i = 0; i < h->count; i++) {
        if (h->steps[i].op != PCT_OP_SEM_POST || has_taken(h, i) || !others_give_back(h, i) ||
            !begins_with_count(h, &h->steps[i]))
            continue;
        uint32_t then = taken_behind(h, i), before = decided(h, i);
        if (then == PCT_NO_STEP)
            continue;
        struct pct_diagnosis *d = pct_diagnoses_add(out, PCT_RULE_POSTS_UNTAKEN, 0, before == PCT_NO_STEP ? 2 : 3,
                                                    (uint32_t[]){ i, then, before });
        if (!d)
            continue;
        d->note[1] = "which lets this one pass";
        d->note[2] = before == PCT_NO_STEP ? NULL : "behind this";
    }
}

/* --- Used as a lock ----------------------------------------------------------------------------------------------- */

/* The step by which the thread, which has ended, took last, if it has not given back since. PCT_NO_STEP: it has not. */
static uint32_t ended_with(const struct pct_history *h, uint32_t thread, const struct pct_moment *wait)
{
    uint32_t i = h->last[thread];
    if (i == PCT_NO_STEP || h->steps[i].op != PCT_OP_THREAD_FINISH)
        return PCT_NO_STEP;
    while (i != PCT_NO_STEP && (!pct_moment_same_object(&h->steps[i], wait) || pct_moment_failed(&h->steps[i])))
        i = h->steps[i].previous;
    return i != PCT_NO_STEP && takes_count(&h->steps[i]) ? i : PCT_NO_STEP;
}

/* Of a semaphore that others give back: who ended without doing so. Somebody else may be meant to: less than a lock. */
static void look_at_ended(struct pct_diagnoses *out, const struct pct_history *h, uint32_t waiting,
                          const struct pct_evidence *evidence)
{
    const struct pct_moment *wait = &h->steps[waiting];
    bool given = evidence && wait->address && pct_evidence_has(evidence, key_of_giving_back(wait->address));
    for (uint32_t i = 0; i < h->count && !given; i++)
        given = h->steps[i].op == PCT_OP_SEM_POST && pct_moment_same_object(&h->steps[i], wait);
    for (uint32_t thread = 0; given && thread < h->threads; thread++) {
        uint32_t took = ended_with(h, thread, wait);
        if (took == PCT_NO_STEP)
            continue;
        uint32_t last = decided(h, h->last[thread]);
        bool way = last != PCT_NO_STEP && last > took;
        struct pct_diagnosis *d = pct_diagnoses_add(out, PCT_RULE_ENDS_WITH_LOCK, 8, way ? 4 : 3,
                                                    (uint32_t[]){ took, h->last[thread], waiting, last });
        if (d && way)
            d->note[3] = "does this last";
    }
}

void pct_rules_semaphores(struct pct_diagnoses *out, const struct pct_history *h, const struct pct_evidence *evidence)
{
    if (h->trace->header.verdict != PCT_VERDICT_DEADLOCK)
        return;
    for (uint32_t i = h->count; i < h->all; i++) {
        if (!h->steps[i].blocked || h->steps[i].class_ != PCT_CLASS_SEM || !h->steps[i].object)
            continue;
        if (pct_rules_semaphore_is_lock(h, &h->steps[i], evidence)) {
            look_at_ended(out, h, i, evidence);
            continue;
        }
        look_for_post(out, h, i, evidence);
        look_at_last_post(out, h, i);
    }
}
