/* The operations of simulated threads: each goes through the scheduler as its wrapper in preload/ does, over a thing
 * whose state is one number. See simhost.h; called by simhost.c, on the simulated thread's own stack. */
#include "simhost.h"

#define S (&sim.sched)

static uint32_t id_of(const struct sim_thread *t)
{
    return t->core.id;
}

static struct pct_object *object_of(const void *thing, enum pct_class class_)
{
    return pct_object_at(&S->objects, thing, class_);
}

/* The scheduling point is passed: the thread does what it came for. */
void sim_passed(struct sim_thread *self)
{
    if (sim.options->audit)
        sim_audit();
    self->need = SIM_NEED_NOTHING;
}

/* --- What all operations share ------------------------------------------------------------------------------------ */

static void record(const struct sim_thread *self, enum pct_op op, uint32_t arg, uint32_t number)
{
    pct_record(S, &self->core, op, arg, number);
}

static void changed(struct pct_object *object)
{
    if (object->waiters)
        pct_sched_changed(S, object);
}

/* The point of an operation that cannot block. */
void sim_point(struct sim_thread *self, enum pct_op op, struct pct_object *object)
{
    if (sim.options->slow)
        pct_sched_point(S, &self->core, op, object);
    else
        pct_point(S, &self->core, op, object);
    sim_passed(self);
}

static enum pct_result wait_for(struct sim_thread *self, const struct pct_wait *wait)
{
    enum pct_result result = pct_sched_wait(S, &self->core, wait);
    if (result != PCT_GO_OUTSIDE)
        sim_passed(self);
    return result;
}

static void needs(struct sim_thread *self, enum sim_need need, uint8_t what, uint64_t deadline)
{
    self->need = need;
    self->what = what;
    self->deadline = deadline;
    self->woken = self->then_mutex = false;
}

enum pct_result sim_wait(struct sim_thread *self, const struct pct_wait *wait, enum sim_need need, uint8_t what)
{
    needs(self, need, what, wait->deadline);
    return wait_for(self, wait);
}

uint64_t sim_deadline(const struct sim_op *op)
{
    if (op->value < 0)
        return PCT_NEVER;
    if (op->date)
        return (uint64_t)op->value;
    pct_log_hidden(S, PCT_KEY_TIME, true);
    return pct_sched_now(S) + (uint64_t)op->value;
}

bool sim_is_late(uint64_t deadline)
{
    return deadline != PCT_NEVER && pct_sched_now(S) >= deadline;
}

/* Whoever stands at this place in a queue is woken; who waits to destroy it does not count. */
static void wake(struct pct_object *queue, uint32_t place)
{
    struct pct_thread *waiter = queue->first;
    while (waiter->wait.ready || place--)
        waiter = waiter->next;
    ((struct sim_thread *)waiter)->woken = true;
    pct_sched_wake(S, waiter);
}

/* --- Condition variables, semaphores --------------------------------------------------------------------- */

static void cond_wait(struct sim_thread *self, const struct sim_op *op)
{
    uint8_t c = op->a, m = op->b;
    struct pct_object *queue = object_of(&sim.cond[c], PCT_CLASS_COND);
    struct pct_object *held = object_of(&sim.mutex[m], PCT_CLASS_MUTEX);
    uint64_t deadline = sim_deadline(op);
    sim_point(self, PCT_OP_COND_WAIT, queue);
    bool lost = sim_mutex_lacks(self, m); /* an earlier wait has found it so */
    if (!lost)
        sim_mutex_release(self, m, held);
    pct_log_touch(S, lost ? PCT_OP_MUTEX_CONSISTENT : PCT_OP_MUTEX_UNLOCK, held);
    if (lost) {
        self->reg = 3;
        record(self, PCT_OP_COND_WAIT, PCT_ARG_ERROR, queue->number);
        return;
    }
    record(self, PCT_OP_COND_WAIT, 0, queue->number);
    changed(held);
    const struct pct_wait wait = { .op = PCT_OP_COND_WAIT,
                                   .object = queue,
                                   .deadline = deadline,
                                   .again = true,
                                   .then_object = held,
                                   .then_ready = sim_mutex_ready,
                                   .then_arg = &sim.mutex[m],
                                   .then_alike = true,
                                   .then_op = PCT_OP_COND_WAKE };
    enum pct_result result;
    do {
        needs(self, SIM_NEED_WAKE, 0, deadline);
        self->then_mutex = true;
        self->mutex = m;
        result = wait_for(self, &wait);
        queue->away -= result == PCT_INTERRUPTED;
    } while (result == PCT_INTERRUPTED);
    if (queue->model[1])
        changed(queue);
    self->reg = result != PCT_TIMEOUT;
    const struct pct_wait again = {
        .op = wait.then_op, .object = held, .ready = sim_mutex_ready, .ready_arg = &sim.mutex[m], .deadline = PCT_NEVER
    };
    while (!self->then_mutex && sim.mutex[m]) /* a signal has called it away */
        sim_wait(self, &again, SIM_NEED_MUTEX, m);
    if (sim.mutex[m])
        sim.result->unready++;
    sim_check(!sim.mutex[m], "a wait on a condition variable ended while the mutex was held");
    int64_t taken = sim_mutex_take(self, m, held);
    if (taken == 3)
        pct_log_touch(S, PCT_OP_MUTEX_CONSISTENT, held);
    changed(held);
    record(self, PCT_OP_COND_WAKE, self->reg ? 0 : PCT_ARG_TIMEOUT, queue->number);
    self->reg = taken > 1 ? taken : self->reg;
}

static void signal(struct sim_thread *self, uint8_t c)
{
    struct pct_object *queue = object_of(&sim.cond[c], PCT_CLASS_COND);
    sim_point(self, PCT_OP_COND_SIGNAL, queue);
    uint32_t chosen = PCT_ARG_NOBODY, waiters = queue->waiters - queue->model[1];
    if (waiters) {
        chosen = pct_sched_choose(S, queue, waiters);
        wake(queue, chosen);
    }
    record(self, PCT_OP_COND_SIGNAL, chosen, queue->number);
}

static void broadcast(struct sim_thread *self, uint8_t c)
{
    struct pct_object *queue = object_of(&sim.cond[c], PCT_CLASS_COND);
    sim_point(self, PCT_OP_COND_BROADCAST, queue);
    while (!sim_nobody_waits(queue))
        wake(queue, 0);
    record(self, PCT_OP_COND_BROADCAST, 0, queue->number);
}

static bool sem_ready(const struct pct_thread *thread)
{
    return *(const uint32_t *)thread->wait.ready_arg;
}

static void down(struct sim_thread *self, uint8_t m, uint64_t deadline, uint8_t how, bool shared)
{
    struct pct_object *object = object_of(&sim.sem[m], PCT_CLASS_SEM);
    const struct pct_wait wait = { .op = PCT_OP_SEM_WAIT,
                                   .object = object,
                                   .ready = sem_ready,
                                   .ready_arg = &sim.sem[m],
                                   .alike = true,
                                   .deadline = deadline,
                                   .kernel = how == 1,
                                   .attention = how == 2,
                                   .outside = shared,
                                   .kin = shared && how == 1 && sim.program->relative };
    for (bool first = true;; first = false) {
        enum pct_result result = PCT_READY;
        if (!first || sim.options->slow || !pct_on_fast_path(S) || !sim.sem[m]) {
            needs(self, SIM_NEED_SEM, m, deadline);
            result = wait_for(self, &wait);
        } else {
            sim_passed(self);
        }
        if (result == PCT_GO_OUTSIDE) {
            uint64_t limit = pct_sched_outside_limit(S, &self->core);
            sim_stay_away(self, limit < PCT_NEVER - sim.real_ns ? sim.real_ns + limit : PCT_NEVER, m);
            needs(self, SIM_NEED_NOTHING, 0, PCT_NEVER);
            pct_sched_return(S, &self->core);
            sim.baton = self;
            sim_passed(self);
        }
        bool late = result == PCT_TIMEOUT || sim_is_late(deadline);
        self->reg = sim.sem[m] != 0;
        if (self->reg || late)
            break;
        /* From outside one comes back to look, and in time others may have taken what there was. */
        sim.result->unready += result != PCT_GO_OUTSIDE && !shared;
    }
    sim.sem[m] -= (uint32_t)self->reg;
    pct_log_value(S, object, sim.sem[m]);
    record(self, PCT_OP_SEM_WAIT, self->reg ? 0 : PCT_ARG_TIMEOUT, object->number);
    changed(object);
}

static void trydown(struct sim_thread *self, uint8_t m)
{
    struct pct_object *object = object_of(&sim.sem[m], PCT_CLASS_SEM);
    sim_point(self, PCT_OP_SEM_TRYWAIT, object);
    self->reg = sim.sem[m] != 0;
    sim.sem[m] -= (uint32_t)self->reg;
    pct_log_value(S, object, sim.sem[m]);
    record(self, PCT_OP_SEM_TRYWAIT, self->reg ? 0 : PCT_ARG_BUSY, object->number);
    if (self->reg)
        changed(object);
    else
        pct_sched_spin(S, &self->core);
}

static void up(struct sim_thread *self, uint8_t m, bool kernel)
{
    struct pct_object *object = object_of(&sim.sem[m], PCT_CLASS_SEM);
    sim_point(self, PCT_OP_SEM_POST, object);
    sim.sem[m]++;
    pct_log_value(S, object, sim.sem[m]);
    record(self, PCT_OP_SEM_POST, 0, object->number);
    if (!kernel)
        changed(object);
    else if (S->kernel_waits)
        pct_sched_kernel_changed(S);
}

/* --- Time, threads, variables ------------------------------------------------------------------------------------- */

static void yield(struct sim_thread *self)
{
    pct_sched_spin(S, &self->core);
    sim_point(self, PCT_OP_YIELD, NULL);
    record(self, PCT_OP_YIELD, 0, 0);
}

static void sleep_object(struct sim_thread *self, const struct sim_op *op)
{
    uint64_t deadline = sim_deadline(op);
    if (op->date)
        pct_log_hidden(S, PCT_KEY_TIME, true); /* as sleep_until() of preload/time/sleep.c */
    if (deadline <= pct_sched_now(S)) {
        yield(self);
        return;
    }
    pct_sched_spin(S, &self->core);
    sim_point(self, PCT_OP_SLEEP, NULL);
    record(self, PCT_OP_SLEEP, 0, 0);
    needs(self, SIM_NEED_TIME, 0, deadline);
    const struct pct_wait wait = { .op = PCT_OP_AWAKE, .object = &self->sleep_object, .deadline = deadline };
    wait_for(self, &wait);
    record(self, PCT_OP_AWAKE, 0, 0);
}

static void slept(struct sim_thread *self, int64_t ns)
{
    uint64_t until = sim.real_ns + (uint64_t)ns;
    if (!pct_sched_may_take(S, &self->core, PCT_ARG_SLEEPS)) {
        sim.real_ns = until;
        return;
    }
    pct_sched_revoke(S, &self->core, false);
    pct_sched_pass_on(S, &self->core);
    sim_stay_away(self, until, -1);
    pct_sched_return(S, &self->core);
    sim.baton = self;
    sim_passed(self);
}

/* ns: how long the call sleeps where nobody intercepts it, in ns; 0: not at all. */
static void create(struct sim_thread *self, uint8_t list, int64_t ns)
{
    sim_point(self, PCT_OP_THREAD_CREATE, NULL);
    uint32_t id = S->threads;
    if (id == SIM_THREADS)
        sim_stop(PCT_VERDICT_INTERNAL, "the program creates too many threads");
    sim.thread[id].at = sim.program->thread[list];
    sim.created[list] = id + 1;
    pct_sched_reserve(S, &sim.thread[id].core);
    if (ns)
        slept(self, ns);
    record(self, PCT_OP_THREAD_CREATE, 0, id);
    pct_sched_start_thread(S, &sim.thread[id].core);
}

static bool has_finished(const struct pct_thread *thread)
{
    return ((const struct sim_thread *)thread->wait.ready_arg)->core.state == PCT_STATE_FINISHED;
}

static void detach(struct sim_thread *self, uint8_t list, bool joins)
{
    sim_check(sim.created[list], "the program joins a thread that it did not create");
    struct sim_thread *other = &sim.thread[sim.created[list] - 1];
    enum pct_op op = joins ? PCT_OP_THREAD_TRYJOIN : PCT_OP_THREAD_DETACH;
    sim_point(self, op, NULL);
    self->reg = !other->detached && (!joins || other->core.state == PCT_STATE_FINISHED);
    other->detached |= self->reg != 0;
    record(self, op, self->reg ? 0 : PCT_ARG_BUSY, id_of(other));
    if (joins && !self->reg)
        pct_sched_spin(S, &self->core);
}

static void join(struct sim_thread *self, const struct sim_op *op)
{
    uint8_t list = op->a;
    sim_check(sim.created[list], "the program joins a thread that it did not create");
    struct sim_thread *other = &sim.thread[sim.created[list] - 1];
    uint64_t deadline = op->value ? sim_deadline(op) : PCT_NEVER;
    needs(self, SIM_NEED_END, (uint8_t)id_of(other), deadline);
    const struct pct_wait wait = { .op = PCT_OP_THREAD_JOIN,
                                   .object = &other->core.self,
                                   .ready = has_finished,
                                   .ready_arg = other,
                                   .deadline = deadline };
    bool late = wait_for(self, &wait) == PCT_TIMEOUT && other->core.state != PCT_STATE_FINISHED;
    sim.result->unready += !late && other->core.state != PCT_STATE_FINISHED;
    self->reg = op->value ? !late : self->reg;
    record(self, PCT_OP_THREAD_JOIN, late ? PCT_ARG_TIMEOUT : 0, id_of(other));
}

/* Reads and writes of shared variables stand for what the papers' programs do between synchronisation operations. */
static void access(struct sim_thread *self, const struct sim_op *op)
{
    enum { ARG_READ = 1, ARG_WRITE = 2 };
    bool reads = op->kind == SIM_READ || op->kind == SIM_CHECK, told = sim.options->channel;
    struct pct_object *object = object_of(&sim.var[op->a], told ? PCT_CLASS_MEMORY : PCT_CLASS_NONE);
    enum pct_op what = !told ? PCT_OP_NONE : reads ? PCT_OP_LOAD : PCT_OP_STORE;
    sim_point(self, what, object);
    if (told && op->kind == SIM_FILL)
        pct_log_touch(S, what, object_of(&sim.var[op->a + 1], PCT_CLASS_MEMORY));
    record(self, what, told ? 0 : reads ? ARG_READ : ARG_WRITE, object->number);
    if (op->kind == SIM_FILL)
        sim.var[op->a + 1] = op->value;
    if (op->kind == SIM_READ) {
        self->reg = sim.var[op->a];
    } else if (!reads) {
        sim.var[op->a] = op->kind == SIM_STORE ? self->reg : op->value;
    } else if ((sim.var[op->a] == op->value) == op->flag) {
        sim.result->culprit = id_of(self);
        sim_stop(PCT_VERDICT_ASSERTION, NULL);
    }
}

static void away(struct sim_thread *self, int64_t ns)
{
    pct_sched_leave(S, &self->core, PCT_OP_OUTSIDE, NULL, PCT_NEVER, false);
    sim_stay_away(self, sim.real_ns + (uint64_t)ns, -1);
    pct_sched_return(S, &self->core);
    sim.baton = self;
    sim_passed(self);
    record(self, PCT_OP_OUTSIDE, 0, 0);
}

/* The simulated thread is its own watchdog. */
static void spin(struct sim_thread *self, const struct sim_op *op)
{
    while (sim.var[op->a] != op->value) {
        sim_check(pct_sched_may_take(S, &self->core, PCT_ARG_SPINS), "nothing can come of a spin");
        sim_pass_time();
        pct_sched_preempt(S, &self->core, op->flag ? PCT_ARG_RUNS : PCT_ARG_SPINS);
        sim_passed(self);
    }
}

static void end(struct sim_thread *self, const struct sim_op *op)
{
    if (op->kind == SIM_END) {
        pct_log_end(S, &self->core);
        sim_point(self, PCT_OP_THREAD_FINISH, &self->core.self);
        record(self, PCT_OP_THREAD_FINISH, 0, id_of(self));
        sim_mutex_end(self);
        pct_sched_finish(S, &self->core);
        sim_finished();
    }
    if (op->kind == SIM_EXIT) {
        pct_sched_exit(S, &self->core);
        sim_passed(self);
        record(self, PCT_OP_EXIT, 0, 0);
        self->reg = sim.exits++;
        if (op->flag)
            return;
    } else {
        pct_sched_end(S, &self->core);
        sim_passed(self);
        record(self, PCT_OP_EXIT_NOW, 0, 0);
    }
    sim_stop(PCT_VERDICT_EXIT, NULL);
}

static void operate(struct sim_thread *self, const struct sim_op *op)
{
    switch ((enum sim_kind)op->kind) {
    case SIM_LOCK:
    case SIM_TRYLOCK:
    case SIM_UNLOCK:
    case SIM_CONSISTENT:
        sim_mutex(self, op);
        break;
    case SIM_WAIT:
        cond_wait(self, op);
        break;
    case SIM_SIGNAL:
        signal(self, op->a);
        break;
    case SIM_BROADCAST:
        broadcast(self, op->a);
        break;
    case SIM_DOWN:
        down(self, op->a, sim_deadline(op), op->b, op->flag);
        break;
    case SIM_TRYDOWN:
        trydown(self, op->a);
        break;
    case SIM_UP:
        up(self, op->a, op->b);
        break;
    case SIM_SLEEP:
        sleep_object(self, op);
        break;
    case SIM_YIELD:
        yield(self);
        break;
    case SIM_CLOCK:
        pct_log_hidden(S, PCT_KEY_TIME, true);
        self->reg = (int64_t)pct_sched_read_clock(S);
        break;
    case SIM_CREATE:
        create(self, op->a, op->value);
        break;
    case SIM_JOIN:
        join(self, op);
        break;
    case SIM_BARRIER:
        sim_barrier(self, op->a);
        break;
    case SIM_RDLOCK:
    case SIM_WRLOCK:
    case SIM_TRYRDLOCK:
    case SIM_TRYWRLOCK:
    case SIM_RWUNLOCK:
        sim_rwlock(self, op);
        break;
    case SIM_READ:
    case SIM_WRITE:
    case SIM_STORE:
    case SIM_FILL:
    case SIM_CHECK:
        access(self, op);
        break;
    case SIM_AWAY:
        away(self, op->value);
        break;
    case SIM_SPIN:
        spin(self, op);
        break;
    case SIM_SLEPT:
        slept(self, op->value);
        break;
    case SIM_ONCE:
    case SIM_ONCE_DONE:
    case SIM_FUTEX_WAIT:
    case SIM_FUTEX_WAKE:
    case SIM_REQUEUE:
    case SIM_ATOMIC:
    case SIM_KERNEL:
        sim_word(self, op);
        break;
    case SIM_SPINLOCK:
    case SIM_MAKE:
    case SIM_LOADER:
    case SIM_LOADED:
        sim_object(self, op);
        break;
    case SIM_DETACH:
    case SIM_TRYJOIN:
        detach(self, op->a, op->kind == SIM_TRYJOIN);
        break;
    case SIM_END:
    case SIM_EXIT:
    case SIM_EXIT_NOW:
        end(self, op);
        break;
    case SIM_SET:
        self->reg = op->value;
        break;
    case SIM_ADD:
        self->reg += op->value;
        break;
    case SIM_UNLESS:
        if (self->reg != op->value)
            self->at += op->a;
        break;
    case SIM_BACK:
        self->at -= op->a + 1;
        break;
    case SIM_REPEAT:
        if (++self->repeated < (uint64_t)op->value)
            self->at -= op->a + 1;
        else
            self->repeated = 0;
        break;
    case SIM_CALL:
        op->call(&sim);
        break;
    }
}

void sim_live(struct sim_thread *self)
{
    if (id_of(self)) {
        S->current = &self->core;
        sim_passed(self);
        record(self, PCT_OP_THREAD_START, 0, id_of(self));
    }
    for (;;) {
        const struct sim_op *op = self->at++;
        if (op->kind < SIM_SET)
            sim_pass_time();
        operate(self, op);
        self->story = ((self->story ^ op->kind ^ (uint64_t)self->reg << 8) + 1) * UINT64_C(0x9e3779b97f4a7c15);
        self->story ^= self->story >> 31;
    }
}
