/* Following a recorded trace: its threads are chosen step by step, and each step is compared with the recorded one, so
 * that a replay that leaves the recorded path says where. */
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

/* The step just made, against the recorded one. */
void pct_replay_check(struct pct_sched *s)
{
    if (pct_steps(s) == s->replay_checked)
        return;
    uint64_t at = pct_steps(s) - 1;
    s->replay_checked = pct_steps(s);
    uint64_t made = pct_record_before(s, 1); /* the block may have been turned since */
    if (at >= s->replay_count)
        diverge(s, at, NULL, NULL, &made);
    else if (s->replay[at] != made)
        diverge(s, at, &s->replay[at], NULL, &made);
}

uint64_t pct_replay_microseconds(const struct pct_sched *s)
{
    return PCT_RECORD_TIME(s->replay[pct_steps(s)]);
}

bool pct_replay_ready(struct pct_sched *s)
{
    while (pct_steps(s) < s->replay_count) {
        uint64_t expected = s->replay[pct_steps(s)];
        if (PCT_RECORD_THREAD(expected) >= s->threads)
            return true;
        struct pct_thread *t = s->thread_at(PCT_RECORD_THREAD(expected));
        bool arrives = PCT_RECORD_OP(expected) == PCT_OP_OUTSIDE;
        if (PCT_RECORD_OP(expected) == PCT_OP_DEADLINE && t->timer.place) {
            pct_slack_pass(s, t);
            continue;
        }
        if (pct_state(t) == PCT_STATE_ENABLED && !arrives)
            return true;
        if (pct_state(t) != PCT_STATE_ENABLED)
            return !(arrives || pct_is_due(s, PCT_DUE_ATTENTION) || s->foreign & PCT_FOREIGN_THREADS ||
                     s->timers_count || t->wait.outside || t->wait.attention || t->state == PCT_STATE_OUTSIDE ||
                     pct_outside_strangers(s));
        pct_outside_arrived(s, t, pct_replay_microseconds(s) * 1000);
    }
    return s->enabled;
}

bool pct_replay_jumps(const struct pct_sched *s)
{
    if (pct_steps(s) >= s->replay_count)
        return false;
    uint64_t expected = s->replay[pct_steps(s)];
    if (PCT_RECORD_THREAD(expected) >= s->threads || PCT_RECORD_OP(expected) == PCT_OP_OUTSIDE)
        return false;
    const struct pct_thread *t = s->thread_at(PCT_RECORD_THREAD(expected));
    if (t->timer.place || (pct_state(t) == PCT_STATE_BLOCKED && !t->wait.outside && !t->wait.attention))
        return true;
    /* What comes from outside has a step of its own, so this was a signal of the process's own timer, if one is due
     * next. */
    return pct_state(t) == PCT_STATE_BLOCKED && s->timers_count && s->timers[0]->fire != t->timer.fire;
}

struct pct_thread *pct_replay_next(struct pct_sched *s)
{
    if (pct_steps(s) >= s->replay_count) {
        /* The recording ends here: whatever comes now will be reported as the divergence that it is. */
        for (uint32_t id = 0; id < s->threads; id++)
            if (pct_state(s->thread_at(id)) == PCT_STATE_ENABLED)
                return s->thread_at(id);
    }
    const uint64_t *expected = &s->replay[pct_steps(s)];
    uint32_t id = PCT_RECORD_THREAD(*expected);
    if (id >= s->threads)
        diverge(s, pct_steps(s), expected, "no such thread", NULL);
    if (pct_state(s->thread_at(id)) != PCT_STATE_ENABLED)
        diverge(s, pct_steps(s), expected, "that thread is not enabled", NULL);
    return s->thread_at(id);
}

uint32_t pct_replay_choose(struct pct_sched *s, uint32_t waiters)
{
    if (pct_steps(s) >= s->replay_count)
        return 0;
    uint32_t chosen = PCT_RECORD_ARG(s->replay[pct_steps(s)]);
    return chosen < waiters ? chosen : 0;
}

bool pct_replay_expects(const struct pct_sched *s, const struct pct_thread *thread, enum pct_op op)
{
    if (!s->replay || pct_steps(s) >= s->replay_count)
        return false;
    uint64_t record = s->replay[pct_steps(s)];
    return PCT_RECORD_THREAD(record) == thread->id && PCT_RECORD_OP(record) == op;
}

uint32_t pct_replay_arg(const struct pct_sched *s)
{
    return PCT_RECORD_ARG(s->replay[pct_steps(s)]);
}
