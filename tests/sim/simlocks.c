/* Mutexes, read-write locks and barriers of simulated threads: see simhost.h. Called on the simulated thread's own
 * stack. */
#include "simhost.h"

#define S (&sim.sched)

static struct pct_object *mutex_object(uint8_t m)
{
    return pct_object_at(&S->objects, &sim.mutex[m], PCT_CLASS_MUTEX);
}

static void changed(struct pct_object *object)
{
    if (object->waiters)
        pct_sched_changed(S, object);
}

bool sim_mutex_ready(const struct pct_thread *thread)
{
    sim.result->asked++;
    return !*(const uint32_t *)thread->wait.ready_arg;
}

uint32_t sim_holder(const struct pct_thread *thread)
{
    if (thread->wait.ready != sim_mutex_ready || thread->timer.place)
        return PCT_NO_THREAD;
    return *(const uint32_t *)thread->wait.ready_arg - 1; /* free: PCT_NO_THREAD */
}

static bool is_robust(uint8_t m)
{
    return sim.program->robust >> m & 1;
}

/* From now on the end of a thread may enable others. */
static void meet(uint8_t m)
{
    if (is_robust(m) && !S->unseen)
        pct_sched_unseen(S, true);
}

int64_t sim_mutex_take(const struct sim_thread *self, uint8_t m, struct pct_object *object)
{
    if (sim.left[m] == SIM_LOST)
        return 3;
    sim.mutex[m] = self->core.id + 1;
    object->holder = self->core.id;
    object->robust = is_robust(m);
    return sim.left[m] == SIM_LEFT ? 2 : 1;
}

static void lock(struct sim_thread *self, uint8_t m, uint64_t deadline)
{
    struct pct_object *object = mutex_object(m);
    bool late = false;
    meet(m);
    /* The short cut that preload/sync/mutex.c has. */
    if (sim.options->slow || !pct_on_fast_path(S) || sim.mutex[m] || object->waiters) {
        const struct pct_wait wait = { .op = PCT_OP_MUTEX_LOCK,
                                       .object = object,
                                       .ready = sim_mutex_ready,
                                       .ready_arg = &sim.mutex[m],
                                       .alike = true,
                                       .deadline = deadline };
        for (;;) {
            late = sim_wait(self, &wait, SIM_NEED_MUTEX, m) == PCT_TIMEOUT || sim_is_late(deadline);
            if (!sim.mutex[m] || late)
                break;
            sim.result->unready++;
        }
    } else {
        sim_passed(self);
    }
    self->reg = sim.mutex[m] ? 0 : sim_mutex_take(self, m, object);
    pct_record(S, &self->core, PCT_OP_MUTEX_LOCK,
               !self->reg       ? PCT_ARG_TIMEOUT
               : self->reg == 3 ? PCT_ARG_ERROR
                                : 0,
               object->number);
    if (self->reg && self->reg != 3)
        changed(object);
}

static void trylock(struct sim_thread *self, uint8_t m)
{
    struct pct_object *object = mutex_object(m);
    sim_point(self, PCT_OP_MUTEX_TRYLOCK, object);
    meet(m);
    self->reg = sim.mutex[m] ? 0 : sim_mutex_take(self, m, object);
    pct_record(S, &self->core, PCT_OP_MUTEX_TRYLOCK,
               !self->reg       ? PCT_ARG_BUSY
               : self->reg == 3 ? PCT_ARG_ERROR
                                : 0,
               object->number);
    if (!self->reg)
        pct_sched_spin(S, &self->core);
    else if (self->reg != 3)
        changed(object);
}

bool sim_mutex_lacks(const struct sim_thread *self, uint8_t m)
{
    return is_robust(m) && sim.mutex[m] != self->core.id + 1;
}

void sim_mutex_release(const struct sim_thread *self, uint8_t m, struct pct_object *object)
{
    sim_check(sim.mutex[m] == self->core.id + 1, "the program unlocks a mutex that it does not hold");
    sim.mutex[m] = 0;
    sim.left[m] = sim.left[m] ? SIM_LOST : SIM_WHOLE;
    object->holder = PCT_NO_THREAD;
}

static void consistent(struct sim_thread *self, uint8_t m)
{
    struct pct_object *object = mutex_object(m);
    sim_point(self, PCT_OP_MUTEX_CONSISTENT, object);
    self->reg = sim.left[m] == SIM_LEFT && sim.mutex[m];
    if (self->reg)
        sim.left[m] = SIM_WHOLE;
    pct_record(S, &self->core, PCT_OP_MUTEX_CONSISTENT, self->reg ? 0 : PCT_ARG_ERROR, object->number);
}

void sim_mutex_end(const struct sim_thread *self)
{
    for (uint8_t m = 0; m < SIM_THINGS; m++) {
        if (!is_robust(m) || sim.mutex[m] != self->core.id + 1)
            continue;
        sim.mutex[m] = 0;
        sim.left[m] = SIM_LEFT;
        mutex_object(m)->holder = PCT_NO_THREAD;
    }
}

static void unlock(struct sim_thread *self, uint8_t m)
{
    struct pct_object *object = mutex_object(m);
    sim_point(self, PCT_OP_MUTEX_UNLOCK, object);
    if (sim_mutex_lacks(self, m)) { /* a wait has found it lost */
        pct_record(S, &self->core, PCT_OP_MUTEX_UNLOCK, PCT_ARG_ERROR, object->number);
        return;
    }
    sim_mutex_release(self, m, object);
    pct_record(S, &self->core, PCT_OP_MUTEX_UNLOCK, 0, object->number);
    changed(object);
}

void sim_mutex(struct sim_thread *self, const struct sim_op *op)
{
    switch (op->kind) {
    case SIM_LOCK:
        lock(self, op->a, sim_deadline(op));
        break;
    case SIM_TRYLOCK:
        trylock(self, op->a);
        break;
    case SIM_UNLOCK:
        unlock(self, op->a);
        break;
    default:
        consistent(self, op->a);
    }
}

/* --- Read-write locks, barriers --- */

static bool may_share(const struct pct_thread *thread)
{
    return *(const int32_t *)thread->wait.ready_arg >= 0;
}

static bool may_have(const struct pct_thread *thread)
{
    return !*(const int32_t *)thread->wait.ready_arg;
}

/* failed: PCT_ARG_BUSY or PCT_ARG_TIMEOUT; 0: it did not. */
static void done(struct sim_thread *self, enum pct_op op, uint32_t failed, struct pct_object *object)
{
    bool got = !failed;
    self->reg = got;
    pct_record(S, &self->core, op, failed, object->number);
    if (got && object->waiters)
        pct_sched_changed(S, object);
    else if (!got)
        pct_sched_spin(S, &self->core);
}

static void lock_rw(struct sim_thread *self, const struct sim_op *op, struct pct_object *object)
{
    uint8_t m = op->a;
    bool alone = op->kind == SIM_WRLOCK;
    const struct pct_wait wait = { .op = alone ? PCT_OP_RWLOCK_WRLOCK : PCT_OP_RWLOCK_RDLOCK,
                                   .object = object,
                                   .ready = alone ? may_have : may_share,
                                   .ready_arg = &sim.rwlock[m],
                                   .alike = true,
                                   .deadline = sim_deadline(op) };
    bool late = sim_wait(self, &wait, alone ? SIM_NEED_ALONE : SIM_NEED_SHARE, m) == PCT_TIMEOUT;
    bool free = alone ? !sim.rwlock[m] : sim.rwlock[m] >= 0;
    sim_check(free || late, "a wait for a read-write lock ended too early");
    if (free)
        sim.rwlock[m] += alone ? -1 : 1;
    done(self, wait.op, free ? 0 : PCT_ARG_TIMEOUT, object);
}

void sim_rwlock(struct sim_thread *self, const struct sim_op *op)
{
    uint8_t m = op->a;
    struct pct_object *object = pct_object_at(&S->objects, &sim.rwlock[m], PCT_CLASS_RWLOCK);
    bool got = true;
    switch (op->kind) {
    case SIM_TRYRDLOCK:
        sim_point(self, PCT_OP_RWLOCK_TRYRDLOCK, object);
        got = sim.rwlock[m] >= 0;
        sim.rwlock[m] += got;
        done(self, PCT_OP_RWLOCK_TRYRDLOCK, got ? 0 : PCT_ARG_BUSY, object);
        break;
    case SIM_TRYWRLOCK:
        sim_point(self, PCT_OP_RWLOCK_TRYWRLOCK, object);
        got = !sim.rwlock[m];
        sim.rwlock[m] -= got;
        done(self, PCT_OP_RWLOCK_TRYWRLOCK, got ? 0 : PCT_ARG_BUSY, object);
        break;
    case SIM_RWUNLOCK:
        sim_point(self, PCT_OP_RWLOCK_UNLOCK, object);
        sim_check(sim.rwlock[m] != 0, "the program gives up a read-write lock that nobody holds");
        sim.rwlock[m] += sim.rwlock[m] < 0 ? 1 : -1;
        done(self, PCT_OP_RWLOCK_UNLOCK, 0, object);
        break;
    default:
        lock_rw(self, op, object);
    }
}

void sim_barrier(struct sim_thread *self, uint8_t b)
{
    struct pct_object *object = pct_object_at(&S->objects, &sim.barrier[b], PCT_CLASS_BARRIER);
    sim_point(self, PCT_OP_BARRIER_ARRIVE, object);
    pct_log_value(S, object, sim.program->barrier[b] - sim.arrived[b] - 1);
    pct_record(S, &self->core, PCT_OP_BARRIER_ARRIVE, 0, object->number);
    if (++sim.arrived[b] >= sim.program->barrier[b]) {
        sim.arrived[b] = 0;
        while (object->first) {
            ((struct sim_thread *)object->first)->woken = true;
            pct_sched_wake(S, object->first);
        }
        self->reg = 1;
        return;
    }
    const struct pct_wait wait = { .op = PCT_OP_BARRIER_LEAVE, .object = object, .deadline = PCT_NEVER };
    sim_wait(self, &wait, SIM_NEED_WAKE, 0);
    self->reg = 0;
    pct_record(S, &self->core, PCT_OP_BARRIER_LEAVE, 0, object->number);
}
