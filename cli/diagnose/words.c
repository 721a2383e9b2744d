/* Locks made of a word of memory: see words.h. pct does not see each exchange, since not each instruction can be made a
 * point: a release may be missing. So it counts where an exchange is made. Where a word's first one is, or one that
 * fails, locks are taken, and never given back. */
#include "words.h"
#include <cli/base/table.h>
#include <pct/strategy.h>
#include <stdlib.h>

/* The exchanges of all words of which nothing else is known: by word, and in order. */
struct words {
    struct pct_history *history;
    uint32_t *step, count;
    struct pct_table taking; /* places where locks are taken, if these are locks; room for all is made before */
    struct pct_table known;  /* of those the ones of words that are locks; likewise */
    const bool *data;        /* by object: it is no lock */
};

/* Where the word that begins here ends. */
static uint32_t end_of(const struct words *w, uint32_t first)
{
    const struct pct_moment *steps = w->history->steps;
    uint32_t end = first;
    while (end < w->count && steps[w->step[end]].object == steps[w->step[first]].object)
        end++;
    return end;
}

/* What the thread does next but to read the word; NULL: nothing. */
static const struct pct_moment *next_of(const struct pct_history *h, uint32_t step)
{
    const struct pct_moment *m = &h->steps[step], *next = m;
    do
        next = next->next == PCT_NO_STEP ? NULL : &h->steps[next->next];
    while (next && next->class_ == PCT_CLASS_MEMORY && next->address == m->address && next->op != PCT_OP_ATOMIC_TRY);
    return next;
}

/* The word that the thread has tried to change last before this wait; NULL: it has done something else since. */
static const struct pct_moment *tried_before(const struct pct_history *h, const struct pct_moment *wait)
{
    const struct pct_moment *m = wait;
    do
        m = m->previous == PCT_NO_STEP ? NULL : &h->steps[m->previous];
    while (m && m->class_ == PCT_CLASS_MEMORY && pct_moment_access(m) == PCT_ACCESS_READ);
    return m && m->op == PCT_OP_ATOMIC_TRY ? m : NULL;
}

uint64_t pct_words_waited_for(const struct pct_history *h, const struct pct_moment *wait)
{
    const struct pct_moment *before = wait->previous == PCT_NO_STEP ? NULL : &h->steps[wait->previous];
    bool begun = before && before->op == PCT_OP_FUTEX_WAIT && before->address == wait->address;
    const struct pct_moment *tried = tried_before(h, begun ? before : wait);
    return tried && tried->address + sizeof(uint32_t) == wait->address ? tried->address : wait->address;
}

/* Who gives a lock back may wake others by the same word. */
static bool waits_behind(const struct pct_history *h, uint32_t step)
{
    const struct pct_moment *next = next_of(h, step);
    return next && next->class_ == PCT_CLASS_FUTEX && next->op != PCT_OP_FUTEX_WAKE &&
           pct_words_waited_for(h, next) == h->steps[step].address;
}

/* Whether the thread waits for this word, or yields, behind this exchange: it has not got it. */
static bool fails(const struct pct_history *h, uint32_t step)
{
    const struct pct_moment *next = next_of(h, step);
    return waits_behind(h, step) || (next && next->op == PCT_OP_YIELD);
}

/* Whether it tries once more behind this exchange, where locks are taken. */
static bool tries_again(const struct words *w, uint32_t step)
{
    const struct pct_moment *m = &w->history->steps[step];
    const struct pct_moment *next = m->next == PCT_NO_STEP ? NULL : &w->history->steps[m->next];
    return next && next->class_ == PCT_CLASS_MEMORY && next->object == m->object &&
           pct_table_find(&w->taking, next->place);
}

/* The steps by which a thread tries again and again, and whether it fails. */
struct tries {
    uint32_t thread, first, last;
    bool fails;
};

/* Whether it, or what it tries next without anything else in between, fails: so it has not got it by this one. */
static bool fails_at_last(const struct words *w, uint32_t step, struct tries *known)
{
    const uint32_t thread = w->history->steps[step].thread;
    if (known->thread == thread && known->first <= step && step <= known->last)
        return known->fails;
    *known = (struct tries){ thread, step, step, false };
    while (!fails(w->history, known->last) && tries_again(w, known->last))
        known->last = w->history->steps[known->last].next;
    return known->fails = fails(w->history, known->last);
}

/* The next exchange of who has the lock, found once for all who try it meanwhile: from which number on, and its own. */
struct holders_next {
    uint32_t holder, from, next;
};

/* Whether the thread that has the lock at this exchange, the one of this number, gives it back behind it. */
static bool gives_later(const struct words *w, uint32_t i, uint32_t end, uint32_t holder, struct holders_next *known)
{
    const struct pct_moment *steps = w->history->steps;
    if (known->holder != holder || i < known->from || i >= known->next) {
        *known = (struct holders_next){ holder, i, i + 1 };
        while (known->next < end && steps[w->step[known->next]].thread != holder)
            known->next++;
    }
    return known->next < end && !pct_table_find(&w->taking, steps[w->step[known->next]].place);
}

static void find_taking(struct words *w)
{
    for (uint32_t first = 0, end; first < w->count; first = end) {
        end = end_of(w, first);
        pct_table_add(&w->taking, w->history->steps[w->step[first]].place);
        for (uint32_t i = first; i < end; i++)
            if (fails(w->history, w->step[i]))
                pct_table_add(&w->taking, w->history->steps[w->step[i]].place);
    }
}

/* What the exchanges of one word do, if it is a lock. Returns what speaks for that: how often it is given back, or not
 * got. */
static uint32_t follow(struct words *w, uint32_t first, uint32_t end)
{
    uint32_t holder = PCT_NO_THREAD, shows = 0;
    struct holders_next known = { .holder = PCT_NO_THREAD };
    struct tries tries = { .thread = PCT_NO_THREAD };
    for (uint32_t i = first; i < end; i++) {
        struct pct_moment *m = &w->history->steps[w->step[i]];
        m->word = PCT_WORD_TAKES;
        if (holder == m->thread && !pct_table_find(&w->taking, m->place))
            m->word = PCT_WORD_GIVES;
        else if (holder == m->thread
                     ? fails_at_last(w, w->step[i], &tries)
                     : holder != PCT_NO_THREAD && (fails(w->history, w->step[i]) || tries_again(w, w->step[i]) ||
                                                   gives_later(w, i, end, holder, &known)))
            m->word = PCT_WORD_FAILS;
        if (m->word != PCT_WORD_FAILS)
            holder = m->word == PCT_WORD_TAKES ? m->thread : PCT_NO_THREAD;
        shows += m->word == PCT_WORD_GIVES || waits_behind(w->history, w->step[i]);
    }
    return shows;
}

/* A word of which no release was seen is a lock if it is taken where others are. */
static bool is_taken_as_others(const struct words *w, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++)
        if (!pct_table_find(&w->known, w->history->steps[w->step[i]].place))
            return false;
    return !w->data[w->history->steps[w->step[first]].object];
}

static void decide(struct words *w)
{
    for (uint32_t first = 0, end; first < w->count; first = end) {
        end = end_of(w, first);
        uint32_t shows = w->data[w->history->steps[w->step[first]].object] ? 0 : follow(w, first, end);
        for (uint32_t i = first; i < end && shows; i++)
            if (w->history->steps[w->step[i]].word != PCT_WORD_GIVES)
                pct_table_add(&w->known, w->history->steps[w->step[i]].place);
        for (uint32_t i = first; i < end && !shows; i++)
            w->history->steps[w->step[i]].word = PCT_WORD_NONE;
    }
    for (uint32_t first = 0, end; first < w->count; first = end) {
        end = end_of(w, first);
        if (!w->history->steps[w->step[first]].word && is_taken_as_others(w, first, end))
            follow(w, first, end);
    }
}

/* A lock is taken where it was tried first: who has to wait for it gets it elsewhere in a library, which has nothing to
 * do with the program's place. */
static void place_where_tried(struct words *w)
{
    enum { FAR = 64 }; /* exchanges of the word that are looked at */
    for (uint32_t i = 0; i < w->count; i++) {
        struct pct_moment *m = &w->history->steps[w->step[i]];
        for (uint32_t j = i; (m->word == PCT_WORD_TAKES || m->word == PCT_WORD_FAILS) && j-- > 0 && i - j <= FAR;) {
            const struct pct_moment *before = &w->history->steps[w->step[j]];
            if (before->object != m->object)
                break;
            if (before->thread != m->thread)
                continue;
            if (before->word == PCT_WORD_FAILS) {
                m->place = before->place;
                m->way = before->way;
            }
            break;
        }
    }
}

/* Whether the thread reads a word that nobody waits for, and goes on, or fails, without trying to change it: who would
 * have a lock does try. */
static bool reads_data(const struct pct_history *h, const struct pct_moment *m)
{
    if (m->class_ != PCT_CLASS_MEMORY || pct_moment_access(m) != PCT_ACCESS_READ || m->awaited || m->aside)
        return false;
    if (m->next == PCT_NO_STEP)
        return m->thread == h->trace->header.culprit;
    const struct pct_moment *next = &h->steps[m->next];
    return !pct_moment_same_object(m, next) && next->op != PCT_OP_YIELD && next->op != PCT_OP_SLEEP &&
           next->class_ != PCT_CLASS_FUTEX;
}

/* By object, whether somebody reads it so. NULL: there is no memory. */
static bool *find_data(const struct pct_history *h, uint32_t objects)
{
    bool *data = calloc(objects + (size_t)1, sizeof *data);
    for (uint32_t i = 0; data && i < h->count; i++)
        if (reads_data(h, &h->steps[i]))
            data[h->steps[i].object] = true;
    return data;
}

/* The numbers of the words that the run has used are below this. */
static uint32_t count_objects(const struct pct_history *h)
{
    uint32_t objects = 0;
    for (uint32_t i = 0; i < h->count; i++)
        if (h->steps[i].class_ == PCT_CLASS_MEMORY && h->steps[i].object >= objects)
            objects = h->steps[i].object + 1;
    return objects;
}

/* Sort the exchanges by words. Returns how many there are. */
static uint32_t collect(const struct pct_history *h, uint32_t *step)
{
    uint32_t objects = count_objects(h), used = 0;
    /* By object: how many exchanges, and then where the next one goes; PCT_NO_STEP: something else changes it. */
    uint32_t *at = calloc(objects + (size_t)1, sizeof *at);
    for (uint32_t i = 0; at && i < h->count; i++) {
        const struct pct_moment *m = &h->steps[i];
        if (m->class_ != PCT_CLASS_MEMORY || !m->object || m->aside || pct_moment_access(m) == PCT_ACCESS_READ)
            continue;
        if (m->op != PCT_OP_ATOMIC_TRY || !m->place || !m->address)
            at[m->object] = PCT_NO_STEP;
        else if (at[m->object] != PCT_NO_STEP)
            at[m->object]++;
    }
    for (uint32_t object = 0; at && object < objects; object++) {
        uint32_t count = at[object];
        if (count == PCT_NO_STEP)
            continue;
        at[object] = used;
        used += count;
    }
    for (uint32_t i = 0; at && i < h->count; i++) {
        const struct pct_moment *m = &h->steps[i];
        if (m->class_ == PCT_CLASS_MEMORY && m->op == PCT_OP_ATOMIC_TRY && m->object && at[m->object] != PCT_NO_STEP)
            step[at[m->object]++] = i;
    }
    free(at);
    return used;
}

/* --- Locks that readers share ------------------------------------------------------------------------------------- */

enum { SHARED_THREADS = 64 }; /* of which holds of such a word are counted */

/* What is known of a word that exchanges take and updates give back. */
struct shared {
    bool taken, given, otherwise;
    uint32_t first, last; /* steps that use it, plus 1 */
    uint64_t place;       /* where it was taken first */
};

static void look_at_step(struct shared *of, uint32_t objects, const struct pct_moment *m)
{
    if (m->class_ != PCT_CLASS_MEMORY || !m->object || m->object >= objects || m->aside ||
        pct_moment_access(m) == PCT_ACCESS_READ)
        return;
    struct shared *s = &of[m->object];
    if (!s->taken && m->op == PCT_OP_ATOMIC_TRY)
        s->place = m->place;
    s->taken = s->taken || m->op == PCT_OP_ATOMIC_TRY;
    s->given = s->given || m->op == PCT_OP_ATOMIC_UPDATE;
    s->otherwise = s->otherwise || !m->address || m->thread >= SHARED_THREADS ||
                   (m->op != PCT_OP_ATOMIC_TRY && m->op != PCT_OP_ATOMIC_UPDATE);
}

static bool is_shared(const struct shared *s)
{
    return s->taken && s->given && !s->otherwise;
}

/* Whether the thread has not got the lock by this exchange: it waits behind it, or tries once more, elsewhere than
 * where locks are taken first. */
static bool is_refused(const struct pct_history *h, const struct pct_table *first, uint32_t step)
{
    const struct pct_moment *m = &h->steps[step], *next = next_of(h, step);
    const struct pct_moment *again = m->next == PCT_NO_STEP ? NULL : &h->steps[m->next];
    if (next && (next->op == PCT_OP_YIELD || (next->class_ == PCT_CLASS_FUTEX && next->op != PCT_OP_FUTEX_WAKE &&
                                              next->address - m->address <= sizeof(uint32_t))))
        return true;
    return again && pct_moment_same_object(again, m) && again->op == PCT_OP_ATOMIC_TRY &&
           !pct_table_find(first, again->place);
}

/* Mark the steps of this word; none if who has not taken it gives it back, as with a count of something; nor if nobody
 * waits for it, unless several threads take and give it back, and all have in the end: then it is one for which nobody
 * had to wait. */
static void follow_shared(struct pct_history *h, const struct pct_table *first, const struct shared *s,
                          const uint32_t *next, bool data)
{
    uint32_t holds[SHARED_THREADS] = { 0 }, held = 0;
    uint64_t threads = 0;
    bool lock = true;
    for (uint32_t i = s->first; i && lock; i = next[i - 1]) {
        struct pct_moment *m = &h->steps[i - 1];
        if (m->op == PCT_OP_ATOMIC_TRY) {
            m->word = is_refused(h, first, i - 1) ? PCT_WORD_FAILS : PCT_WORD_SHARES;
            holds[m->thread] += m->word == PCT_WORD_SHARES;
            held += m->word == PCT_WORD_SHARES;
        } else if (m->op == PCT_OP_ATOMIC_UPDATE) {
            lock = holds[m->thread]-- > 0;
            held--;
            m->word = PCT_WORD_GIVES;
            threads |= UINT64_C(1) << m->thread;
        }
    }
    lock = lock && (h->steps[s->first - 1].awaited || (!data && !held && threads & (threads - 1)));
    for (uint32_t i = s->first; i && !lock; i = next[i - 1])
        h->steps[i - 1].word = PCT_WORD_NONE;
}

static void find_shared(struct pct_history *h, const bool *data)
{
    uint32_t objects = count_objects(h);
    struct shared *of = calloc(objects + (size_t)1, sizeof *of);
    uint32_t *next = calloc(h->count + (size_t)1, sizeof *next); /* on the same word, plus 1; 0: none */
    struct pct_table first = PCT_TABLE_OF_KEYS;
    bool fine = of && next && pct_table_reserve(&first, objects + (size_t)1);
    for (uint32_t i = 0; fine && i < h->count; i++) {
        look_at_step(of, objects, &h->steps[i]);
        if (h->steps[i].class_ != PCT_CLASS_MEMORY)
            continue;
        struct shared *s = &of[h->steps[i].object];
        *(s->last ? &next[s->last - 1] : &s->first) = i + 1;
        s->last = i + 1;
    }
    for (uint32_t object = 1; fine && object < objects; object++)
        if (is_shared(&of[object]) && of[object].place)
            pct_table_add(&first, of[object].place);
    for (uint32_t object = 1; fine && object < objects; object++)
        if (is_shared(&of[object]))
            follow_shared(h, &first, &of[object], next, data[object]);
    pct_table_free(&first);
    free(next);
    free(of);
}

/* Whether this is a step behind which its thread wakes who waits for the word, and before which nothing else is done.
 */
static bool is_notice(const struct pct_history *h, uint32_t step)
{
    const struct pct_moment *m = &h->steps[step], *next = m->next == PCT_NO_STEP ? NULL : &h->steps[m->next];
    return m->op == PCT_OP_ATOMIC_UPDATE && next && next->op == PCT_OP_FUTEX_WAKE && next->address == m->address;
}

/* Whether the step speaks against its object being a count of notices: it changes it otherwise. */
static bool speaks_against(const struct pct_history *h, uint32_t step)
{
    const struct pct_moment *m = &h->steps[step];
    return pct_moment_access(m) != PCT_ACCESS_READ && !m->word && !m->aside && !is_notice(h, step);
}

static bool may_be_notice(const struct pct_moment *m, uint32_t objects)
{
    return m->class_ == PCT_CLASS_MEMORY && m->object && m->object < objects;
}

static void find_notices(struct pct_history *h)
{
    uint32_t objects = count_objects(h);
    /* By object: there is a notice, and nothing that speaks against that. */
    struct {
        bool told, otherwise;
    } *of = calloc(objects + (size_t)1, sizeof *of);
    for (uint32_t i = 0; of && i < h->count; i++) {
        const struct pct_moment *m = &h->steps[i];
        if (!may_be_notice(m, objects))
            continue;
        of[m->object].told = of[m->object].told || (m->address && !m->word && is_notice(h, i));
        of[m->object].otherwise = of[m->object].otherwise || speaks_against(h, i);
    }
    for (uint32_t i = 0; of && i < h->count; i++) {
        struct pct_moment *m = &h->steps[i];
        if (may_be_notice(m, objects) && of[m->object].told && !of[m->object].otherwise &&
            m->op == PCT_OP_ATOMIC_UPDATE)
            m->word = PCT_WORD_NOTICE;
    }
    free(of);
}

/* Whether the step does no more than look at memory. */
static bool only_reads(const struct pct_moment *m)
{
    return m->op == PCT_OP_LOAD || m->op == PCT_OP_ATOMIC_LOAD;
}

/* The lock that the thread gives up before this wait, or before it takes that again: nothing else is done between.
 * PCT_NO_STEP: there is none. */
static uint32_t given_up(const struct pct_history *h, uint32_t before)
{
    uint32_t i = h->steps[before].previous;
    while (i != PCT_NO_STEP && (h->steps[i].op == PCT_OP_FUTEX_WAKE || only_reads(&h->steps[i])))
        i = h->steps[i].previous;
    return i != PCT_NO_STEP && h->steps[i].word == PCT_WORD_GIVES ? i : PCT_NO_STEP;
}

/* Where it takes that back, behind the wait. PCT_NO_STEP: it does not. */
static uint32_t taken_back(const struct pct_history *h, uint32_t wait, const struct pct_moment *given)
{
    for (uint32_t i = h->steps[wait].next; i != PCT_NO_STEP; i = h->steps[i].next) {
        const struct pct_moment *m = &h->steps[i];
        if (m->class_ == PCT_CLASS_MEMORY && !pct_moment_same_object(m, given) && !only_reads(m))
            break;
        if (m->word == PCT_WORD_TAKES)
            return i;
        if (m->class_ != PCT_CLASS_MEMORY && m->class_ != PCT_CLASS_FUTEX && m->op != PCT_OP_YIELD)
            break;
    }
    return PCT_NO_STEP;
}

/* Where locks are taken back is known by those who waited: who finds that there has been a notice, and does not wait,
 * gives a lock up, and takes it back there, too. */
static void find_unwaited(struct pct_history *h, const struct pct_table *places)
{
    for (uint32_t i = 0; places->count && i < h->count; i++) {
        struct pct_moment *m = &h->steps[i];
        const uint32_t given =
            m->word == PCT_WORD_TAKES && !m->waits && pct_table_find(places, m->place) ? given_up(h, i) : PCT_NO_STEP;
        if (given != PCT_NO_STEP && pct_moment_same_object(&h->steps[given], m))
            m->waits = h->steps[given].waits = true;
    }
}

/* Mark what is given up and taken back by waits for words that count notices, as Rust's condition variables are. */
static void find_waits(struct pct_history *h)
{
    struct pct_table told = PCT_TABLE_OF_KEYS, places = PCT_TABLE_OF_KEYS; /* told: by address */
    bool fine = true;
    for (uint32_t i = 0; fine && i < h->count; i++)
        fine = h->steps[i].word != PCT_WORD_NOTICE || pct_table_add(&told, h->steps[i].address);
    for (uint32_t i = 0; fine && told.count && i < h->count; i++) {
        if (h->steps[i].op != PCT_OP_FUTEX_WAIT || !pct_table_find(&told, h->steps[i].address))
            continue;
        const uint32_t given = given_up(h, i);
        const uint32_t taken = given == PCT_NO_STEP ? PCT_NO_STEP : taken_back(h, i, &h->steps[given]);
        if (given != PCT_NO_STEP)
            h->steps[given].waits = true;
        if (taken == PCT_NO_STEP)
            continue;
        h->steps[taken].waits = true;
        fine = !h->steps[taken].place || pct_table_add(&places, h->steps[taken].place);
    }
    find_unwaited(h, &places);
    pct_table_free(&places);
    pct_table_free(&told);
}

/* Which words somebody waits for. */
static void find_awaited(struct pct_history *h)
{
    struct pct_table awaited = PCT_TABLE_OF_KEYS;
    bool fine = true;
    for (uint32_t i = 0; fine && i < h->count; i++)
        fine = h->steps[i].op != PCT_OP_FUTEX_WAIT || (pct_table_add(&awaited, h->steps[i].address) &&
                                                       pct_table_add(&awaited, pct_words_waited_for(h, &h->steps[i])));
    for (uint32_t i = 0; fine && i < h->count; i++)
        h->steps[i].awaited = h->steps[i].class_ == PCT_CLASS_MEMORY && pct_table_find(&awaited, h->steps[i].address);
    pct_table_free(&awaited);
}

/* Where memory is given its first value, and what else stands in the eight bytes of a word, such as whether a lock of
 * Rust's is poisoned, says nothing against the word. */
static void set_aside(struct pct_history *h)
{
    uint32_t objects = count_objects(h);
    struct {
        uint64_t address;
        uint32_t step;
    } *first = calloc(objects + (size_t)1, sizeof *first); /* by object: it is changed at a blow */
    for (uint32_t i = h->count; first && i-- > 0;) {
        const struct pct_moment *m = &h->steps[i];
        if (m->class_ != PCT_CLASS_MEMORY || (m->op != PCT_OP_ATOMIC_TRY && m->op != PCT_OP_ATOMIC_UPDATE))
            continue;
        first[m->object].address = m->address;
        first[m->object].step = i;
    }
    for (uint32_t i = 0; first && i < h->count; i++) {
        struct pct_moment *m = &h->steps[i];
        bool plain = m->class_ == PCT_CLASS_MEMORY && (m->op == PCT_OP_LOAD || m->op == PCT_OP_STORE);
        m->aside = plain && first[m->object].address &&
                   (i < first[m->object].step || (m->address && m->address != first[m->object].address));
    }
    free(first);
}

/* Of words that have turned out to be locks: what was set aside has nothing to do with them. */
static void settle(struct pct_history *h)
{
    uint32_t objects = count_objects(h);
    uint64_t *lock = calloc(objects + (size_t)1, sizeof *lock); /* by object: its address */
    for (uint32_t i = 0; lock && i < h->count; i++)
        if (h->steps[i].class_ == PCT_CLASS_MEMORY && pct_moment_locks(&h->steps[i]))
            lock[h->steps[i].object] = h->steps[i].address;
    for (uint32_t i = 0; i < h->count; i++) {
        struct pct_moment *m = &h->steps[i];
        m->aside = m->aside && lock && lock[m->object];
        if (m->aside && m->address != lock[m->object])
            m->part = 1 + m->address % sizeof(uint64_t);
    }
    free(lock);
}

void pct_words_find(struct pct_history *h)
{
    struct words w = { .history = h, .step = malloc((h->count + (size_t)1) * sizeof *w.step) };
    set_aside(h);
    find_awaited(h);
    bool *data = find_data(h, count_objects(h));
    w.data = data;
    w.count = w.step && data ? collect(h, w.step) : 0;
    if (data && pct_table_reserve(&w.taking, w.count + (size_t)1) && pct_table_reserve(&w.known, w.count + (size_t)1)) {
        find_taking(&w);
        decide(&w);
        place_where_tried(&w);
        find_shared(h, data);
    }
    find_notices(h);
    find_waits(h);
    settle(h);
    free(data);
    free(w.step);
    pct_table_free(&w.taking);
    pct_table_free(&w.known);
}
