/* What the strategy `replay` (strategies/replay.c) cannot do, as it knows of threads and steps only. When a run follows
 * a recorded one,
 *  - each step is compared with the recorded one, so that a replay that leaves the recorded path says where;
 *  - arrivals from outside and early deadlines are fed in at the step at which they came then, and take as much virtual
 * time; otherwise time passes only where the recorded thread waited for its deadline;
 *  - a thread loses the baton in the middle of its code (revoke.c), or behind an access (post_access.c), where it did
 * then. On the turn of the thread that holds the baton. */
#include "internal.h"
#include "record.h"
#include <common/text.h>

static void add_step(struct pct_text *text, uint64_t record)
{
    static const char *const names[] = {
#define NAME(id, name, class) name,
        PCT_OPS(NAME)
#undef NAME
    };
    uint32_t op = PCT_RECORD_OP(record);
    pct_text_add(text, "thread ");
    pct_text_add_u64(text, PCT_RECORD_THREAD(record));
    pct_text_add(text, ": ");
    pct_text_add(text, op < PCT_OP_COUNT ? names[op] : "unknown operation");
    if (PCT_RECORD_OBJECT(record)) {
        pct_text_add(text, " #");
        pct_text_add_u64(text, PCT_RECORD_OBJECT(record));
    }
    if (PCT_RECORD_ARG(record)) {
        pct_text_add(text, " (");
        pct_text_add_u64(text, PCT_RECORD_ARG(record));
        pct_text_add(text, ")");
    }
}

static void diverge(struct pct_sched *s, uint64_t step, const uint64_t *expected, const char *came,
                    const uint64_t *record)
{
    char buffer[512];
    struct pct_text text;
    pct_text_init(&text, buffer, sizeof buffer);
    pct_text_add(&text, "at step ");
    pct_text_add_u64(&text, step + 1);
    pct_text_add(&text, ": expected ");
    if (expected)
        add_step(&text, *expected);
    else
        pct_text_add(&text, "the end of the run");
    pct_text_add(&text, ", came ");
    if (record)
        add_step(&text, *record);
    else
        pct_text_add(&text, came);
    s->host->end(PCT_VERDICT_DIVERGENCE, buffer);
}

/* The next recorded step; NULL: there is none, or no recording. */
static const uint64_t *expected_step(const struct pct_sched *s)
{
    uint64_t step = pct_steps(s);
    return s->run.records && step < s->run.records_count ? &s->run.records[step] : NULL;
}

void pct_replay_check(struct pct_sched *s)
{
    uint64_t steps = pct_steps(s);
    for (; pct_is_replay(s) && s->replay_checked < steps; s->replay_checked++) {
        uint64_t at = s->replay_checked, made = pct_record_before(s, steps - at);
        if (at >= s->run.records_count)
            diverge(s, at, NULL, NULL, &made);
        else if (s->run.records[at] != made)
            diverge(s, at, &s->run.records[at], NULL, &made);
    }
}

uint64_t pct_replay_microseconds(const struct pct_sched *s, uint64_t now)
{
    const uint64_t *expected = expected_step(s);
    return expected ? PCT_RECORD_TIME(*expected) : now;
}

uint64_t pct_replay_clock(const struct pct_sched *s, const struct pct_thread *self, uint32_t read)
{
    return pct_replay_expects(s, self, PCT_OP_CLOCK) && PCT_RECORD_READ(*expected_step(s)) == read
               ? PCT_RECORD_TIME(*expected_step(s)) * 1000
               : 0;
}

uint32_t pct_replay_outside_jumps(const struct pct_sched *s, uint32_t now)
{
    const uint64_t *expected = expected_step(s);
    return expected ? PCT_RECORD_JUMPS(*expected) : now < PCT_RECORD_JUMPS_MOST ? now : PCT_RECORD_JUMPS_MOST;
}

/* Whether time jumped before this arrival, and has not yet: a timer of the process's own may be what ends the wait. */
static bool jumps_first(const struct pct_sched *s, uint64_t expected)
{
    return s->timers_count && PCT_RECORD_OP(expected) == PCT_OP_OUTSIDE &&
           pct_timer_jumps(s) < PCT_RECORD_JUMPS(expected);
}

/* Whether this thread, which cannot run, may do so later, when time has passed or something has come. */
static bool may_come(struct pct_sched *s, const struct pct_thread *t)
{
    return pct_is_due(s, PCT_DUE_ATTENTION) || s->foreign & PCT_FOREIGN_THREADS || s->timers_count || t->wait.outside ||
           t->wait.attention || t->state == PCT_STATE_OUTSIDE || pct_outside_strangers(s, false);
}

/* How often those that are outside have gone to sleep, plus 1 for each, if each of them sleeps now until another thread
 * of the process wakes it; 0: one does not. */
static uint64_t all_asleep(const struct pct_sched *s)
{
    uint64_t sum = 0;
    for (uint32_t id = 0; id < s->threads; id++) {
        if (pct_state(s->thread_at(id)) != PCT_STATE_OUTSIDE)
            continue;
        uint64_t asleep = s->host->asleep(s->thread_at(id));
        if (!asleep)
            return 0;
        sum += asleep;
    }
    return sum;
}

/* In the recorded run the next thread came back, here it is outside: does it sleep for one that ran beside it then, and
 * has come to a point of its own this time? That one would wait for its turn for ever. However long it takes: only if
 * the same was seen twice have all of them slept at once, so that nobody is there to wake any. */
static void hold(struct pct_sched *s, const uint64_t *expected)
{
    enum { LOOK_NS = 100000000 };
    uint64_t step = pct_steps(s) + 1, now = s->host->now();
    if (s->replay_held != step)
        s->replay_asleep = 0;
    else if (now < s->replay_look)
        return;
    uint64_t asleep = s->host->strangers && s->host->strangers(PCT_NEVER, false) != PCT_NEVER ? 0 : all_asleep(s);
    if (__atomic_load_n(&s->arrivals, __ATOMIC_SEQ_CST)) /* one that has come back sleeps for its turn */
        asleep = 0;
    if (asleep && asleep == s->replay_asleep)
        diverge(s, step - 1, expected, "that thread sleeps outside the schedule", NULL);
    s->replay_asleep = asleep;
    s->replay_held = step;
    s->replay_look = s->host->now() + LOOK_NS;
}

uint64_t pct_replay_patience(const struct pct_sched *s)
{
    return s->replay_held == pct_steps(s) + 1 ? s->replay_look : PCT_NEVER;
}

bool pct_replay_ready(struct pct_sched *s)
{
    if (!pct_is_replay(s))
        return pct_readiness_now(s);
    for (const uint64_t *expected; (expected = expected_step(s)) != NULL;) {
        if (PCT_RECORD_THREAD(*expected) >= s->threads)
            diverge(s, pct_steps(s), expected, "no such thread", NULL);
        struct pct_thread *t = s->thread_at(PCT_RECORD_THREAD(*expected));
        bool arrives = PCT_RECORD_OP(*expected) == PCT_OP_OUTSIDE;
        if (PCT_RECORD_OP(*expected) == PCT_OP_DEADLINE && t->timer.place) {
            pct_slack_pass(s, t);
        } else if (pct_state(t) != PCT_STATE_ENABLED) {
            if (!arrives && !may_come(s, t))
                diverge(s, pct_steps(s), expected, "that thread is not enabled", NULL);
            if (s->host->asleep && pct_state(t) == PCT_STATE_OUTSIDE && pct_readiness_now(s))
                hold(s, expected);
            return false;
        } else if (jumps_first(s, *expected)) {
            pct_timer_jump(s);
        } else if (arrives) {
            pct_outside_arrived(s, t, PCT_RECORD_TIME(*expected) * 1000);
        } else {
            return true;
        }
    }
    return s->enabled;
}

bool pct_replay_jumps(const struct pct_sched *s)
{
    const uint64_t *expected = expected_step(s);
    if (!expected || PCT_RECORD_THREAD(*expected) >= s->threads)
        return false;
    const struct pct_thread *t = s->thread_at(PCT_RECORD_THREAD(*expected));
    bool blocked = pct_state(t) == PCT_STATE_BLOCKED, signal = t->wait.op == PCT_OP_SIGNAL_WAIT;
    bool own = s->timers_count && s->timers[0]->fire != t->timer.fire;
    if (jumps_first(s, *expected))
        return pct_state(t) != PCT_STATE_ENABLED;
    /* A signal that came when no time had passed. Whether its thread is outside depends on what else was awaited. */
    if (PCT_RECORD_OP(*expected) == PCT_OP_OUTSIDE)
        return own && signal && !PCT_RECORD_TIME(*expected) && pct_state(t) != PCT_STATE_ENABLED;
    if (t->timer.place || (blocked && !t->wait.outside && !t->wait.attention))
        return true;
    /* What comes from outside has a step of its own, so this was a signal of the process's own timer, if one is due
     * next. */
    return own && (blocked || (signal && t->state == PCT_STATE_OUTSIDE));
}

bool pct_replay_expects(const struct pct_sched *s, const struct pct_thread *thread, enum pct_op op)
{
    const uint64_t *expected = expected_step(s);
    return expected && PCT_RECORD_THREAD(*expected) == thread->id && PCT_RECORD_OP(*expected) == op;
}

bool pct_replay_waits_again(const struct pct_sched *s, const struct pct_thread *self)
{
    const uint64_t *expected = pct_is_replay(s) ? expected_step(s) : NULL;
    return expected && (PCT_RECORD_THREAD(*expected) != self->id || PCT_RECORD_OP(*expected) == PCT_OP_OUTSIDE ||
                        PCT_RECORD_OP(*expected) == PCT_OP_SIGNAL_HANDLE);
}

uint32_t pct_replay_arg(const struct pct_sched *s, uint32_t now)
{
    const uint64_t *expected = expected_step(s);
    return expected ? PCT_RECORD_ARG(*expected) : now;
}
