/* The guards of C++ function-local statics. libstdc++ waits for another thread's initialisation by syscall(SYS_futex),
 * which futex.c models; what is added here are the scheduling points. An initialised static never comes here: the
 * compiler tests the first byte of the guard inline. To exploration it matters who came first, so in its runs, and
 * their replays (`statics=all` in tokens), that byte stays 0, and each use of the static is a call; and who would wait
 * is disabled until the static is made, or not made after all. */
#include <preload/core/pass.h>
#include <preload/core/real.h>
#include <preload/memory/memory.h>
#include <sched/log.h>

/* A static is made, but for the inline test. The other seven bytes are the library's, which is not asked any more. */
#define MADE (UINT64_C(0x6564616d746370) << 8)

static bool is_made(const uint64_t *guard)
{
    return __atomic_load_n(guard, __ATOMIC_ACQUIRE) == MADE;
}

static bool nobody_makes(const struct pct_thread *thread)
{
    return thread->wait.object->holder == PCT_NO_THREAD;
}

static int acquire_in_turn(struct pct_shim_thread *self, uint64_t *guard)
{
    struct pct_object *object = pct_object_at(&pct_S.objects, guard, PCT_CLASS_GUARD);
    if (object->holder == self->core.id) { /* the initialiser uses the static: the library knows what comes of that */
        pct_done(self, PCT_OP_GUARD_ACQUIRE, 0, pct_at(self, PCT_OP_GUARD_ACQUIRE, guard, PCT_CLASS_GUARD));
        return REAL(__cxa_guard_acquire)(guard);
    }
    do {
        pct_wait_for(self, PCT_OP_GUARD_ACQUIRE, object, nobody_makes, guard, PCT_NEVER);
        object = pct_object_at(&pct_S.objects, guard, PCT_CLASS_GUARD);
    } while (object->holder != PCT_NO_THREAD); /* a signal came, or its handler makes it */
    const bool made = is_made(guard) || *(const unsigned char *)guard;
    pct_done(self, PCT_OP_GUARD_ACQUIRE, made ? 0 : PCT_ARG_RUN, object);
    if (made)
        return 0;
    object->holder = self->core.id;
    const int mine = REAL(__cxa_guard_acquire)(guard); /* 0: threads that pct does not know have made it */
    if (!mine) {
        object = pct_object_at(&pct_S.objects, guard, PCT_CLASS_GUARD);
        object->holder = PCT_NO_THREAD;
        pct_program_changed(object);
    }
    return mine;
}

PCT_EXPORT int __cxa_guard_acquire(uint64_t *guard)
{
    PCT_ENTER(self);
    const bool in_turn = self && pct_shim.config.statics;
    int mine = 0;
    if (!in_turn)
        pct_log_doubt(&pct_S, PCT_DOUBT_GUARD);
    if (in_turn) {
        mine = acquire_in_turn(self, guard);
    } else {
        if (self)
            pct_done(self, PCT_OP_GUARD_ACQUIRE, 0, pct_at(self, PCT_OP_GUARD_ACQUIRE, guard, PCT_CLASS_GUARD));
        else
            pct_passed(PCT_OP_GUARD_ACQUIRE, PCT_CLASS_GUARD, guard);
        mine = is_made(guard) ? 0 : REAL(__cxa_guard_acquire)(guard);
    }
    pct_memory_order(guard, PCT_MEMORY_ACQUIRE);
    return mine;
}

/* What libstdc++ and libc++abi leave in the guard of a static that is made. Another library may read its own there. */
static bool is_known(uint64_t left)
{
    const uint16_t low = (uint16_t)left;
    return low == 1 || low == 0x101;
}

/* The static is made, or is not. One that is before there is a second thread is so in all schedules, and needs no
 * calls. */
static void release_in_turn(uint64_t *guard, bool made)
{
    PCT_ENTER(self);
    if (!self || !pct_shim.config.statics)
        return;
    struct pct_object *object = pct_object_at(&pct_S.objects, guard, PCT_CLASS_GUARD);
    if (made && pct_sched_threads(&pct_S) > 1) {
        if (is_known(__atomic_load_n(guard, __ATOMIC_RELAXED)))
            __atomic_store_n(guard, MADE, __ATOMIC_RELEASE);
        else
            pct_log_doubt(&pct_S, PCT_DOUBT_GUARD);
    }
    object->holder = PCT_NO_THREAD;
    pct_program_changed(object);
}

static void release(uint64_t *guard)
{
    PCT_ENTER(self);
    if (self)
        pct_done(self, PCT_OP_GUARD_RELEASE, 0, pct_at(self, PCT_OP_GUARD_RELEASE, guard, PCT_CLASS_GUARD));
    else
        pct_passed(PCT_OP_GUARD_RELEASE, PCT_CLASS_GUARD, guard);
    pct_memory_order(guard, PCT_MEMORY_RELEASE); /* to those who test it inline, too */
}

PCT_EXPORT void __cxa_guard_release(uint64_t *guard)
{
    release(guard);
    REAL(__cxa_guard_release)(guard);
    release_in_turn(guard, true);
}

PCT_EXPORT void __cxa_guard_abort(uint64_t *guard)
{
    release(guard);
    REAL(__cxa_guard_abort)(guard);
    release_in_turn(guard, false);
}
