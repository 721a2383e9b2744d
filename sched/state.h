/* What the host asks of a run's state: which member of struct pct_sched has the answer is known in sched/ alone
 * (scripts/check-layers). Included by sched.h alone, behind its types. With the baton, unless a function says
 * otherwise. What it says stands in sched.h; what the fast path asks, in fast_path.h. */
#ifndef PCT_SCHED_STATE_H
#define PCT_SCHED_STATE_H

#ifndef PCT_SCHED_H
#error "include sched.h"
#endif

/* Whether there is a run. Any thread. */
static inline bool pct_sched_is_on(const struct pct_sched *s)
{
    return s->host != NULL;
}

/* --- Threads --- */

/* How many ever existed: their ids are below this. Any thread, as the next two. */
static inline uint32_t pct_sched_threads(const struct pct_sched *s)
{
    return s->threads;
}

/* How many have not finished. */
static inline uint32_t pct_sched_live(const struct pct_sched *s)
{
    return s->live;
}

static inline struct pct_thread *pct_sched_thread(const struct pct_sched *s, uint32_t id)
{
    return s->thread_at(id);
}

/* Whether the running thread is the only one that lives. */
static inline bool pct_sched_alone(const struct pct_sched *s)
{
    return s->live < 2;
}

/* Whether this thread holds the baton, and stands outside of the scheduler's own code. Any thread, of itself. */
static inline bool pct_sched_holds(const struct pct_sched *s, const struct pct_thread *thread)
{
    return thread == s->current;
}

/* Who does; NULL: nobody. Any thread. */
static inline struct pct_thread *pct_sched_holder(const struct pct_sched *s)
{
    return __atomic_load_n(&s->current, __ATOMIC_SEQ_CST);
}

/* Whether one keeps the baton until it blocks; whether this one does. */
static inline bool pct_sched_has_pinned(const struct pct_sched *s)
{
    return s->pinned != NULL;
}

static inline bool pct_sched_is_pinned(const struct pct_sched *s, const struct pct_thread *thread)
{
    return s->pinned == thread;
}

/* Whether anybody makes calls without the baton. */
static inline bool pct_sched_has_foreign(const struct pct_sched *s)
{
    return PCT_UNLIKELY(s->foreign != 0);
}

/* Whether threads of this kind (PCT_FOREIGN_*) do. */
static inline bool pct_sched_has_met(const struct pct_sched *s, uint32_t kind)
{
    return s->foreign & kind;
}

/* Whether a thread is about to stand in a queue, where others would not find it yet to wake it. */
static inline bool pct_sched_joins(const struct pct_sched *s)
{
    return s->joins;
}

/* --- What ends waits --- */

/* In how many the world, or a relative, is waited for: without the baton; with it, but for signals and the kernel's
 * answers. */
static inline uint32_t pct_sched_outside(const struct pct_sched *s)
{
    return s->outside;
}

static inline uint32_t pct_sched_can_outside(const struct pct_sched *s)
{
    return s->can_outside;
}

/* In how many a signal could end it; of these, whoever sent it. */
static inline uint32_t pct_sched_can_attention(const struct pct_sched *s)
{
    return s->can_attention;
}

static inline uint32_t pct_sched_can_both(const struct pct_sched *s)
{
    return s->can_both;
}

/* The first of those whose predicates ask the kernel, linked by kernel_next; NULL: there is none. */
static inline const struct pct_thread *pct_sched_kernel_waits(const struct pct_sched *s)
{
    return s->kernel_waits;
}

/* How many timers are armed, and one of them, from 0; the first is due first. */
static inline uint32_t pct_sched_timers(const struct pct_sched *s)
{
    return s->timers_count;
}

static inline struct pct_timer *pct_sched_timer(const struct pct_sched *s, uint32_t i)
{
    return s->timers[i];
}

/* --- Time and steps --- */

/* Whether time is virtual. */
static inline bool pct_sched_is_virtual(const struct pct_sched *s)
{
    return s->step_ns != 0;
}

/* Whether it stands, and goes on to deadlines alone. */
static inline bool pct_sched_is_still(const struct pct_sched *s)
{
    return s->still;
}

/* What a step takes of it, 0 in real time; and how long, in real time, a thread may pass no point. */
static inline uint64_t pct_sched_step_ns(const struct pct_sched *s)
{
    return s->step_ns;
}

static inline uint64_t pct_sched_run_ns(const struct pct_sched *s)
{
    return s->run_ns;
}

/* How often another thread went on. */
static inline uint64_t pct_sched_switches(const struct pct_sched *s)
{
    return s->switches;
}

/* The step of the last pick. */
static inline uint64_t pct_sched_picked_at(const struct pct_sched *s)
{
    return s->picked_at;
}

/* --- What the run was begun with --- */

static inline uint64_t pct_sched_seed(const struct pct_sched *s)
{
    return s->run.seed;
}

static inline bool pct_sched_strategy_is(const struct pct_sched *s, const struct pct_strategy *strategy)
{
    return s->strategy == strategy;
}

/* For the functions that only that strategy has. */
static inline void *pct_sched_strategy_state(const struct pct_sched *s)
{
    return s->strategy_state;
}

/* Whether a script says who runs. */
static inline bool pct_sched_has_script(const struct pct_sched *s)
{
    return s->run.script != NULL;
}

/* Whether it tells at which steps it need not be asked. */
static inline bool pct_sched_has_calm(const struct pct_sched *s)
{
    return s->calm != NULL;
}

/* The race detector, or NULL. */
static inline struct pct_races *pct_sched_races(const struct pct_sched *s)
{
    return s->races;
}

/* What an explored run tells, or NULL. */
static inline struct pct_channel *pct_sched_log(const struct pct_sched *s)
{
    return s->log;
}

/* Whether the run has all steps of an explored run, also where nobody else may go on now, or nothing can change any
 * more: equivalent schedules have the same steps, and so has the replay (`explored=all` in tokens). */
static inline bool pct_sched_is_explored(const struct pct_sched *s)
{
    return s->explored;
}

/* Whether an access to memory may concern another thread. */
static inline bool pct_sched_is_shared(const struct pct_sched *s)
{
    return s->live > 1 || (s->explored && s->threads > 1);
}

/* --- The trace --- */

/* Whether nothing but the last steps is kept. */
static inline bool pct_sched_is_ring(const struct pct_sched *s)
{
    return s->ring;
}

/* Whether a block of it is being turned, or it is closed. Any thread. */
static inline bool pct_sched_is_turning(const struct pct_sched *s)
{
    return __atomic_load_n(&s->turning, __ATOMIC_SEQ_CST);
}

/* Behind the last record. */
static inline const uint64_t *pct_sched_records_end(const struct pct_sched *s)
{
    return s->record > s->block ? s->record : s->block;
}

/* Up to where it has memory. */
static inline const uint64_t *pct_sched_records_room(const struct pct_sched *s)
{
    return s->records + s->records_ready;
}

/* Where steps were made, by step, NULL: that is not recorded; of how many that is known. */
static inline const struct pct_site *pct_sched_sites(const struct pct_sched *s)
{
    return s->sites;
}

static inline uint64_t pct_sched_sited(const struct pct_sched *s)
{
    return s->sited;
}

#endif
