/* Scheduling points, picking, waiting and waking: see sched.h. All on the turn of the thread that holds the baton.
 *
 * While the scheduler works, s->current is NULL, so that a wrapper called from a signal handler meanwhile knows that it
 * must not touch anything (preload/core/point.h, pct_enter). The thread that gets the baton sets it again when it runs.
 */
#include "internal.h"
#include "log.h"
#include "record.h"
#include <errno.h>

static uint64_t min(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

void pct_sched_set_stop(struct pct_sched *s)
{
    uint64_t step = pct_steps(s), limit = s->block_step + PCT_TRACE_BLOCK;
    if (s->max_steps)
        limit = min(limit, s->max_steps);
    if (s->progress.pollings)
        limit = min(limit, pct_progress_polling_next(s));
    if (s->timers_count)
        limit = min(limit, pct_timer_step(s));
    if (s->exiting && step < s->exit_by)
        limit = min(limit, s->exit_by);
    if (s->break_step)
        limit = min(limit, s->break_step - 1);
    s->calm_stop = s->record + (limit > step ? limit - step : 0);
    limit = min(limit, s->budget_end);
    s->stop = s->record + (limit > step ? limit - step : 0);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (pct_is_due(s, UINT32_MAX))
        pct_stop_soon(s);
}

int pct_sched_start(struct pct_sched *s, const char **why)
{
    *why = "out of memory";
    int error = pct_objects_start(&s->objects, s->host->map);
    if (!error)
        error = pct_timer_start(s);
    if (error)
        return error;
    s->places = s->strategy->abi >= 10 && s->strategy->places && s->host->site && s->host->place;
    s->strategy_state = s->host->map(s->strategy->state_size(&s->run));
    if (!s->strategy_state)
        return -ENOMEM;
    *why = NULL;
    return s->strategy->start(s->strategy_state, &s->run, why);
}

/* Operations that commute with each other on one object. All others are taken to change it. */
static bool reads(enum pct_op op)
{
    return op == PCT_OP_RWLOCK_RDLOCK || op == PCT_OP_RWLOCK_TRYRDLOCK || op == PCT_OP_LOAD || op == PCT_OP_ATOMIC_LOAD;
}

/* The pending operation of this thread is another one. */
void pct_sched_announce(struct pct_sched *s, const struct pct_thread *thread)
{
    const struct pct_object *object = thread->wait.object;
    if (PCT_UNLIKELY(s->explored && s->host->arrives))
        s->host->arrives(thread);
    if (PCT_UNLIKELY(s->log != NULL))
        pct_log_add(s->log, (struct pct_log_entry){ .kind = PCT_LOG_ANNOUNCE,
                                                    .op = (uint8_t)thread->wait.op,
                                                    .thread = (uint16_t)thread->id,
                                                    .value = (uint32_t)thread->site.call,
                                                    .key = pct_log_key(object) });
    if (!s->strategy->announce)
        return;
    struct pct_operation next = { .op = thread->wait.op, .reads = reads(thread->wait.op) };
    if (object)
        next.object = object->class_ == PCT_CLASS_THREAD ? PCT_THREAD_OBJECT | object->number : object->number;
    if (PCT_UNLIKELY(s->places))
        next.place = s->host->place(thread->site.call);
    s->strategy->announce(s->strategy_state, thread->id, &next);
}

void pct_sched_ask_strategy(struct pct_sched *s)
{
    pct_set_due(s, PCT_DUE_ENABLED);
    pct_stop_soon(s);
}

void pct_sched_set_enabled(struct pct_sched *s, struct pct_thread *thread, bool enabled)
{
    if (thread->group && thread->group->enabled != enabled)
        pct_group_split(s, thread);
    if (enabled && pct_state(thread) == PCT_STATE_BLOCKED) {
        thread->state = PCT_STATE_ENABLED;
        pct_log(s, PCT_LOG_ENABLE, thread->id, 0);
        if (++s->enabled > s->max_enabled)
            s->max_enabled = s->enabled;
        if (pct_readiness_now(s) > 1)
            s->progress.company = pct_steps(s);
        if (thread->early && s->strategy->early)
            s->strategy->early(s->strategy_state, thread->id);
        else
            s->strategy->enable(s->strategy_state, thread->id);
        pct_sched_ask_strategy(s);
    } else if (!enabled && pct_state(thread) == PCT_STATE_ENABLED) {
        thread->state = PCT_STATE_BLOCKED;
        pct_log(s, PCT_LOG_DISABLE, thread->id, 0);
        s->strategy->disable(s->strategy_state, thread->id);
        /* Strategies may not count steps that are made alone (PCT, section 4.2). */
        if (--s->enabled == 1)
            pct_sched_ask_strategy(s);
    }
}

void pct_sched_begin(struct pct_sched *s, struct pct_thread *first)
{
    pct_sched_set_stop(s);
    pct_stop_soon(s); /* the strategy is asked before the first step */
    s->current = first;
}

/* Queues */

static void enqueue(struct pct_thread *thread)
{
    struct pct_object *object = thread->wait.object;
    if (!object)
        return;
    thread->next = NULL;
    thread->prev = object->last;
    *(object->last ? &object->last->next : &object->first) = thread;
    object->last = thread;
    object->waiters++;
    thread->queued = true;
}

static void dequeue(struct pct_sched *s, struct pct_thread *thread)
{
    struct pct_object *object = thread->wait.object;
    if (!thread->queued)
        return;
    pct_group_leave(s, thread);
    *(thread->prev ? &thread->prev->next : &object->first) = thread->next;
    *(thread->next ? &thread->next->prev : &object->last) = thread->prev;
    object->waiters--;
    thread->queued = false;
}

/* The wait is one that the kernel or the outside world has to do with. */
static void enter_outside(struct pct_sched *s, struct pct_thread *thread)
{
    const struct pct_wait *wait = &thread->wait;
    *(wait->kernel ? &s->kernel_outside : &s->can_outside) += wait->outside;
    *(wait->kernel ? &s->kernel_kin : &s->can_kin) += wait->outside && wait->kin && !wait->attention;
    s->can_attention += wait->attention;
    if (wait->often && !s->often++)
        pct_set_due(s, PCT_DUE_OFTEN);
    s->can_both += wait->outside && wait->attention;
    if (!thread->wait.kernel)
        return;
    thread->kernel_next = NULL;
    thread->kernel_prev = s->kernel_last;
    *(s->kernel_last ? &s->kernel_last->kernel_next : &s->kernel_waits) = thread;
    s->kernel_last = thread;
}

static void leave_outside(struct pct_sched *s, struct pct_thread *thread)
{
    const struct pct_wait *wait = &thread->wait;
    *(wait->kernel ? &s->kernel_outside : &s->can_outside) -= wait->outside;
    *(wait->kernel ? &s->kernel_kin : &s->can_kin) -= wait->outside && wait->kin && !wait->attention;
    s->can_attention -= wait->attention;
    if (wait->often && !--s->often)
        pct_clear_due(s, PCT_DUE_OFTEN);
    s->can_both -= wait->outside && wait->attention;
    if (thread->wait.kernel) {
        *(thread->kernel_prev ? &thread->kernel_prev->kernel_next : &s->kernel_waits) = thread->kernel_next;
        *(thread->kernel_next ? &thread->kernel_next->kernel_prev : &s->kernel_last) = thread->kernel_prev;
    }
    thread->wait.kernel = thread->wait.outside = thread->wait.attention = thread->wait.often = false;
}

static void leave_wait(struct pct_sched *s, struct pct_thread *thread)
{
    dequeue(s, thread);
    pct_timer_remove(s, &thread->timer);
    pct_slack_end(s, thread);
    leave_outside(s, thread);
}

/* Something other than its predicate has ended the wait of this thread. */
void pct_sched_end_wait(struct pct_sched *s, struct pct_thread *thread, enum pct_result result)
{
    struct pct_wait *wait = &thread->wait;
    const struct pct_object *left = wait->object;
    pct_log(s, PCT_LOG_CAUSED, thread->id, result == PCT_TIMEOUT);
    leave_wait(s, thread);
    thread->result = result;
    wait->cancellable = false;
    if (result == PCT_INTERRUPTED && wait->again) {
        wait->object->away++;
        pct_sched_set_enabled(s, thread, true);
    } else if (wait->then_object && !thread->in_then) {
        thread->in_then = true;
        wait->op = wait->then_op;
        wait->object = wait->then_object;
        wait->ready = wait->then_ready;
        wait->ready_arg = wait->then_arg;
        wait->alike = wait->then_alike;
        enqueue(thread);
        pct_sched_announce(s, thread);
        pct_sched_set_enabled(s, thread, wait->ready(thread));
        pct_group_join(s, thread);
        s->lock_waits = true;
    } else {
        pct_sched_set_enabled(s, thread, true);
    }
    /* One that waits until the others have left the queue (a destroy). */
    if (left && left->waiters == 1 && left->first->wait.ready && left->first != thread)
        pct_sched_ask(s, left->first);
}

void pct_sched_changed(struct pct_sched *s, struct pct_object *object)
{
    if (object->group) {
        pct_group_set_enabled(s, object->group, object->first->wait.ready(object->first));
        return;
    }
    /* The predicate that was asked last, and its answer, which is that of all that are alike. */
    pct_readiness *asked = NULL;
    const void *arg = NULL;
    bool answer = false;
    for (struct pct_thread *t = object->first; t; t = t->next) {
        pct_readiness *ready = t->wait.ready;
        if (!ready)
            continue;
        if (!t->wait.alike || ready != asked || t->wait.ready_arg != arg)
            answer = ready(t);
        asked = t->wait.alike ? ready : NULL;
        arg = t->wait.ready_arg;
        if (t->near)
            pct_sched_answer(s, t, answer);
        else
            pct_sched_set_enabled(s, t, answer);
    }
    if (!s->log && pct_group_worth(object)) /* a log has them one by one */
        pct_group_form(s, object);
}

/* Those of whose waits' ends nobody tells. */
static void ask_often(struct pct_sched *s)
{
    for (uint32_t id = 0; s->often && id < s->threads; id++)
        if (s->thread_at(id)->wait.often)
            pct_sched_ask(s, s->thread_at(id));
}

void pct_sched_ask_kernel_waits(struct pct_sched *s)
{
    for (struct pct_thread *t = s->kernel_waits; t; t = t->kernel_next)
        pct_sched_ask(s, t);
}

void pct_sched_widen(struct pct_sched *s, struct pct_thread *thread, bool world)
{
    struct pct_wait *wait = &thread->wait;
    const bool kin = !world && (wait->kin || !wait->outside);
    s->kernel_outside += !wait->outside;
    s->kernel_kin -= wait->outside && wait->kin;
    s->kernel_kin += kin;
    s->can_attention -= wait->attention; /* it is no deadlock any more, whatever signals come */
    wait->attention = false;
    wait->outside = true;
    wait->kin = kin;
}

void pct_sched_wake(struct pct_sched *s, struct pct_thread *thread)
{
    pct_sched_end_wait(s, thread, PCT_READY);
}

void pct_sched_move(struct pct_sched *s, struct pct_thread *thread, struct pct_object *object)
{
    dequeue(s, thread);
    pct_log(s, PCT_LOG_CAUSED, thread->id, 0);
    thread->wait.object = object;
    enqueue(thread);
    pct_group_join(s, thread);
    pct_sched_announce(s, thread);
}

void pct_sched_cancel(struct pct_sched *s, struct pct_thread *thread)
{
    if (thread->queued && thread->wait.cancellable)
        pct_sched_end_wait(s, thread, PCT_CANCELLED);
}

/* What could complete is not interrupted: the thread handles the signal, and then tries. */
static bool could_complete(const struct pct_thread *thread)
{
    return thread->wait.ready && thread->wait.ready(thread);
}

void pct_sched_interrupt(struct pct_sched *s, struct pct_thread *thread)
{
    const bool unasked = s->unasked && thread->wait.kernel;
    if (!thread->queued)
        return;
    if (!thread->in_then) {
        pct_sched_end_wait(s, thread, !unasked && could_complete(thread) ? PCT_READY : PCT_INTERRUPTED);
        return;
    }
    /* What ended the first part stands: the thread handles the signal, and waits for the second by itself. */
    pct_log(s, PCT_LOG_CAUSED, thread->id, 0);
    leave_wait(s, thread);
    pct_sched_set_enabled(s, thread, true);
}

/* Picking */

/* Threads without the baton have changed something: who came back, and every predicate once more. */
void pct_sched_attend(struct pct_sched *s)
{
    __atomic_fetch_and(&s->due, ~(uint32_t)PCT_DUE_ATTENTION, __ATOMIC_SEQ_CST);
    pct_outside_drain(s);
    if (s->host->told)
        s->host->told();
    for (uint32_t id = 0; id < s->threads; id++) {
        struct pct_thread *t = s->thread_at(id);
        if (__atomic_load_n(&t->called, __ATOMIC_SEQ_CST))
            pct_sched_interrupt(s, t);
        if (t->queued && t->wait.ready)
            pct_sched_ask(s, t);
    }
}

void pct_sched_turn(struct pct_sched *s)
{
    pct_replay_check(s);
    pct_progress_polling(s);
    if (s->record < s->block + PCT_TRACE_BLOCK)
        return;
    if (s->record > s->block + PCT_TRACE_BLOCK)
        s->host->end(PCT_VERDICT_INTERNAL, "more steps were made than a block of the trace has");
    pct_progress_starvation(s);
    pct_record_turn(s);
    /* The next record is somewhere else: whatever was to be done by then is asked again. */
    pct_stop_soon(s);
    /* Something may have come from outside: a signal, data on a socket. */
    if (s->can_outside || s->kernel_outside || s->unseen)
        pct_set_due(s, PCT_DUE_ATTENTION);
}

void pct_sched_make_room(struct pct_sched *s, struct pct_thread *self)
{
    s->current = NULL;
    pct_sched_process_due(s);
    s->current = self;
}

void pct_sched_process_due(struct pct_sched *s)
{
    if (s->sites)
        pct_sites_keep(s);
    pct_sched_turn(s);
    if (pct_is_due(s, PCT_DUE_ATTENTION))
        pct_sched_attend(s);
    if (s->often)
        ask_often(s);
    if (pct_is_due(s, PCT_DUE_KERNEL)) {
        pct_clear_due(s, PCT_DUE_KERNEL);
        pct_sched_kernel_changed(s);
    }
    if (s->timers_count)
        pct_timer_expire(s);
    if (s->max_steps && pct_steps(s) >= s->max_steps)
        s->host->end(PCT_VERDICT_LIVELOCK, "the step bound was reached");
}

/* Ask the strategy. */
static struct pct_thread *pick(struct pct_sched *s, const struct pct_thread *self)
{
    struct pct_point point = { .step = pct_steps(s),
                               .ran = pct_steps(s) - s->picked_at,
                               .current = self ? self->id : PCT_NO_THREAD,
                               .enabled = s->enabled };
    if (!pct_steps(s) || !self)
        point.why = PCT_WHY_START;
    else if (self->state == PCT_STATE_FINISHED)
        point.why = PCT_WHY_FINISHED;
    else if (pct_state(self) != PCT_STATE_ENABLED || self->early)
        point.why = PCT_WHY_BLOCKED;
    else
        point.why = pct_is_due(s, PCT_DUE_ENABLED) && pct_steps(s) < s->budget_end ? PCT_WHY_ENABLED : PCT_WHY_BUDGET;

    if (PCT_UNLIKELY(s->log && s->host->point))
        s->host->point();
    struct pct_choice choice = s->strategy->pick(s->strategy_state, &point);
    struct pct_thread *next = choice.thread < s->threads ? s->thread_at(choice.thread) : NULL;
    if (!next || pct_state(next) != PCT_STATE_ENABLED)
        s->host->end(PCT_VERDICT_INTERNAL, "the strategy chose a thread that is not enabled");
    if (!choice.budget)
        choice.budget = 1;
    s->budget_end = choice.budget < PCT_UNLIMITED - pct_steps(s) ? pct_steps(s) + choice.budget : PCT_UNLIMITED;
    return next;
}

struct pct_thread *pct_sched_next(struct pct_sched *s, struct pct_thread *self)
{
    struct pct_thread *next, *last = self;
    pct_sched_unpin(s, NULL);
    if (PCT_UNLIKELY(s->unasked)) {
        s->unasked = false;
        pct_sched_attend(s);
        pct_timer_expire(s);
    }
    if (!pct_readiness_now(s) && (s->unseen || s->often))
        pct_sched_attend(s);
    for (;; last = next) {
        if (!pct_idle_end(s, self, &next))
            return next;
        if (s->exiting && pct_steps(s) >= s->exit_by && pct_state(s->exiting) == PCT_STATE_ENABLED) {
            next = s->exiting;
            s->uncontrolled[PCT_UNCONTROLLED_HELD] += pct_readiness_now(s) > 1;
            s->budget_end = PCT_UNLIMITED;
        } else {
            next = pick(s, last);
        }
        if (!next->early)
            break;
        s->picked_at = pct_steps(s);
        pct_log(s, PCT_LOG_PICK, next->id, (uint32_t)pct_steps(s));
        pct_slack_pass(s, next);
    }
    next->passed_over = false;
    pct_log(s, PCT_LOG_PICK, next->id, (uint32_t)pct_steps(s));
    s->picked_at = pct_steps(s);
    s->kept_back = false;
    s->reluctant = 0;
    s->patience = 5;
    pct_clear_due(s, PCT_DUE_ENABLED);
    pct_sched_set_stop(s);
    return next;
}

void pct_sched_pass(struct pct_sched *s, struct pct_thread *self, struct pct_thread *next)
{
    if (next == self)
        return;
    if (next) {
        s->switches++;
        s->preemptions += pct_state(self) == PCT_STATE_ENABLED && !self->early;
        s->host->go(self, next);
    } else if (self->state != PCT_STATE_OUTSIDE && self->state != PCT_STATE_FINISHED) {
        s->host->park(self);
    }
}

bool pct_sched_switch_is_due(struct pct_sched *s, const struct pct_thread *self)
{
    if (pct_pinned_passes(s, self))
        return false;
    return pct_is_due(s, PCT_DUE_ENABLED) || pct_steps(s) >= s->budget_end ||
           (s->exiting && pct_steps(s) >= s->exit_by);
}

void pct_sched_arrive(struct pct_sched *s, struct pct_thread *self, enum pct_op op, struct pct_object *object)
{
    s->current = NULL;
    pct_sched_process_due(s);
    pct_revoke_replay(s, self);
    if (s->sites || s->log || s->places || s->run.script)
        pct_sites_note(s, self, object);
    self->wait.op = op;
    self->wait.object = object;
    pct_sched_announce(s, self);
}

void pct_sched_go_on(struct pct_sched *s, struct pct_thread *self)
{
    if (PCT_UNLIKELY(s->break_step)) {
        if (pct_steps(s) + 1 >= s->break_step && s->break_other != self->id + 1)
            s->host->pause(self);
        pct_sched_set_stop(s);
    }
    s->current = self;
}

void pct_sched_depart(struct pct_sched *s, struct pct_thread *self)
{
    if (s->stacks_count)
        pct_sites_stack(s, self);
    pct_sched_go_on(s, self);
}

void pct_sched_point(struct pct_sched *s, struct pct_thread *self, enum pct_op op, struct pct_object *object)
{
    if (pct_calm_passes(s, self, op, object))
        return;
    pct_sched_arrive(s, self, op, object);
    if (pct_sched_switch_is_due(s, self))
        pct_sched_pass(s, self, pct_sched_next(s, self));
    else
        pct_sched_set_stop(s);
    pct_sched_depart(s, self);
}

/* The thread, which has arrived, waits from now on: in its object's queue, by its deadline. ready: it could go on. */
static void begin_wait(struct pct_sched *s, struct pct_thread *self, const struct pct_wait *wait, bool ready)
{
    enqueue(self);
    if (!ready) {
        pct_sched_set_enabled(s, self, false);
        self->spins = 0;
        s->lock_waits |= wait->ready && wait->deadline == PCT_NEVER;
    }
    pct_group_join(s, self);
    self->wait.kernel = wait->kernel;
    self->wait.outside = wait->outside;
    self->wait.attention = wait->attention;
    self->wait.often = wait->often;
    enter_outside(s, self);
    if (wait->deadline != PCT_NEVER) {
        self->timer.deadline = wait->deadline;
        pct_timer_add(s, &self->timer);
        pct_slack_begin(s, self);
        pct_timer_expire(s);
    }
    if (__atomic_load_n(&self->called, __ATOMIC_SEQ_CST))
        pct_sched_interrupt(s, self); /* a signal came on the way here */
}

enum pct_result pct_sched_wait(struct pct_sched *s, struct pct_thread *self, const struct pct_wait *wait)
{
    if (pct_calm_waits(s, self, wait))
        return PCT_READY;
    s->joins = !wait->ready;
    pct_sched_arrive(s, self, wait->op, wait->object);
    s->joins = false;
    pct_wait_prepare(self, wait);
    bool ready = wait->ready && wait->ready(self);
    if (ready && pct_outside_was_slow(s, self, wait))
        pct_outside_awaited(s, self);
    if (ready && !pct_sched_switch_is_due(s, self)) {
        pct_sched_set_stop(s);
        pct_sched_depart(s, self);
        return PCT_READY;
    }
    begin_wait(s, self, wait, ready);
    do
        pct_sched_pass(s, self, pct_sched_next(s, self));
    while (pct_state(self) == PCT_STATE_BLOCKED || self->early); /* it got the baton to keep it */
    if (self->result == PCT_GO_OUTSIDE)
        return PCT_GO_OUTSIDE;
    /* The kernel, too, looks once more before it gives up for a signal. */
    if (self->result == PCT_INTERRUPTED && could_complete(self))
        self->result = PCT_READY;
    leave_wait(s, self);
    pct_sched_depart(s, self);
    return self->result;
}

void pct_sched_ask_kernel(struct pct_sched *s)
{
    if (!__atomic_load_n(&s->kernel_outside, __ATOMIC_RELAXED))
        return;
    __atomic_fetch_or(&s->due, PCT_DUE_KERNEL, __ATOMIC_SEQ_CST);
    __atomic_store_n(&s->stop, NULL, __ATOMIC_SEQ_CST);
}

void pct_sched_attention(struct pct_sched *s)
{
    __atomic_fetch_or(&s->due, PCT_DUE_ATTENTION, __ATOMIC_SEQ_CST);
    __atomic_store_n(&s->stop, NULL, __ATOMIC_SEQ_CST);
    if (s->host->nudge)
        s->host->nudge(&s->due);
}
