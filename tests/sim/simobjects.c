/* Spin locks and the loader of simulated threads; and objects that are initialised and destroyed, while others may use
 * them, too. The scheduler is not told to forget one: others may stand before an operation on it, which here does not
 * look it up again. See simhost.h. Called on the simulated thread's own stack. */
#include "simhost.h"

#define S (&sim.sched)

static void record(const struct sim_thread *self, enum pct_op op, uint32_t arg, const struct pct_object *object)
{
    pct_record(S, &self->core, op, arg, object->number);
}

static void changed(struct pct_object *object)
{
    if (object->waiters)
        pct_sched_changed(S, object);
}

/* --- Spin locks --------------------------------------------------------------------------------------------------- */

static bool is_free(const struct pct_thread *thread)
{
    return !*(const uint8_t *)thread->wait.ready_arg;
}

static void spin_lock(struct sim_thread *self, uint8_t s, enum pct_op op)
{
    const struct pct_wait wait = { .op = op,
                                   .object = pct_object_at(&S->objects, &sim.spin[s], PCT_CLASS_SPIN),
                                   .ready = is_free,
                                   .ready_arg = &sim.spin[s],
                                   .alike = true,
                                   .deadline = PCT_NEVER };
    do
        sim_wait(self, &wait, SIM_NEED_SPIN, s);
    while (sim.spin[s]);
}

static void spin(struct sim_thread *self, const struct sim_op *op)
{
    uint8_t *lock = &sim.spin[op->a];
    enum pct_op what = (enum pct_op)op->b;
    if (what == PCT_OP_SPIN_LOCK || what == PCT_OP_STREAM)
        spin_lock(self, op->a, what);
    else
        sim_point(self, what, pct_object_at(&S->objects, lock, PCT_CLASS_SPIN));
    struct pct_object *object = pct_object_at(&S->objects, lock, PCT_CLASS_SPIN);
    bool busy = what == PCT_OP_SPIN_TRYLOCK && *lock;
    if (!busy)
        *lock = what != PCT_OP_SPIN_UNLOCK && what != PCT_OP_STREAM;
    self->reg = !busy;
    record(self, what, busy ? PCT_ARG_BUSY : 0, object);
    if (busy)
        pct_sched_spin(S, &self->core);
    else
        changed(object);
}

/* --- The loader ----------------------------------------------------------------------------------------------------
 */

static bool nobody_loads(const struct pct_thread *thread)
{
    return !sim.loader || sim.loader == thread->id + 1;
}

static void load(struct sim_thread *self)
{
    const struct pct_wait wait = { .op = PCT_OP_LOADER,
                                   .object = pct_object_at(&S->objects, &sim.loader, PCT_CLASS_LOADER),
                                   .ready = nobody_loads,
                                   .often = true,
                                   .deadline = PCT_NEVER };
    do
        sim_wait(self, &wait, SIM_NEED_LOADER, 0);
    while (!nobody_loads(&self->core));
    sim.loader = sim.inside = self->core.id + 1;
    record(self, PCT_OP_LOADER, 0, wait.object);
}

void sim_arrives(const struct pct_thread *thread)
{
    if (sim.inside != thread->id + 1 || sim.loader == sim.inside)
        return;
    sim.inside = 0;
    pct_log_touch(S, PCT_OP_MUTEX_UNLOCK, pct_object_at(&S->objects, &sim.loader, PCT_CLASS_LOADER));
}

/* --- Initialised and destroyed ------------------------------------------------------------------------------------ */

struct thing {
    const void *at;
    enum pct_class class_;
};

static struct thing thing_of(enum pct_op op, uint8_t o)
{
    switch (op) {
    case PCT_OP_MUTEX_INIT:
    case PCT_OP_MUTEX_DESTROY:
        return (struct thing){ &sim.mutex[o], PCT_CLASS_MUTEX };
    case PCT_OP_COND_INIT:
    case PCT_OP_COND_DESTROY:
        return (struct thing){ &sim.cond[o], PCT_CLASS_COND };
    case PCT_OP_RWLOCK_INIT:
    case PCT_OP_RWLOCK_DESTROY:
        return (struct thing){ &sim.rwlock[o], PCT_CLASS_RWLOCK };
    case PCT_OP_BARRIER_INIT:
    case PCT_OP_BARRIER_DESTROY:
        return (struct thing){ &sim.barrier[o], PCT_CLASS_BARRIER };
    case PCT_OP_SPIN_INIT:
    case PCT_OP_SPIN_DESTROY:
        return (struct thing){ &sim.spin[o], PCT_CLASS_SPIN };
    default:
        return (struct thing){ &sim.sem[o], PCT_CLASS_SEM };
    }
}

/* What is destroyed stays as it is, as in glibc. */
static void set(enum pct_op op, uint8_t o, uint32_t value)
{
    switch (op) {
    case PCT_OP_MUTEX_INIT:
        sim.mutex[o] = 0;
        sim.left[o] = SIM_WHOLE;
        break;
    case PCT_OP_RWLOCK_INIT:
        sim.rwlock[o] = 0;
        break;
    case PCT_OP_BARRIER_INIT:
        sim.arrived[o] = 0;
        break;
    case PCT_OP_SPIN_INIT:
        sim.spin[o] = 0;
        break;
    case PCT_OP_SEM_INIT:
        sim.sem[o] = value;
        break;
    default:
        break;
    }
}

bool sim_nobody_waits(const struct pct_object *queue)
{
    for (const struct pct_thread *t = queue->first; t; t = t->next)
        if (!t->wait.ready)
            return false;
    return true;
}

static bool nobody_waits(const struct pct_thread *thread)
{
    return sim_nobody_waits(thread->wait.ready_arg);
}

/* Who destroys a condition variable waits until nobody else does. */
static void leave(struct sim_thread *self, struct pct_object *queue)
{
    const struct pct_wait wait = {
        .op = PCT_OP_COND_DESTROY, .object = queue, .ready = nobody_waits, .ready_arg = queue, .deadline = PCT_NEVER
    };
    while (!sim_nobody_waits(queue)) {
        queue->model[1]++;
        sim_wait(self, &wait, SIM_NEED_NOBODY, 0);
        queue->model[1]--;
    }
}

static void make(struct sim_thread *self, const struct sim_op *op)
{
    enum pct_op what = (enum pct_op)op->b;
    struct thing thing = thing_of(what, op->a);
    bool inits = what == PCT_OP_MUTEX_INIT || what == PCT_OP_COND_INIT || what == PCT_OP_RWLOCK_INIT ||
                 what == PCT_OP_BARRIER_INIT || what == PCT_OP_SPIN_INIT || what == PCT_OP_SEM_INIT;
    if (inits) {
        sim_point(self, what, NULL);
        set(what, op->a, (uint32_t)op->value);
        struct pct_object *object = pct_object_init(&S->objects, thing.at, thing.class_);
        record(self, what, 0, object);
        return;
    }
    struct pct_object *object = pct_object_at(&S->objects, thing.at, thing.class_);
    sim_point(self, what, object);
    if (what == PCT_OP_COND_DESTROY)
        leave(self, object);
    self->reg = what != PCT_OP_MUTEX_DESTROY || !sim.mutex[op->a];
    record(self, what, self->reg ? 0 : PCT_ARG_ERROR, object);
}

void sim_object(struct sim_thread *self, const struct sim_op *op)
{
    switch (op->kind) {
    case SIM_SPINLOCK:
        spin(self, op);
        break;
    case SIM_MAKE:
        make(self, op);
        break;
    case SIM_LOADER:
        load(self);
        break;
    default:
        sim.loader = 0;
    }
}
