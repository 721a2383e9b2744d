/* What passes a scheduling point at which nothing is due: one compare. Included by sched.h alone, behind its types.
 *
 * `stop` is the record at which something is due, and `due` says what besides the end of a budget, a block or a wait.
 * Whoever sets a bit of `due` also pulls `stop` back, so the next point of the holder is a slow one. With the baton,
 * unless a function says otherwise. */
#ifndef PCT_SCHED_FAST_PATH_H
#define PCT_SCHED_FAST_PATH_H

#ifndef PCT_SCHED_H
#error "include sched.h"
#endif

/* Whether the block of the trace that is being filled has no room for another record. */
static inline bool pct_is_full(const struct pct_sched *s)
{
    return PCT_UNLIKELY(s->record >= s->block + PCT_TRACE_BLOCK);
}

/* Come back at the next scheduling point. */
static inline void pct_stop_soon(struct pct_sched *s)
{
    s->stop = s->calm_stop = s->record;
}

/* Whether any of these (PCT_DUE_*) is due. With the baton, as the next two. */
static inline bool pct_is_due(const struct pct_sched *s, uint32_t what)
{
    return __atomic_load_n(&s->due, __ATOMIC_RELAXED) & what;
}

/* It is, once pct_sched_set_stop() or pct_stop_soon() is called. */
static inline void pct_set_due(struct pct_sched *s, uint32_t what)
{
    if (!pct_is_due(s, what))
        __atomic_fetch_or(&s->due, what, __ATOMIC_SEQ_CST);
}

static inline void pct_clear_due(struct pct_sched *s, uint32_t what)
{
    if (pct_is_due(s, what))
        __atomic_fetch_and(&s->due, ~what, __ATOMIC_SEQ_CST);
}

/* Whether the thread may go on without asking anybody: one compare. Who sets a bit of `due` also pulls `stop` back. */
static inline bool pct_on_fast_path(const struct pct_sched *s)
{
    return PCT_LIKELY(s->record < s->stop);
}

/* Or whether it may but for the end of its budget, which the strategy does not mind before this operation. address: of
 * its object, 0: it has none; place: where the program calls it, as the host's site() has it, 0: not known. */
static inline bool pct_is_calm(const struct pct_sched *s, enum pct_op op, uint64_t address, uint64_t place)
{
    return PCT_UNLIKELY(s->calm != NULL) && s->calm->is && s->record < s->calm_stop && !pct_is_due(s, UINT32_MAX) &&
           !pct_calm_minds(s->calm, op, address, place);
}

/* Pass the scheduling point before an operation that cannot block. */
static inline void pct_point(struct pct_sched *s, struct pct_thread *self, enum pct_op op, struct pct_object *object)
{
    if (PCT_UNLIKELY(!pct_on_fast_path(s)))
        pct_sched_point(s, self, op, object);
}

/* The operation is done: a step. number: the object's, or a thread's id. */
static inline void pct_record(struct pct_sched *s, const struct pct_thread *self, enum pct_op op, uint32_t arg,
                              uint32_t number)
{
    *s->record++ = self->stamp | PCT_RECORD(0, op, arg, number);
}

/* For who passes points by itself: where the next record goes; the record at which something is due; the same, but for
 * the end of the budget, while pct_is_calm(). */
static inline uint64_t *pct_record_at(const struct pct_sched *s)
{
    return s->record;
}

static inline const uint64_t *pct_stop_at(const struct pct_sched *s)
{
    return s->stop;
}

static inline const uint64_t *pct_calm_stop_at(const struct pct_sched *s)
{
    return s->calm_stop;
}

/* Whether no operation may take a shortcut. */
static inline bool pct_sched_is_in_full(const struct pct_sched *s)
{
    return s->in_full;
}

/* The record of who keeps it ready. at: pct_record_at(). */
static inline void pct_record_ready(struct pct_sched *s, uint64_t *at, uint64_t record)
{
    *at = record;
    s->record = at + 1;
}

#endif
