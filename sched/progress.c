/* Threads that make no progress: see progress.h. All on the turn of the thread that holds the baton. */
#include "internal.h"
#include "record.h"
#include <pct/operations.h>
#include <string.h>

/* --- Spins -------------------------------------------------------------------------------------------------------- */

/* Whether the last spin was the last step, but for a few looks at memory and deadlines that came early. A sleep is two
 * steps: its beginning and its end. */
static bool after_spin(const struct pct_sched *s)
{
    uint64_t steps = pct_steps(s) - s->progress.spun_at, deadlines = 0;
    bool looks = true;
    if (steps <= 2)
        return true;
    if (steps > PCT_SPIN_LOOKS)
        return false;
    for (uint64_t i = 1; i <= steps; i++) {
        uint32_t op = PCT_RECORD_OP(pct_record_before(s, i));
        deadlines += op == PCT_OP_DEADLINE;
        looks &= op == PCT_OP_YIELD || op == PCT_OP_LOAD || op == PCT_OP_ATOMIC_LOAD || op == PCT_OP_DEADLINE;
    }
    return looks || steps - deadlines <= 2;
}

/* A thread that is not in the schedule is to get the CPU. */
static void wait_a_moment(struct pct_sched *s)
{
    pct_sched_sleep(s, s->host->now() + 1000000);
    pct_set_due(s, PCT_DUE_ATTENTION);
}

/* Nothing that pct knows of may end this spin. */
static void end_or_wait(struct pct_sched *s, const struct pct_thread *thread)
{
    if (s->host->spun && s->host->spun(thread)) {
        s->progress.in_a_row = 0;
        return;
    }
    if (!s->host->shares || !s->host->shares())
        s->host->end(PCT_VERDICT_LIVELOCK, "for a million steps threads have only yielded, slept and retried");
    s->uncontrolled[PCT_UNCONTROLLED_OUTSIDE]++;
    wait_a_moment(s);
}

/* Relatives that sleep, a parent that waits for this process, end no spin: time goes on, once in this many. */
static void jump_beside_relatives(struct pct_sched *s, uint64_t before)
{
    if (before / PCT_LIVELOCK_SPINS != s->progress.in_a_row / PCT_LIVELOCK_SPINS && s->timers_count &&
        pct_outside_still(s) && !pct_outside_strangers(s, false))
        pct_timer_jump(s);
}

/* Threads have spun for so long that every strategy has let the others go first. What is pending may still end it:
 * something from outside, which is as slow as it likes; or a deadline, which the time of this many steps need not
 * reach.
 */
static void spun_for_long(struct pct_sched *s, const struct pct_thread *thread, uint64_t before)
{
    if (!pct_outside_none(s)) {
        jump_beside_relatives(s, before);
        pct_set_due(s, PCT_DUE_ATTENTION);
    } else if (pct_outside_strangers(s, false))
        wait_a_moment(s);
    else if (before < PCT_LIVELOCK_SPINS && s->timers_count)
        pct_timer_jump(s);
    else if (before < 2 * PCT_LIVELOCK_SPINS && s->progress.in_a_row >= 2 * PCT_LIVELOCK_SPINS && s->timers_count)
        pct_timer_jump_far(s); /* the nearest was that of one more who polls */
    else if (before < PCT_LIVELOCK_SPINS || s->progress.in_a_row >= 3 * PCT_LIVELOCK_SPINS ||
             (s->progress.in_a_row >= 2 * PCT_LIVELOCK_SPINS && !s->timers_count))
        end_or_wait(s, thread);
}

void pct_progress_deprioritize(struct pct_sched *s, struct pct_thread *thread, uint32_t spins)
{
    for (uint32_t i = 0; i < spins; i++) {
        thread->spins++;
        s->progress.told++;
        if (s->strategy->spinning)
            s->strategy->spinning(s->strategy_state, thread->id, thread->spins);
    }
    s->budget_end = pct_steps(s);
    pct_stop_soon(s);
}

/* steps: that this spin took; counts: how much it counts towards a livelock. in_a_row: nothing but spins was made since
 * the last one. */
static void spin(struct pct_sched *s, struct pct_thread *thread, uint32_t steps, uint32_t counts, bool in_a_row)
{
    uint64_t before = in_a_row ? s->progress.in_a_row : 0;
    s->progress.in_a_row = before + counts;
    s->progress.spun_at = pct_steps(s);
    if (s->progress.in_a_row >= PCT_LIVELOCK_SPINS)
        spun_for_long(s, thread, before);
    /* One that took long is as good as several. */
    pct_progress_deprioritize(s, thread, (steps + PCT_SPIN_STEPS - 1) / PCT_SPIN_STEPS);
}

void pct_sched_spin(struct pct_sched *s, struct pct_thread *self)
{
    s->current = NULL;
    spin(s, self, 1, 1, after_spin(s));
    s->current = self;
}

void pct_progress_jump(struct pct_sched *s)
{
    if (pct_readiness_now(s) == 1 && s->timers_count && pct_outside_still(s) && !pct_outside_strangers(s, false))
        pct_timer_jump(s);
}

/* A spin of this many steps. in_a_row: since the last one, by whichever thread, nothing was done but to look. */
static void spin_for(struct pct_sched *s, struct pct_thread *self, uint32_t steps, bool in_a_row)
{
    s->current = NULL;
    spin(s, self, steps, steps / PCT_SPIN_LOOKS, in_a_row);
    if (self->spins >= PCT_SPINS_ALONE)
        pct_progress_jump(s);
    s->current = self;
}

/* --- Reading clocks ----------------------------------------------------------------------------------------------- */

bool pct_progress_clock(struct pct_sched *s, struct pct_thread *self)
{
    if (self->clock_step != pct_steps(s)) {
        self->clock_step = pct_steps(s);
        self->clock_reads = 0;
    }
    if (++self->clock_reads <= PCT_CLOCK_READS)
        return false;
    /* The step that follows begins the count anew: programs that work read clocks, too, hundreds of times between two
     * calls of other kinds. */
    pct_sched_spin(s, self);
    return true;
}

void pct_progress_clock_step(struct pct_sched *s, struct pct_thread *self, uint32_t read, uint64_t passed)
{
    const uint64_t most = (UINT64_C(1) << 34) - 1, microseconds = passed / 1000 < most ? passed / 1000 : most;
    if (read)
        pct_sched_make_room(s, self);
    s->base += microseconds * 1000;
    pct_record(s, self, PCT_OP_CLOCK, read << 9 | (uint32_t)(microseconds >> 25), (uint32_t)microseconds & 0x1ffffff);
    if (!microseconds)
        return;
    s->timed = pct_steps(s);
    if (read)
        pct_sched_make_room(s, self);
    pct_stop_soon(s); /* deadlines may have passed */
}

/* --- Looking at memory -------------------------------------------------------------------------------------------- */

/* Whether since the last spin, as far as the record goes back, nothing was done but to look at memory. */
static bool only_looked(const struct pct_sched *s)
{
    uint64_t steps = pct_steps(s) - s->progress.spun_at;
    if (steps >= PCT_TRACE_BLOCK)
        return false;
    for (uint64_t i = 1; i <= steps; i++) {
        uint32_t op = PCT_RECORD_OP(pct_record_before(s, i));
        if (op != PCT_OP_LOAD && op != PCT_OP_ATOMIC_LOAD && op != PCT_OP_ATOMIC_TRY)
            return false;
    }
    return true;
}

/* Whether the thread's step before this one, if it was made not long ago, was at memory too. */
static bool follows_memory(const struct pct_sched *s, const struct pct_thread *self)
{
    for (const uint64_t *r = s->record - 1; r > s->block && s->record - r <= 16; r--)
        if (PCT_RECORD_THREAD(r[-1]) == self->id)
            return pct_operation_accesses(PCT_RECORD_OP(r[-1]));
    return true;
}

void pct_memory_looked(struct pct_sched *s, const struct pct_thread *self, struct pct_memory_recent *recent,
                       uint64_t record)
{
    bool again = recent->record[0] == record || recent->record[1] == record || recent->record[2] == record ||
                 recent->record[3] == record;
    if (!again) {
        recent->record[recent->next++ % 4] = record;
        recent->spun = false;
    }
    recent->repeats = again && follows_memory(s, self) ? recent->repeats + 1 : 0;
}

void pct_progress_look(struct pct_sched *s, struct pct_thread *self, struct pct_memory_recent *recent, uint64_t record)
{
    pct_memory_looked(s, self, recent, record);
    if (recent->repeats < PCT_MEMORY_SPIN)
        return;
    recent->repeats = 0;
    recent->spun = true;
    spin_for(s, self, PCT_MEMORY_SPIN, only_looked(s));
}

/* --- Polling ------------------------------------------------------------------------------------------------------ */

/* Whether the last `count` records are one thread's same operations in rounds: the sum of a round, the same wherever it
 * begins; otherwise 0. */
static uint64_t rounds(const struct pct_sched *s, unsigned count, unsigned *period)
{
    const uint64_t *b = s->record - count;
    for (unsigned p = 1; p <= PCT_POLLING_ROUND; p++) {
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
    const unsigned most = sizeof s->progress.known / sizeof *s->progress.known;
    for (unsigned i = 0; i < most; i++)
        if (s->progress.known[i] == sum)
            return true;
    return false;
}

uint64_t pct_progress_polling_next(const struct pct_sched *s)
{
    return s->block_step + ((pct_steps(s) - s->block_step) / PCT_POLLING_STEPS + 1) * PCT_POLLING_STEPS;
}

void pct_progress_polling(struct pct_sched *s)
{
    uint64_t step = pct_steps(s), in_block = step - s->block_step, sum = 0;
    bool full = in_block == PCT_TRACE_BLOCK;
    unsigned period = 1;
    if (!in_block || (!full && (in_block % PCT_POLLING_STEPS || !s->progress.pollings)) ||
        step == s->progress.looked_at)
        return;
    s->progress.looked_at = step;
    unsigned count = PCT_POLLING_STEPS;
    /* Alone, it may poll as long as it likes. It is not alone if it has what the others want each time that this looks.
     */
    if (pct_readiness_now(s) > 1 || s->progress.company + count > step)
        sum = rounds(s, count, &period);
    if (!sum || !is_known(s, sum)) {
        if (!full)
            return;
        count = PCT_TRACE_BLOCK;
        if (sum)
            sum = rounds(s, count, &period);
        s->progress.blocks = sum && sum == s->progress.polling ? s->progress.blocks + 1 : 0;
        s->progress.polling = sum;
        /* Where one thread polls, others do: each of a pool for its own flag. */
        if (!sum || s->progress.blocks < (s->progress.pollings ? 1 : PCT_POLLING_BLOCKS))
            return;
        s->progress.blocks = 0;
        s->progress.known[s->progress.pollings++ % (sizeof s->progress.known / sizeof *s->progress.known)] = sum;
    }
    struct pct_thread *thread = s->thread_at(PCT_RECORD_THREAD(s->record[-1]));
    /* Looks at memory are counted as they are made. */
    const bool looks = only_looked(s);
    for (unsigned i = 0; i < count / period; i++)
        spin(s, thread, 1, !looks, looks || after_spin(s));
}

/* --- Starvation --------------------------------------------------------------------------------------------------- */

/* Whether the table has this record now, or had room for it; how much time has passed is not in it. */
static bool add_common(struct pct_progress *p, uint64_t record)
{
    const uint32_t op = PCT_RECORD_OP(record);
    if (op == PCT_OP_DEADLINE || op == PCT_OP_CLOCK)
        return true;
    const uint32_t size = sizeof p->common / sizeof *p->common;
    uint32_t i = (uint32_t)(record * UINT64_C(0x9e3779b97f4a7c15) >> 32) % size;
    while (p->common[i] && p->common[i] != record)
        i = (i + 1) % size;
    if (p->common[i])
        return true;
    if (p->common_count == PCT_STARVATION_KINDS)
        return false;
    p->common[i] = record;
    p->common_count++;
    return true;
}

/* One more block is full: have several threads done nothing but the same few operations for as many as it takes? */
static bool poll_together(struct pct_sched *s)
{
    struct pct_progress *p = &s->progress;
    const uint32_t known = p->common_count;
    bool few = true, several = false;
    for (uint32_t i = 0; i < PCT_STARVATION_SAMPLE && few; i++) {
        several |= PCT_RECORD_THREAD(s->block[i]) != PCT_RECORD_THREAD(s->block[0]);
        few = add_common(p, s->block[i]);
    }
    if (few && several && known == p->common_count)
        return ++p->common_blocks % PCT_STARVATION_BLOCKS == 0;
    p->common_blocks = 0;
    if (!few || !several) {
        memset(p->common, 0, sizeof p->common);
        p->common_count = 0;
    }
    return false;
}

void pct_progress_starvation(struct pct_sched *s)
{
    if (!poll_together(s) && pct_steps(s) < s->progress.starvation_at)
        return;
    s->progress.starvation_at = pct_steps(s) + PCT_STARVATION_STEPS;
    struct pct_thread *runs = s->thread_at(PCT_RECORD_THREAD(s->record[-1]));
    bool starves = false;
    if (runs->state == PCT_STATE_FINISHED)
        return;
    for (uint32_t id = 0; id < s->threads && pct_readiness_now(s) > 1; id++) {
        struct pct_thread *t = s->thread_at(id);
        if (t == runs || pct_state(t) != PCT_STATE_ENABLED || t->early)
            continue;
        starves |= t->passed_over;
        t->passed_over = true;
    }
    if (starves)
        pct_progress_deprioritize(s, runs, PCT_STARVATION_SPINS);
}
