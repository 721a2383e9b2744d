/* A history of calls, and whether it is linearizable: whether each call can have taken effect at one moment between its
 * beginning and its end, such that all results are those of a sequential object. Header only, C99 and C++. Works
 * natively and under pct; a history that is not linearizable is printed as a table and ends the program as a failed
 * assertion does, so that pct sees and replays it. pct-history(3); examples/interleaving/queue.c.
 *
 *     static const struct pct_model model = { .name = "queue", .size = sizeof(struct state), .step = step };
 *     static struct pct_history history = PCT_HISTORY(&model);
 *
 *     int call = pct_call(&history, DEQUEUE, 0);      before the operation, by any thread
 *     pct_return(&history, call, dequeue(&queue));    behind it
 *
 *     pct_linearizable(&history);                     by one thread, when no other one records
 *
 * Each record is made under a mutex, so that their order is the real one natively, and so that pct explore takes two of
 * them for dependent: it goes through their orders. Natively the mutex hides what weak memory does.
 *
 * The search is that of Wing and Gong with the memory of Lowe: a set of calls that took effect, with the state that it
 * led to, is gone on from once. */
#ifndef PCT_HISTORY_H
#define PCT_HISTORY_H

#include <pct/script.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { PCT_HISTORY_CALLS = 256 };

/* A sequential object. */
struct pct_model {
    const char *name;
    size_t size;       /* of its state, in bytes: states are the same if all bytes are */
    const void *start; /* the first one; NULL: zeroes */

    /* Make this call in this state. returned: it may have had this result; false where it may not, and the state is
     * then of no interest. Otherwise it never returned, and whatever it would have had is fine: true. */
    bool (*step)(void *state, int operation, long argument, bool returned, long result);

    /* The call as a text. NULL: as numbers. */
    void (*format)(char *text, size_t size, int operation, long argument, bool returned, long result);
};

struct pct_history_call {
    int operation, thread;
    bool returned;
    long argument, result;
    unsigned begin, end; /* the numbers of its records, from 1; end: 0 until it has returned */
};

struct pct_history {
    const struct pct_model *model;
    pthread_mutex_t lock;
    unsigned records;
    int calls, threads;
    pthread_t thread[PCT_HISTORY_CALLS];
    struct pct_history_call call[PCT_HISTORY_CALLS];
};

#define PCT_HISTORY(model)                                                                                             \
    {                                                                                                                  \
        model, PTHREAD_MUTEX_INITIALIZER, 0, 0, 0, { 0 },                                                              \
        {                                                                                                              \
            {                                                                                                          \
                0, 0, false, 0, 0, 0, 0                                                                                \
            }                                                                                                          \
        }                                                                                                              \
    }

__attribute__((noreturn)) static inline void pct_history_stop_(const char *why)
{
    fprintf(stderr, "pct/history.h: %s\n", why);
    abort();
}

/* The calling thread begins a call. Returns its number, for pct_return(). More than PCT_HISTORY_CALLS end the program.
 */
static inline int pct_call(struct pct_history *history, int operation, long argument)
{
    pthread_mutex_lock(&history->lock);
    int thread = 0, number = history->calls;
    if (number == PCT_HISTORY_CALLS)
        pct_history_stop_("the history has more calls than there is room for");
    while (thread < history->threads && !pthread_equal(history->thread[thread], pthread_self()))
        thread++;
    if (thread == history->threads)
        history->thread[history->threads++] = pthread_self();
    struct pct_history_call *call = &history->call[history->calls++];
    call->operation = operation;
    call->thread = thread;
    call->argument = argument;
    call->begin = ++history->records;
    pthread_mutex_unlock(&history->lock);
    return number;
}

/* The call with this number has returned this. Another number, or twice the same, ends the program. */
static inline void pct_return(struct pct_history *history, int number, long result)
{
    pthread_mutex_lock(&history->lock);
    if (number < 0 || number >= history->calls || history->call[number].returned)
        pct_history_stop_("pct_return() of a call that was not made, or has returned");
    struct pct_history_call *call = &history->call[number];
    call->returned = true;
    call->result = result;
    call->end = ++history->records;
    pthread_mutex_unlock(&history->lock);
}

/* --- The search --------------------------------------------------------------------------------------------------- */

/* A set of calls that took effect, and a state that they led to. */
struct pct_history_seen_ {
    struct pct_history_seen_ *next; /* behind it: the set, and the state */
};

struct pct_history_search_ {
    const struct pct_history *history;
    unsigned until; /* the last record that counts */
    size_t key_size, buckets;
    struct pct_history_seen_ **bucket;
    size_t seen;
};

enum { PCT_HISTORY_SET_ = PCT_HISTORY_CALLS / 8 };

static inline void *pct_history_memory_(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (!memory)
        pct_history_stop_("there is no memory to search the history");
    return memory;
}

static inline bool pct_history_has_(const unsigned char *set, int call)
{
    return set[call / 8] >> call % 8 & 1;
}

static inline uint64_t pct_history_hash_(const unsigned char *key, size_t size)
{
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ key[i]) * 1099511628211u;
    return hash ^ hash >> 29;
}

static inline void pct_history_widen_(struct pct_history_search_ *search)
{
    size_t buckets = search->buckets ? 2 * search->buckets : 256;
    struct pct_history_seen_ **wide =
        (struct pct_history_seen_ **)pct_history_memory_(buckets, sizeof(struct pct_history_seen_ *));
    for (size_t i = 0; i < search->buckets; i++)
        for (struct pct_history_seen_ *seen = search->bucket[i], *next; seen; seen = next) {
            size_t at = pct_history_hash_((unsigned char *)(seen + 1), search->key_size) % buckets;
            next = seen->next;
            seen->next = wide[at];
            wide[at] = seen;
        }
    free(search->bucket);
    search->bucket = wide;
    search->buckets = buckets;
}

/* Whether this set with this state is new; from then on it is not. */
static inline bool pct_history_is_new_(struct pct_history_search_ *search, const unsigned char *key)
{
    if (search->seen >= search->buckets)
        pct_history_widen_(search);
    size_t at = pct_history_hash_(key, search->key_size) % search->buckets;
    for (const struct pct_history_seen_ *seen = search->bucket[at]; seen; seen = seen->next)
        if (!memcmp((const unsigned char *)(seen + 1), key, search->key_size))
            return false;
    struct pct_history_seen_ *seen =
        (struct pct_history_seen_ *)pct_history_memory_(1, sizeof(struct pct_history_seen_) + search->key_size);
    memcpy((unsigned char *)(seen + 1), key, search->key_size);
    seen->next = search->bucket[at];
    search->bucket[at] = seen;
    search->seen++;
    return true;
}

/* Whether the call must have taken effect: it has returned by then. */
static inline bool pct_history_must_(const struct pct_history_search_ *search, int call)
{
    unsigned end = search->history->call[call].end;
    return end && end <= search->until;
}

/* The first record of those that end a call which must take effect and is not in the set; 0: there is none. */
static inline unsigned pct_history_first_end_(const struct pct_history_search_ *search, const unsigned char *set)
{
    unsigned first = 0;
    for (int i = 0; i < search->history->calls; i++)
        if (pct_history_must_(search, i) && !pct_history_has_(set, i) &&
            (!first || search->history->call[i].end < first))
            first = search->history->call[i].end;
    return first;
}

/* Add this call to the copy of the key in `next`. False: it cannot come next, or that led nowhere before. */
static inline bool pct_history_add_(struct pct_history_search_ *search, const unsigned char *key, unsigned char *next,
                                    int number, unsigned first_end)
{
    const struct pct_history_call *call = &search->history->call[number];
    if (pct_history_has_(key, number) || call->begin > first_end)
        return false;
    memcpy(next, key, search->key_size);
    next[number / 8] = (unsigned char)(next[number / 8] | 1 << number % 8);
    /* What it returned later binds nothing that had happened by then. */
    return search->history->model->step(next + PCT_HISTORY_SET_, call->operation, call->argument,
                                        pct_history_must_(search, number), call->result) &&
           pct_history_is_new_(search, next);
}

static inline bool pct_history_search_(struct pct_history_search_ *search)
{
    const struct pct_history *history = search->history;
    size_t depth = 0, rows = (size_t)history->calls + 1;
    unsigned char *keys = (unsigned char *)pct_history_memory_(rows + 1, search->key_size);
    int *tried = (int *)pct_history_memory_(rows, sizeof *tried);
    bool found = false;
    if (history->model->start)
        memcpy(keys + PCT_HISTORY_SET_, history->model->start, history->model->size);
    for (;;) {
        unsigned char *key = keys + depth * search->key_size;
        unsigned first_end = pct_history_first_end_(search, key);
        found = !first_end;
        while (!found && tried[depth] < history->calls &&
               !pct_history_add_(search, key, key + search->key_size, tried[depth], first_end))
            tried[depth]++;
        if (found || (tried[depth] == history->calls && !depth))
            break;
        if (tried[depth] == history->calls)
            tried[--depth]++;
        else
            tried[++depth] = 0;
    }
    free(tried);
    free(keys);
    return found;
}

/* Whether the history is linearizable up to this record: what has not returned by then may have taken effect or not. */
static inline bool pct_history_holds(const struct pct_history *history, unsigned until)
{
    struct pct_history_search_ search = { history, until, (PCT_HISTORY_SET_ + history->model->size + 15) / 16 * 16,
                                          0,       NULL,  0 };
    pct_history_widen_(&search);
    bool holds = pct_history_search_(&search);
    for (size_t i = 0; i < search.buckets; i++)
        for (struct pct_history_seen_ *seen = search.bucket[i], *next; seen; seen = next) {
            next = seen->next;
            free(seen);
        }
    free(search.bucket);
    return holds;
}

/* The first record up to which it is not linearizable; 0: it is. */
static inline unsigned pct_history_check(const struct pct_history *history)
{
    unsigned from = 0, to = history->records;
    if (pct_history_holds(history, to))
        return 0;
    while (to - from > 1) { /* it holds up to `from`, and not up to `to` */
        unsigned middle = from + (to - from) / 2;
        if (pct_history_holds(history, middle))
            from = middle;
        else
            to = middle;
    }
    return to;
}

/* --- What is printed ---------------------------------------------------------------------------------------------- */

static inline void pct_history_print_(const struct pct_history *history, unsigned until)
{
    char text[128];
    fprintf(stderr, "%s: not linearizable: no order explains the result that is marked (calls by their beginnings)\n",
            history->model->name);
    fprintf(stderr, "%8s %8s  %-8s  %s\n", "from", "to", "thread", "call");
    for (int i = 0; i < history->calls && history->call[i].begin < until; i++) {
        const struct pct_history_call *call = &history->call[i];
        bool returned = call->end && call->end <= until;
        if (history->model->format)
            history->model->format(text, sizeof text, call->operation, call->argument, returned, call->result);
        else if (returned)
            snprintf(text, sizeof text, "operation %d (%ld): %ld", call->operation, call->argument, call->result);
        else
            snprintf(text, sizeof text, "operation %d (%ld)", call->operation, call->argument);
        fprintf(stderr, "%8u ", call->begin);
        if (returned)
            fprintf(stderr, "%8u", call->end);
        else
            fprintf(stderr, "%8s", "-");
        fprintf(stderr, "  %-8d  %s%s\n", call->thread, text, call->end == until ? "    <---" : "");
    }
}

static inline void pct_linearizable_(const struct pct_history *history, const char *file, unsigned line,
                                     const char *function)
{
    unsigned until = pct_history_check(history);
    if (!until)
        return;
    pct_history_print_(history, until);
    __assert_fail("the printed history is linearizable", file, line, function);
}

#ifdef __cplusplus
}
#endif

#define pct_linearizable(history) pct_linearizable_(history, __FILE__, __LINE__, __extension__ __PRETTY_FUNCTION__)

#endif
