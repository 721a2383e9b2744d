/* Barriers. They cannot be tried, so they are modelled beside the object. model[0]: the round, model[1]: how many have
 * arrived in it.
 * Between processes the real functions are used, outside the scheduler. */
#include "foreign_calls.h"
#include "layouts.h"
#include <preload/core/maps.h>
#include <preload/core/order.h>
#include <preload/core/pass.h>
#include <preload/core/real.h>
#include <preload/memory/calls.h>
#include <preload/signals/doorbell.h>
#include <preload/time/family.h>
#include <sched/log.h>

PCT_EXPORT int pthread_barrier_init(pthread_barrier_t *barrier, const pthread_barrierattr_t *attr, unsigned count)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_BARRIER_INIT, PCT_CLASS_BARRIER, barrier, REAL(pthread_barrier_init)(barrier, attr, count));
    pct_here(self, PCT_OP_BARRIER_INIT);
    pct_memory_of_object(self, barrier, PCT_OBJECT_WHOLE, PCT_CALLER);
    int error = REAL(pthread_barrier_init)(barrier, attr, count);
    struct pct_object *object = pct_object_init(&pct_S.objects, barrier, PCT_CLASS_BARRIER);
    pct_done(self, PCT_OP_BARRIER_INIT, error ? PCT_ARG_ERROR : 0, object);
    return error;
}

bool pct_barrier_arrive(struct pct_object *object)
{
    const struct glibc_barrier *real = (const void *)object->address;
    if (++object->model[1] < real->count)
        return false;
    object->model[1] = 0;
    object->model[0]++;
    while (object->first)
        pct_sched_wake(&pct_S, object->first);
    if (pct_sched_has_foreign(&pct_S))
        pct_foreign_round(real);
    return true;
}

/* Without the baton: whether other processes take part in it, as pct_shared() says with it. */
static bool is_shared(const struct glibc_barrier *real)
{
    struct pct_mapping mapping;
    return real->shared && (!pct_maps_find(real, &mapping, NULL, 0) || mapping.shared);
}

PCT_EXPORT int pthread_barrier_wait(pthread_barrier_t *barrier)
{
    PCT_ENTER(self);
    const struct glibc_barrier *real = (const void *)barrier;
    bool serial;
    if (!self && !is_shared(real) && pct_tell_arrives(barrier, &serial))
        return serial ? PTHREAD_BARRIER_SERIAL_THREAD : 0;
    if (!self)
        return PASS(PCT_OP_BARRIER_ARRIVE, PCT_CLASS_BARRIER, barrier, REAL(pthread_barrier_wait)(barrier));
    if (real->shared && pct_shared(pct_object_at(&pct_S.objects, barrier, PCT_CLASS_BARRIER), true)) {
        bool kin = pct_shared_by_kin(pct_object_at(&pct_S.objects, barrier, PCT_CLASS_BARRIER), true);
        pct_uncontrolled(PCT_UNCONTROLLED_PSHARED);
        pct_family_tell();
        return CALL_SHARED(self, PCT_OP_BARRIER_ARRIVE, PCT_NEVER, kin, REAL(pthread_barrier_wait)(barrier));
    }
    struct pct_object *object = pct_at(self, PCT_OP_BARRIER_ARRIVE, barrier, PCT_CLASS_BARRIER);
    pct_memory_of_object(self, barrier, PCT_OBJECT_USE, PCT_CALLER);
    pct_log_value(&pct_S, object, real->count - object->model[1] - 1);
    pct_done(self, PCT_OP_BARRIER_ARRIVE, 0, object);
    if (pct_barrier_arrive(object)) {
        if (PCT_UNLIKELY(pct_sched_races(&pct_S) != NULL))
            pct_races_round(pct_sched_races(&pct_S), self->core.id, object->number);
        return PTHREAD_BARRIER_SERIAL_THREAD;
    }
    /* Until this thread runs, another one may have destroyed the barrier. While a signal handler keeps this one, the
     * last may arrive: then the object stays until it is back. */
    uint32_t round = object->model[0], number = object->number;
    const struct pct_wait wait = { .op = PCT_OP_BARRIER_LEAVE, .object = object, .deadline = PCT_NEVER, .again = true };
    while (pct_wait(self, &wait) == PCT_INTERRUPTED) {
        object->away--;
        if (object->model[0] != round)
            break;
    }
    pct_record(&pct_S, &self->core, PCT_OP_BARRIER_LEAVE, 0, number);
    return 0;
}

static bool nobody_waits(const struct pct_thread *thread)
{
    const struct pct_object *object = thread->wait.ready_arg;
    return !object->model[1];
}

PCT_EXPORT int pthread_barrier_destroy(pthread_barrier_t *barrier)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_BARRIER_DESTROY, PCT_CLASS_BARRIER, barrier, REAL(pthread_barrier_destroy)(barrier));
    struct pct_object *object = pct_at(self, PCT_OP_BARRIER_DESTROY, barrier, PCT_CLASS_BARRIER);
    pct_memory_of_object(self, barrier, PCT_OBJECT_WHOLE, PCT_CALLER);
    /* GLIBC: destroying one that threads wait at blocks until they have left. */
    while (object->model[1])
        pct_wait_for(self, PCT_OP_BARRIER_DESTROY, object, nobody_waits, object, PCT_NEVER);
    int error = CALL_MAY_BLOCK(self, REAL(pthread_barrier_destroy)(barrier));
    pct_done(self, PCT_OP_BARRIER_DESTROY, error ? PCT_ARG_ERROR : 0, object);
    pct_object_destroy(&pct_S.objects, object);
    return error;
}
