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

bool pct_rules_semaphore_is_lock(const struct pct_history *h, const struct pct_moment *wait,
                                 const struct pct_evidence *evidence)
{
    if (evidence && wait->address && pct_evidence_has(evidence, key_of_counter(wait->address)))
        return false;
    return !wait->object || !pct_table_find(&h->index.handed, wait->object);
}

/* A way to a post: from where a thread has got a lock, a semaphore or a wake-up, to where it comes there again. */
static bool begins_way(const struct pct_moment *m, const struct pct_moment *semaphore)
{
    bool begins = pct_moment_locks(m) || m->op == PCT_OP_COND_WAKE || takes_count(m);
    return begins && !m->pending && m->place && m->object && !pct_moment_failed(m) &&
           !pct_moment_same_object(m, semaphore);
}

/* The post of this semaphore on the way that begins here. PCT_NO_STEP: there is none. */
static uint32_t post_on_way(const struct pct_history *h, uint32_t begin, const struct pct_moment *semaphore)
{
    for (uint32_t i = h->steps[begin].next; i != PCT_NO_STEP; i = h->steps[i].next) {
        const struct pct_moment *m = &h->steps[i];
        if (m->op == PCT_OP_SEM_POST && !m->pending && pct_moment_same_object(m, semaphore))
            return i;
        if (m->place == h->steps[begin].place || m->op == PCT_OP_THREAD_FINISH)
            break;
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
        pct_evidence_note(evidence, m->hands_over ? key_of_counter(m->address) : key_of_giving_back(m->address), fails);
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
    uint32_t post = PCT_NO_STEP;
    for (uint32_t i = 0; i < h->count && post == PCT_NO_STEP; i++)
        if (h->steps[i].place == place && begins_way(&h->steps[i], wait))
            post = post_on_way(h, i, wait);
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

/* All ways that begin in this run, of one semaphore. */
struct ways {
    uint32_t *post;          /* by step that begins one: the post on it; PCT_NO_STEP: there is none */
    bool *whole;             /* likewise, where there is none: it has come to its end */
    struct pct_table posted; /* by place: the post on the first way from there that has one, + 1 */
};

/* What comes next to a thread, from the end of the run to its beginning. */
struct coming {
    uint32_t *post;        /* by thread: its next post */
    bool *finish;          /* likewise: it comes to its end */
    struct pct_table same; /* by thread and place: its next step there, + 1 */
};

/* The key of this thread's steps at this place. */
static uint64_t key_of_place(uint32_t thread, uint64_t place)
{
    return (place ^ (uint64_t)thread << 48) * UINT64_C(0x9e3779b97f4a7c15) ^ place;
}

/* One step back, for all of its thread's ways from here. False: there is no memory. */
static bool go_back(struct ways *ways, struct coming *c, const struct pct_history *h, uint32_t i,
                    const struct pct_moment *wait)
{
    const struct pct_moment *m = &h->steps[i];
    uint32_t *same = pct_table_add(&c->same, key_of_place(m->thread, m->place));
    if (!same)
        return false;
    if (begins_way(m, wait)) {
        const bool posts = c->post[m->thread] != PCT_NO_STEP && (!*same || c->post[m->thread] <= *same - 1);
        ways->post[i] = posts ? c->post[m->thread] : PCT_NO_STEP;
        ways->whole[i] = !posts && (*same || c->finish[m->thread]);
    }
    *same = i + 1;
    if (m->op == PCT_OP_SEM_POST && !m->pending && pct_moment_same_object(m, wait))
        c->post[m->thread] = i;
    c->finish[m->thread] = c->finish[m->thread] || m->op == PCT_OP_THREAD_FINISH;
    return true;
}

static bool find_ways(struct ways *ways, const struct pct_history *h, const struct pct_moment *wait)
{
    struct coming c = { .post = malloc((h->threads + (size_t)1) * sizeof *c.post),
                        .finish = calloc(h->threads + (size_t)1, sizeof *c.finish),
                        .same = PCT_TABLE(uint32_t) };
    *ways = (struct ways){ .post = malloc((h->all + (size_t)1) * sizeof *ways->post),
                           .whole = calloc(h->all + (size_t)1, sizeof *ways->whole),
                           .posted = PCT_TABLE(uint32_t) };
    bool fine = c.post && c.finish && ways->post && ways->whole;
    for (uint32_t thread = 0; fine && thread < h->threads; thread++)
        c.post[thread] = PCT_NO_STEP;
    for (uint32_t i = h->all; fine && i-- > 0;)
        fine = go_back(ways, &c, h, i, wait);
    for (uint32_t i = 0; fine && i < h->count; i++) {
        if (!begins_way(&h->steps[i], wait) || ways->post[i] == PCT_NO_STEP)
            continue;
        uint32_t *first = pct_table_add(&ways->posted, h->steps[i].place);
        fine = first;
        if (first && !*first)
            *first = ways->post[i] + 1;
    }
    free(c.post);
    free(c.finish);
    pct_table_free(&c.same);
    return fine;
}

static void look_for_post(struct pct_diagnoses *out, const struct pct_history *h, uint32_t waiting,
                          const struct pct_evidence *evidence)
{
    const struct pct_moment *wait = &h->steps[waiting];
    struct ways ways;
    const bool fine = find_ways(&ways, h, wait);
    for (uint32_t i = 0; fine && i < h->count; i++) {
        const struct pct_moment *m = &h->steps[i];
        if (m->thread == wait->thread || !begins_way(m, wait) || ways.post[i] != PCT_NO_STEP || !ways.whole[i])
            continue;
        const uint32_t *there = pct_table_find(&ways.posted, m->place);
        const uint32_t post = there ? *there - 1 : PCT_NO_STEP;
        if (post == PCT_NO_STEP &&
            !(evidence && pct_evidence_has(evidence, pct_evidence_notice(m->place, wait->address))))
            continue;
        /* What is handed over by a semaphore is mostly what is given back by another one. */
        struct pct_diagnosis *d = pct_diagnoses_add(out, PCT_RULE_NO_POST, m->class_ == PCT_CLASS_SEM ? 0 : 6,
                                                    post == PCT_NO_STEP ? 2 : 3, (uint32_t[]){ waiting, i, post });
        if (d)
            d->note[2] = post == PCT_NO_STEP ? NULL : "elsewhere";
    }
    out->full = out->full || !fine;
    free(ways.post);
    free(ways.whole);
    pct_table_free(&ways.posted);
}

/* --- One post for several ----------------------------------------------------------------------------------------- */

/* The last post of this semaphore. PCT_NO_STEP: there is none. */
static uint32_t last_post(const struct pct_history *h, const struct pct_moment *semaphore)
{
    const struct pct_group on = pct_history_on(h, semaphore->class_, semaphore->object);
    for (uint32_t i = on.count; i-- > 0;)
        if (h->steps[on.item[i]].op == PCT_OP_SEM_POST)
            return on.item[i];
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

/* Of each semaphore, from the first step at which its address is known. */
struct balance {
    uint64_t address;
    uint32_t posts, taken;
};

void pct_rules_balances(const struct pct_history *h, struct pct_evidence *evidence)
{
    struct pct_table balances = PCT_TABLE(struct balance); /* by number */
    struct balance *b;
    for (uint32_t i = 0; i < h->count; i++) {
        const struct pct_moment *m = &h->steps[i];
        const bool counts = m->class_ == PCT_CLASS_SEM && m->object;
        b = !counts ? NULL : m->address ? pct_table_add(&balances, m->object) : pct_table_find(&balances, m->object);
        if (!b)
            continue;
        b->address = b->address ? b->address : m->address;
        b->posts += m->op == PCT_OP_SEM_POST;
        b->taken += takes_count(m);
    }
    for (size_t at = 0; (b = pct_table_next(&balances, &at, NULL));) {
        pct_evidence_note(evidence, key_of_use(b->address, false), false);
        if (b->posts > b->taken)
            pct_evidence_note(evidence, key_of_use(b->address, true), false);
    }
    pct_table_free(&balances);
}

/* What has been done to each semaphore behind a step, from the end of the run to its beginning: who takes from it next,
 * and the next other thread that does, by their steps, + 1. */
struct takers {
    uint32_t next, other;
};

static bool note_taker(struct pct_table *takers, const struct pct_history *h, uint32_t i)
{
    struct takers *t =
        h->steps[i].object && takes_count(&h->steps[i]) ? pct_table_add(takers, h->steps[i].object) : NULL;
    if (!t)
        return !h->steps[i].object || !takes_count(&h->steps[i]);
    if (t->next && h->steps[t->next - 1].thread != h->steps[i].thread)
        t->other = t->next;
    t->next = i + 1;
    return true;
}

/* By step that posts: the next step by which another thread takes from it; PCT_NO_STEP: there is none. To be freed;
 * NULL: there is no memory. */
static uint32_t *find_taken_behind(const struct pct_history *h)
{
    struct pct_table takers = PCT_TABLE(struct takers); /* by number */
    uint32_t *behind = malloc((h->count + (size_t)1) * sizeof *behind);
    bool fine = behind;
    for (uint32_t i = h->count; fine && i-- > 0;) {
        const struct pct_moment *m = &h->steps[i];
        const struct takers *t = m->op == PCT_OP_SEM_POST && m->object ? pct_table_find(&takers, m->object) : NULL;
        const uint32_t then = !t ? 0 : t->next && h->steps[t->next - 1].thread != m->thread ? t->next : t->other;
        behind[i] = then ? then - 1 : PCT_NO_STEP;
        fine = note_taker(&takers, h, i);
    }
    pct_table_free(&takers);
    if (fine)
        return behind;
    free(behind);
    return NULL;
}

/* What is known of a thread and a semaphore. */
static uint64_t key_of_thread(const struct pct_moment *m)
{
    return (uint64_t)m->thread << 32 | m->object;
}

/* Who takes and gives back a barrier's turnstile may well post once more; but then somebody takes that, too. last: by
 * thread and semaphore, its last post so far, + 1. */
static void look_at_post(struct pct_diagnoses *out, const struct pct_history *h, uint32_t post, uint32_t then,
                         const struct pct_evidence *evidence, struct pct_table *last)
{
    const struct pct_moment *m = &h->steps[post];
    uint32_t *mine = pct_table_add(last, key_of_thread(m));
    const uint32_t before = mine && *mine ? *mine - 1 : PCT_NO_STEP;
    out->full = out->full || !mine;
    if (mine)
        *mine = post + 1;
    if (!m->address || before == PCT_NO_STEP || then == PCT_NO_STEP || !m->hands_over || h->steps[before].hands_over)
        return;
    const unsigned used = pct_evidence_passing(evidence, key_of_use(m->address, false));
    const unsigned more = pct_evidence_passing(evidence, key_of_use(m->address, true));
    struct pct_diagnosis *d =
        used < PCT_EVIDENCE_ENOUGH || more < used
            ? NULL
            : pct_diagnoses_add(out, PCT_RULE_TOO_MANY_POSTS, 0, 3, (uint32_t[]){ before, post, then });
    if (!d)
        return;
    d->note[0] = "gives back,";
    d->note[1] = "and once more;";
    d->note[2] = "which lets this one pass";
}

void pct_rules_too_many(struct pct_diagnoses *out, const struct pct_history *h, const struct pct_evidence *evidence)
{
    struct pct_table last = PCT_TABLE(uint32_t);
    uint32_t *behind = evidence ? find_taken_behind(h) : NULL;
    for (uint32_t i = 0; behind && i < h->count; i++)
        if (h->steps[i].op == PCT_OP_SEM_POST && h->steps[i].object)
            look_at_post(out, h, i, behind[i], evidence, &last);
    out->full = out->full || (evidence && !behind);
    free(behind);
    pct_table_free(&last);
}

/* How a semaphore is used in the whole run. */
struct use {
    uint32_t untaken, takers; /* threads that post what they have not taken; that take */
    uint32_t posted;          /* so far, less what was taken since */
    bool begins_with_count;   /* more was taken at some time than had been posted: it began with a count of its own */
};

/* And by one thread. */
struct own_use {
    bool posts_untaken, takes;
};

static bool note_use(struct pct_table *uses, struct pct_table *own_uses, const struct pct_moment *m)
{
    const bool posts = m->op == PCT_OP_SEM_POST;
    if (!m->object || (!posts && !takes_count(m)))
        return true;
    struct use *use = pct_table_add(uses, m->object);
    struct own_use *own = pct_table_add(own_uses, key_of_thread(m));
    if (!use || !own)
        return false;
    use->untaken += posts && !m->had_taken && !own->posts_untaken;
    use->takers += !posts && !own->takes;
    own->posts_untaken = own->posts_untaken || (posts && !m->had_taken);
    own->takes = own->takes || !posts;
    use->begins_with_count = use->begins_with_count || (!posts && !use->posted);
    use->posted += posts ? 1 : use->posted ? UINT32_MAX : 0;
    return true;
}

/* The last thing that the thread of this step did to any other object before it: mostly how it came to it. */
static uint32_t decided(const struct pct_history *h, uint32_t step)
{
    uint32_t i = h->steps[step].previous;
    while (i != PCT_NO_STEP && !pct_moment_access(&h->steps[i]))
        i = h->steps[i].previous;
    return i;
}

/* That the thread of this post has not taken what it posts, which another one takes then. */
static void add_untaken(struct pct_diagnoses *out, const struct pct_history *h, uint32_t post, uint32_t then)
{
    const uint32_t before = decided(h, post);
    struct pct_diagnosis *d = pct_diagnoses_add(out, PCT_RULE_POSTS_UNTAKEN, 0, before == PCT_NO_STEP ? 2 : 3,
                                                (uint32_t[]){ post, then, before });
    if (!d)
        return;
    d->note[1] = "which lets this one pass";
    d->note[2] = before == PCT_NO_STEP ? NULL : "behind this";
}

/* Two other threads or more have to give it back, and none of them may post it otherwise. One that began with no count
 * has nothing before somebody posts what he has not taken. */
void pct_rules_untaken(struct pct_diagnoses *out, const struct pct_history *h)
{
    struct pct_table uses = PCT_TABLE(struct use), own_uses = PCT_TABLE(struct own_use);
    uint32_t *behind = find_taken_behind(h);
    bool fine = behind;
    for (uint32_t i = 0; fine && i < h->count; i++)
        fine = note_use(&uses, &own_uses, &h->steps[i]);
    for (uint32_t i = 0; fine && i < h->count; i++) {
        const struct pct_moment *m = &h->steps[i];
        if (m->op != PCT_OP_SEM_POST || !m->object || m->had_taken || behind[i] == PCT_NO_STEP)
            continue;
        const struct use *use = pct_table_find(&uses, m->object);
        const struct own_use *own = pct_table_find(&own_uses, key_of_thread(m));
        if (use->begins_with_count && use->untaken == 1 && use->takers >= 2 + (own->takes ? 1u : 0u))
            add_untaken(out, h, i, behind[i]);
    }
    out->full = out->full || !fine;
    free(behind);
    pct_table_free(&uses);
    pct_table_free(&own_uses);
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
