/* What simulated threads do by words: once controls, futexes, atomics; and what the kernel keeps. See simhost.h. Called
 * on the simulated thread's own stack. */
#include "simhost.h"

#define S (&sim.sched)

static void record(const struct sim_thread *self, enum pct_op op, uint32_t arg, const struct pct_object *object)
{
    pct_record(S, &self->core, op, arg, object ? object->number : 0);
}

static void changed(struct pct_object *object)
{
    if (object->waiters)
        pct_sched_changed(S, object);
}

static bool nobody_runs(const struct pct_thread *thread)
{
    return *(const uint8_t *)thread->wait.ready_arg != 1;
}

static struct pct_object *once_of(const struct sim_op *op)
{
    return pct_object_at(&S->objects, &sim.once[op->a], op->flag ? PCT_CLASS_GUARD : PCT_CLASS_ONCE);
}

static void once(struct sim_thread *self, const struct sim_op *op)
{
    const uint8_t o = op->a;
    const enum pct_op name = op->flag ? PCT_OP_GUARD_ACQUIRE : PCT_OP_ONCE;
    struct pct_object *object = once_of(op);
    const struct pct_wait wait = {
        .op = name, .object = object, .ready = nobody_runs, .ready_arg = &sim.once[o], .deadline = PCT_NEVER
    };
    do
        sim_wait(self, &wait, SIM_NEED_ONCE, o);
    while (sim.once[o] == 1);
    self->reg = !sim.once[o];
    record(self, name, self->reg ? PCT_ARG_RUN : 0, object);
    if (!self->reg)
        return;
    sim.once[o] = 1;
    changed(object);
}

static void once_done(struct sim_thread *self, const struct sim_op *op)
{
    struct pct_object *object = once_of(op);
    sim.once[op->a] = 2;
    changed(object);
    sim_point(self, PCT_OP_ONCE_DONE, object);
    record(self, PCT_OP_ONCE_DONE, 0, object);
}

/* As preload/sync/guard.c: others may go on behind the point. */
static void guard_end(struct sim_thread *self, const struct sim_op *op)
{
    struct pct_object *object = once_of(op);
    sim_point(self, PCT_OP_GUARD_RELEASE, object);
    record(self, PCT_OP_GUARD_RELEASE, 0, object);
    sim.once[op->a] = op->value ? 2 : 0;
    changed(object);
}

static struct pct_object *futex_of(uint8_t v)
{
    return pct_object_at(&S->objects, &sim.var[v], PCT_CLASS_FUTEX);
}

static void futex_wait(struct sim_thread *self, uint8_t v, int64_t value)
{
    struct pct_object *queue = futex_of(v);
    sim_point(self, PCT_OP_FUTEX_WAIT, queue);
    self->reg = sim.var[v] == value;
    record(self, PCT_OP_FUTEX_WAIT, self->reg ? 0 : PCT_ARG_BUSY, queue);
    if (!self->reg)
        return;
    const struct pct_wait wait = { .op = PCT_OP_FUTEX_WAIT, .object = queue, .deadline = PCT_NEVER };
    sim_wait(self, &wait, SIM_NEED_WAKE, 0);
    record(self, PCT_OP_FUTEX_WOKEN, 0, queue);
}

/* From the chosen one on, in a circle, as in preload/sync/futex.c. Returns the index of that; PCT_ARG_NOBODY. */
static uint32_t wake(struct sim_thread *self, struct pct_object *queue, int64_t count)
{
    self->reg = 0;
    if (!queue->waiters)
        return PCT_ARG_NOBODY;
    uint32_t chosen = queue->waiters > count ? pct_sched_choose(S, queue, queue->waiters) : 0;
    struct pct_thread *t = queue->first;
    for (uint32_t i = 0; i < chosen; i++)
        t = t->next;
    while (self->reg < count && queue->first) {
        struct pct_thread *next = t->next ? t->next : queue->first;
        ((struct sim_thread *)t)->woken = true;
        pct_sched_wake(S, t);
        self->reg++;
        t = next;
    }
    return chosen;
}

static void futex_wake(struct sim_thread *self, uint8_t v, int64_t count)
{
    struct pct_object *queue = futex_of(v);
    sim_point(self, PCT_OP_FUTEX_WAKE, queue);
    record(self, PCT_OP_FUTEX_WAKE, wake(self, queue, count), queue);
}

static void requeue(struct sim_thread *self, uint8_t v, int64_t count, uint8_t other)
{
    struct pct_object *queue = futex_of(v), *target = futex_of(other);
    sim_point(self, PCT_OP_FUTEX_WAKE, queue);
    uint32_t chosen = wake(self, queue, count);
    pct_log_touch(S, PCT_OP_FUTEX_WAKE, target);
    while (queue->first && target != queue) {
        pct_sched_move(S, queue->first, target);
        self->reg++;
    }
    record(self, PCT_OP_FUTEX_WAKE, chosen, queue);
}

static void atomic(struct sim_thread *self, const struct sim_op *op)
{
    struct pct_object *object = pct_object_at(&S->objects, &sim.var[op->a], PCT_CLASS_MEMORY);
    enum pct_op what = (enum pct_op)op->b;
    int64_t *var = &sim.var[op->a];
    sim_point(self, what, object);
    record(self, what, 0, object);
    if (what != PCT_OP_ATOMIC_STORE)
        self->reg = *var;
    if (what == PCT_OP_ATOMIC_UPDATE)
        *var += op->value;
    else if (what == PCT_OP_ATOMIC_STORE || (what == PCT_OP_ATOMIC_TRY && !*var))
        *var = op->value;
}

static bool kernel_has(const struct pct_thread *thread)
{
    return *(const int64_t *)thread->wait.ready_arg > 0;
}

static void kernel(struct sim_thread *self, const struct sim_op *op)
{
    enum pct_op what = (enum pct_op)op->b;
    struct pct_object *object = pct_object_at(&S->objects, &sim.kernel, PCT_CLASS_FD);
    if (op->flag) {
        const struct pct_wait wait = { .op = what,
                                       .object = object,
                                       .ready = kernel_has,
                                       .ready_arg = &sim.kernel,
                                       .alike = true,
                                       .deadline = PCT_NEVER };
        do
            sim_wait(self, &wait, SIM_NEED_KERNEL, 0);
        while (sim.kernel <= 0);
    } else {
        sim_point(self, what, object);
    }
    sim.kernel += op->flag ? -1 : op->value;
    self->reg = sim.kernel;
    record(self, what, 0, object);
    changed(object);
}

void sim_word(struct sim_thread *self, const struct sim_op *op)
{
    switch (op->kind) {
    case SIM_ONCE:
        once(self, op);
        break;
    case SIM_ONCE_DONE:
        if (op->flag)
            guard_end(self, op);
        else
            once_done(self, op);
        break;
    case SIM_FUTEX_WAIT:
        futex_wait(self, op->a, op->value);
        break;
    case SIM_FUTEX_WAKE:
        futex_wake(self, op->a, op->value);
        break;
    case SIM_REQUEUE:
        requeue(self, op->a, op->value, op->b);
        break;
    case SIM_ATOMIC:
        atomic(self, op);
        break;
    default:
        kernel(self, op);
    }
}
