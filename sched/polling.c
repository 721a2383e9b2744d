/* Threads that poll: lock a mutex, look, unlock it, and again. No yield tells of it, but it is the starvation of PCT,
 * section 4.1, all the same. The trace shows it: one thread's same few operations over and over. */
#include "internal.h"

enum { PERIODS = 16 };

/* Whether the last `count` records are one thread's same operations in rounds: the sum of a round, the same wherever it
 * begins; otherwise 0. */
static uint64_t rounds(const struct pct_sched *s, unsigned count, unsigned *period)
{
    const uint64_t *b = s->record - count;
    for (unsigned p = 1; p <= PERIODS; p++) {
        unsigned i = p;
        while (i < count && b[i] == b[i - p])
            i++;
        if (i < count)
            continue;
        uint64_t sum = 0;
        for (i = 0; i < p; i++) {
            if (PCT_RECORD_THREAD(b[i]) != PCT_RECORD_THREAD(b[0]))
                return 0;
            sum += b[i];
        }
        *period = p;
        return sum;
    }
    return 0;
}

static bool is_known(const struct pct_sched *s, uint64_t sum)
{
    const unsigned most = sizeof s->polled_by / sizeof *s->polled_by;
    for (unsigned i = 0; i < most; i++)
        if (s->polled_by[i] == sum)
            return true;
    return false;
}

uint64_t pct_polling_next(const struct pct_sched *s)
{
    return s->block_step + ((pct_steps(s) - s->block_step) / PCT_POLLING_STEPS + 1) * PCT_POLLING_STEPS;
}

void pct_polling_notice(struct pct_sched *s)
{
    uint64_t step = pct_steps(s), in_block = step - s->block_step, sum = 0;
    bool full = in_block == PCT_TRACE_BLOCK;
    unsigned period = 1;
    if (!in_block || (!full && (in_block % PCT_POLLING_STEPS || !s->pollings)) || step == s->polling_step)
        return;
    s->polling_step = step;
    unsigned count = PCT_POLLING_STEPS;
    /* Alone, it may poll as long as it likes. It is not alone if it has what the others want each time that this looks.
     */
    if (pct_readiness_now(s) > 1 || s->company + count > step)
        sum = rounds(s, count, &period);
    if (!sum || !is_known(s, sum)) {
        if (!full)
            return;
        count = PCT_TRACE_BLOCK;
        if (sum)
            sum = rounds(s, count, &period);
        s->polling_blocks = sum && sum == s->polling ? s->polling_blocks + 1 : 0;
        s->polling = sum;
        /* Where one thread polls, others do: each of a pool for its own flag. */
        if (!sum || s->polling_blocks < (s->pollings ? 1 : PCT_POLLING_BLOCKS))
            return;
        s->polling_blocks = 0;
        s->polled_by[s->pollings++ % (sizeof s->polled_by / sizeof *s->polled_by)] = sum;
    }
    struct pct_thread *thread = s->thread_at(PCT_RECORD_THREAD(s->record[-1]));
    for (unsigned i = 0; i < count / period; i++)
        pct_sched_in_vain(s, thread);
}
