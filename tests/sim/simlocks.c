/* Read-write locks and barriers of simulated threads: see simhost.h. Called on the simulated thread's own stack. */
#include "simhost.h"

#define S (&sim.sched)

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

static void lock(struct sim_thread *self, const struct sim_op *op, struct pct_object *object)
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
        lock(self, op, object);
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
