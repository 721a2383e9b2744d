/* Of a run that ended in a deadlock, who holds what the others wait for: see rules.h. */
#include "rules.h"
#include "words.h"
#include <stdlib.h>

/* The base of what is said of words, which nobody owns. */
#define NOBODYS 6.5

/* And of a lock that nobody needs who would signal. */
#define BYSTANDERS 3

/* Of each thread that is blocked at the end, the threads that could let it go on, and by what. */
struct graph {
    const struct pct_history *history;
    const struct pct_evidence *evidence;
    unsigned char *state; /* by thread: 0 not visited, 1 on the path, 2 done */
    uint32_t *path;       /* threads */
    uint32_t *by;         /* by place on the path: the step by which the next one has it; PCT_NO_STEP: it is joined */
    uint32_t length;
    bool found;
};

static bool blocked(const struct pct_history *h, uint32_t thread)
{
    return h->last[thread] != PCT_NO_STEP && h->steps[h->last[thread]].pending && h->steps[h->last[thread]].blocked;
}

static bool visit(struct graph *g, uint32_t thread);

/* This thread waits for that one. True: that closes a cycle, which begins at *path. */
static bool go(struct graph *g, uint32_t from, uint32_t to, uint32_t by)
{
    const struct pct_history *h = g->history;
    if (to >= h->threads || !blocked(h, to) || g->state[to] == 2)
        return false;
    g->by[g->length - 1] = by;
    if (g->state[to] != 1)
        return visit(g, to);
    (void)from;
    uint32_t first = 0;
    while (g->path[first] != to)
        first++;
    for (uint32_t i = first; i < g->length; i++) {
        g->path[i - first] = g->path[i];
        g->by[i - first] = g->by[i];
    }
    g->length -= first;
    return g->found = true;
}

/* The count of a semaphore that is used as a lock is with those who took from it and have not given back since. */
static uint32_t took(const struct graph *g, uint32_t thread, const struct pct_moment *wait)
{
    const struct pct_history *h = g->history;
    if (!pct_rules_semaphore_is_lock(h, wait, g->evidence))
        return PCT_NO_STEP;
    for (uint32_t i = h->last[thread]; i != PCT_NO_STEP; i = h->steps[i].previous) {
        const struct pct_moment *m = &h->steps[i];
        if (m->pending || !pct_moment_same_object(m, wait) || pct_moment_failed(m))
            continue;
        if (m->op == PCT_OP_SEM_POST)
            return PCT_NO_STEP;
        if (m->op == PCT_OP_SEM_WAIT || m->op == PCT_OP_SEM_TRYWAIT)
            return i;
    }
    return PCT_NO_STEP;
}

/* Whether the thread waits for this word at the end, behind this step: then it has not got it by that one. */
static bool tried_by(const struct pct_history *h, uint32_t thread, uint64_t address, uint32_t step)
{
    const struct pct_moment *last = &h->steps[h->last[thread]];
    while (last->pending && last->class_ == PCT_CLASS_FUTEX && last->previous != PCT_NO_STEP &&
           h->steps[last->previous].op == PCT_OP_FUTEX_WAIT)
        last = &h->steps[last->previous];
    return last->class_ == PCT_CLASS_FUTEX && last->previous == step && pct_words_waited_for(h, last) == address;
}

/* The step by which this thread has the lock that is made of the word of this futex (words.h), or makes the static
 * local whose guard it is. PCT_NO_STEP: it has not. */
static uint32_t has_word(const struct pct_history *h, uint32_t thread, const struct pct_moment *wait)
{
    const uint32_t last = h->last[thread];
    const uint64_t address = pct_words_waited_for(h, wait);
    uint32_t latest = PCT_NO_STEP;
    for (uint32_t i = wait->address && last != PCT_NO_STEP ? h->steps[last].held : 0; i; i = h->links[i].next) {
        const struct pct_hold *hold = &h->holds[h->links[i].hold];
        bool word = hold->class_ == PCT_CLASS_MEMORY || hold->class_ == PCT_CLASS_GUARD;
        if (word && hold->released == PCT_NO_STEP && h->steps[hold->taken].address == address &&
            !tried_by(h, thread, address, hold->taken) && (latest == PCT_NO_STEP || hold->taken > latest))
            latest = hold->taken;
    }
    return latest;
}

/* The step by which this thread runs the routine of the once object that others wait for. PCT_NO_STEP: it does not. */
static uint32_t runs_once(const struct pct_history *h, uint32_t thread, const struct pct_moment *wait)
{
    const struct pct_group on = pct_history_on(h, wait->class_, wait->object);
    const uint32_t i = on.count ? on.item[on.count - 1] : PCT_NO_STEP;
    bool runs = i < h->count && h->steps[i].op == PCT_OP_ONCE && h->steps[i].argument == PCT_ARG_RUN;
    return runs && h->steps[i].thread == thread ? i : PCT_NO_STEP;
}

/* Whether the lock that was taken by this step has been destroyed since: what its thread then waits for is left of it,
 * which other rules tell. */
static bool is_gone(const struct pct_history *h, uint32_t taken)
{
    const struct pct_group on = pct_history_on(h, h->steps[taken].class_, h->steps[taken].object);
    for (uint32_t i = pct_group_behind(&on, taken); i < on.count; i++) {
        unsigned op = h->steps[on.item[i]].op;
        if (op == PCT_OP_MUTEX_DESTROY || op == PCT_OP_RWLOCK_DESTROY || op == PCT_OP_SPIN_DESTROY)
            return true;
    }
    return false;
}

/* The step by which this thread has what that wait is for. PCT_NO_STEP: it has not. */
static uint32_t has(const struct graph *g, uint32_t thread, const struct pct_moment *wait)
{
    const struct pct_history *h = g->history;
    const struct pct_hold *hold =
        h->last[thread] == PCT_NO_STEP ? NULL : pct_history_holds(h, h->last[thread], wait->class_, wait->object);
    if (hold)
        return is_gone(h, hold->taken) ? PCT_NO_STEP : hold->taken;
    switch (wait->class_) {
    case PCT_CLASS_SEM:
        return took(g, thread, wait);
    case PCT_CLASS_FUTEX:
        return has_word(h, thread, wait);
    case PCT_CLASS_ONCE:
        return runs_once(h, thread, wait);
    default:
        return PCT_NO_STEP;
    }
}

static bool visit(struct graph *g, uint32_t thread)
{
    const struct pct_history *h = g->history;
    const struct pct_moment *wait = &h->steps[h->last[thread]];
    bool found = false;
    g->state[thread] = 1;
    g->path[g->length++] = thread;
    if (wait->class_ == PCT_CLASS_THREAD)
        found = go(g, thread, wait->object, PCT_NO_STEP);
    for (uint32_t other = 0; other < h->threads && !found && wait->object && wait->class_ != PCT_CLASS_THREAD;
         other++) {
        uint32_t by = has(g, other, wait);
        if (by != PCT_NO_STEP)
            found = go(g, thread, other, by);
    }
    if (found)
        return true;
    g->length--;
    g->state[thread] = 2;
    return false;
}

static void add_relocked(struct pct_diagnoses *out, uint32_t held, uint32_t waiting, uint32_t writer)
{
    struct pct_diagnosis *d = pct_diagnoses_add(out, PCT_RULE_RELOCKED, 0, 3, (uint32_t[]){ held, waiting, writer });
    if (d) {
        d->note[1] = "waits,";
        d->note[2] = "as this comes first, which waits for the first one";
    }
}

/* A reader-writer lock may let nobody pass a writer who waits, not even who has it for reading. Returns whether the
 * thread, which holds it by the first of these steps and waits for it at the second one, stands behind one. */
static bool relocked(struct pct_diagnoses *out, const struct pct_history *h, uint32_t held, uint32_t waiting)
{
    const struct pct_moment *m = &h->steps[waiting];
    const struct pct_hold *hold = pct_history_holds(h, waiting, m->class_, m->object);
    if (m->op != PCT_OP_RWLOCK_RDLOCK || !hold || !hold->shared)
        return false;
    for (uint32_t writer = h->count; writer < h->all; writer++)
        if (h->steps[writer].op == PCT_OP_RWLOCK_WRLOCK && h->steps[writer].blocked &&
            pct_moment_same_object(&h->steps[writer], m)) {
            add_relocked(out, held, waiting, writer);
            return true;
        }
    return false;
}

/* The same of a lock that is made of a word, as Rust's are: who would read waits at the word itself, who would write
 * beside it. */
static bool relocked_word(struct pct_diagnoses *out, const struct pct_history *h, uint32_t held, uint32_t waiting)
{
    const struct pct_moment *m = &h->steps[waiting];
    if (h->steps[held].word != PCT_WORD_SHARES || m->address != h->steps[held].address)
        return false;
    for (uint32_t writer = h->count; writer < h->all; writer++) {
        const struct pct_moment *w = &h->steps[writer];
        if (w->class_ != PCT_CLASS_FUTEX || !w->blocked || w->address == m->address ||
            pct_words_waited_for(h, w) != m->address)
            continue;
        add_relocked(out, held, waiting, writer);
        return true;
    }
    return false;
}

/* What several may have at a time, such as permits, others may have as well, who wait for more of it: then they wait
 * for each other. Returns whether there is one. */
static bool widen(struct graph *g)
{
    const struct pct_history *h = g->history;
    const struct pct_moment *wait = &h->steps[h->last[g->path[0]]];
    const uint32_t own = g->by[0];
    if (wait->class_ != PCT_CLASS_SEM && h->steps[own].word != PCT_WORD_SHARES)
        return false;
    for (uint32_t other = 0; other < h->threads; other++) {
        const uint32_t by =
            other != g->path[0] && blocked(h, other) && pct_moment_same_object(&h->steps[h->last[other]], wait)
                ? has(g, other, wait)
                : PCT_NO_STEP;
        if (by == PCT_NO_STEP)
            continue;
        g->by[g->length - 1] = by;
        g->path[g->length++] = other;
        g->by[g->length - 1] = own;
    }
    return g->length > 1;
}

/* Whether a thread has taken the word of this step, which others may have, too, once more while it had it: permits. */
static bool is_taken_twice(const struct pct_history *h, const struct pct_moment *taken)
{
    for (uint32_t thread = 0; taken->word == PCT_WORD_SHARES && thread < h->threads; thread++) {
        bool has_it = false;
        for (uint32_t i = h->last[thread]; i != PCT_NO_STEP; i = h->steps[i].previous) {
            const struct pct_moment *m = &h->steps[i];
            if (m->address != taken->address || (m->word != PCT_WORD_SHARES && m->word != PCT_WORD_GIVES))
                continue;
            if (has_it && m->word == PCT_WORD_SHARES)
                return true;
            has_it = m->word == PCT_WORD_SHARES;
        }
    }
    return false;
}

static void add_cycle(struct pct_diagnoses *out, struct graph *g)
{
    const struct pct_history *h = g->history;
    uint32_t steps[PCT_DIAGNOSIS_STEPS];
    const char *notes[PCT_DIAGNOSIS_STEPS] = { 0 };
    unsigned count = 0;
    if (g->length == 1) {
        if (g->by[0] == PCT_NO_STEP || relocked(out, h, g->by[0], h->last[g->path[0]]) ||
            relocked_word(out, h, g->by[0], h->last[g->path[0]]))
            return;
        /* What others may have, too, may be theirs to give; who waits for one more permit does not wait for its own. */
        const uint32_t own[] = { g->by[0], h->last[g->path[0]] };
        const bool shared = h->steps[own[0]].word == PCT_WORD_SHARES;
        const bool several = widen(g);
        if (!several && !is_taken_twice(h, &h->steps[own[0]]))
            pct_diagnoses_add(out, PCT_RULE_SELF_DEADLOCK, shared ? 6 : 0, 2, own);
        if (!several)
            return;
    }
    bool guess = false;
    for (uint32_t i = 0; i < g->length && count + 2 <= PCT_DIAGNOSIS_STEPS; i++) {
        uint32_t before = g->by[(i + g->length - 1) % g->length], wait = h->last[g->path[i]];
        bool guard = g->by[i] != PCT_NO_STEP && h->steps[g->by[i]].class_ == PCT_CLASS_GUARD;
        guess = guess || h->steps[wait].class_ == PCT_CLASS_SEM || (h->steps[wait].class_ == PCT_CLASS_FUTEX && !guard);
        if (before != PCT_NO_STEP) {
            notes[count] = "holds this,";
            steps[count++] = before;
        }
        notes[count] = "and waits for this";
        steps[count++] = wait;
    }
    /* Nobody owns a semaphore or a word: who took from it last is the best guess, no more. */
    struct pct_diagnosis *d = pct_diagnoses_add(out, PCT_RULE_WAIT_CYCLE, guess ? 6 : 0, count, steps);
    for (unsigned i = 0; d && i < count; i++)
        d->note[i] = notes[i];
}

static void find_cycle(struct pct_diagnoses *out, const struct pct_history *h, const struct pct_evidence *evidence)
{
    struct graph g = { .history = h,
                       .evidence = evidence,
                       .state = calloc(h->threads + 1, 1),
                       .path = calloc(h->threads + 1, sizeof *g.path),
                       .by = calloc(h->threads + 1, sizeof *g.by) };
    for (uint32_t thread = 0; g.state && g.path && g.by && thread < h->threads && !g.found; thread++) {
        g.length = 0;
        if (blocked(h, thread) && !g.state[thread])
            visit(&g, thread);
    }
    if (g.found)
        add_cycle(out, &g);
    free(g.state);
    free(g.path);
    free(g.by);
}

/* Who holds the lock of this wait waits for a semaphore (a pending step), which who waits for the lock would post. */
static bool would_post(const struct pct_history *h, const struct pct_moment *wait, const struct pct_moment *semaphore,
                       const struct pct_evidence *evidence)
{
    return semaphore->pending && semaphore->blocked && semaphore->op == PCT_OP_SEM_WAIT && semaphore->object &&
           pct_rules_comes_to_post(h, wait, semaphore, evidence);
}

/* Who holds the lock waits for the other end of a descriptor, or for others at a barrier. Of whom nobody knows: what is
 * known of other waits comes first. */
static bool waits_for_others(const struct pct_moment *end)
{
    return end->pending && end->blocked && end->object &&
           (end->class_ == PCT_CLASS_FD || end->class_ == PCT_CLASS_BARRIER);
}

/* How much it matters that this wait on a condition variable goes on with a lock that another one needs: where all who
 * would signal have ended, nothing; where nobody knows who would, other runs tell. */
static double worth_of(const struct pct_history *h, const struct pct_moment *wait, const struct pct_evidence *evidence)
{
    switch (pct_rules_signallers(h, wait, evidence)) {
    case PCT_SIGNALLERS_LEFT:
        return 0;
    case PCT_SIGNALLERS_ENDED:
        return BYSTANDERS;
    default:
        return NOBODYS;
    }
}

/* This thread waits at the end for a lock that another one has, who will not give it back. */
static void look_at_holder(struct pct_diagnoses *out, const struct pct_history *h, uint32_t waiting,
                           const struct pct_evidence *evidence)
{
    const struct pct_moment *wait = &h->steps[waiting];
    const struct pct_hold *hold = pct_history_holder(h, h->count, wait->class_, wait->object, wait->thread, true);
    if (!hold)
        return;
    uint32_t last = h->last[hold->thread];
    const struct pct_moment *end = &h->steps[last];
    if (end->op == PCT_OP_THREAD_FINISH)
        pct_diagnoses_add(out, PCT_RULE_ENDS_WITH_LOCK, 0, 3, (uint32_t[]){ hold->taken, last, waiting });
    else if (end->pending && end->op == PCT_OP_COND_WAKE && end->class_ == PCT_CLASS_COND)
        pct_diagnoses_add(out, PCT_RULE_WAITS_WITH_LOCK, worth_of(h, end, evidence), 3,
                          (uint32_t[]){ hold->taken, end->previous, waiting });
    else if (would_post(h, wait, end, evidence))
        pct_diagnoses_add(out, PCT_RULE_WAITS_WITH_LOCK, 0, 3, (uint32_t[]){ hold->taken, last, waiting });
    else if (waits_for_others(end))
        pct_diagnoses_add(out, PCT_RULE_WAITS_WITH_LOCK, NOBODYS, 3, (uint32_t[]){ hold->taken, last, waiting });
}

/* The same of a lock that is made of a word: who has it waits for a notice of another kind, such as that of a condition
 * variable of Rust, or a thread that is parked. */
static void look_at_word(struct pct_diagnoses *out, const struct pct_history *h, uint32_t waiting)
{
    for (uint32_t thread = 0; thread < h->threads; thread++) {
        const uint32_t taken = thread == h->steps[waiting].thread || !blocked(h, thread)
                                   ? PCT_NO_STEP
                                   : has_word(h, thread, &h->steps[waiting]);
        const struct pct_moment *end = taken == PCT_NO_STEP ? NULL : &h->steps[h->last[thread]];
        if (!end || end->class_ != PCT_CLASS_FUTEX || h->steps[taken].word != PCT_WORD_TAKES)
            continue;
        bool lock = false;
        for (uint32_t other = 0; other < h->threads; other++)
            lock = lock || has_word(h, other, end) != PCT_NO_STEP;
        if (!lock)
            pct_diagnoses_add(out, PCT_RULE_WAITS_WITH_LOCK, NOBODYS, 3, (uint32_t[]){ taken, end->previous, waiting });
    }
}

void pct_rules_waits(struct pct_diagnoses *out, const struct pct_history *h, const struct pct_evidence *evidence)
{
    if (h->trace->header.verdict != PCT_VERDICT_DEADLOCK)
        return;
    find_cycle(out, h, evidence);
    for (uint32_t i = h->count; i < h->all; i++)
        if (h->steps[i].blocked && h->steps[i].class_ == PCT_CLASS_FUTEX)
            look_at_word(out, h, i);
        else if (h->steps[i].blocked && h->steps[i].object && h->steps[i].op != PCT_OP_COND_WAKE)
            look_at_holder(out, h, i, evidence);
}
