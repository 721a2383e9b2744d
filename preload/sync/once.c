/* pthread_once. A done once is a read of a constant and, but in explored runs, to which it matters who came first, no
 * scheduling point. Otherwise the real one runs the routine, and others are disabled until it has returned, thrown or
 * been cancelled. */
#include "once.h"
#include "layouts.h"
#include <preload/core/pass.h>
#include <preload/core/real.h>
#include <preload/core/user_memory.h>
#include <preload/memory/memory.h>
#include <sched/log.h>
#include <sched/races.h>
#include <strategies/strategies.h>

/* GLIBC: a word in progress holds how often the process was forked. Who began one that was in progress then is not in
 * the child, where the next to come begins it anew. So libc is asked once in a run what it writes there now. */
static PCT_OF_RUN int current; /* 0: it was not asked yet */
static pthread_once_t asked;

static void see(void)
{
    current = asked;
}

static void find_current(void)
{
    if (PCT_LIKELY(current))
        return;
    asked = PTHREAD_ONCE_INIT;
    REAL(pthread_once)(&asked, see);
}

static bool in_progress(const void *control)
{
    const int word = *(const volatile int *)control;
    return word & ONCE_IN_PROGRESS && word == current;
}

static bool not_in_progress(const struct pct_thread *thread)
{
    return !in_progress(thread->wait.ready_arg);
}

/* In explored runs: routines in progress, by their control words, and whose. One that has no place here is left
 * unseen. */
enum { NOTED = 8 };
static PCT_OF_RUN struct {
    const void *control;
    uint32_t thread;
} noted[NOTED];

static void note(const struct pct_shim_thread *self, const void *control)
{
    for (unsigned i = 0; i < NOTED; i++)
        if (!noted[i].control) {
            noted[i].control = control;
            noted[i].thread = self->core.id;
            return;
        }
}

void pct_once_arrives(const struct pct_thread *thread)
{
    for (unsigned i = 0; i < NOTED; i++) {
        const void *control = noted[i].control;
        if (PCT_LIKELY(!control) || noted[i].thread != thread->id || !pct_user_readable(control, sizeof(int)) ||
            in_progress(control))
            continue;
        noted[i].control = NULL;
        if (*(const volatile int *)control & ONCE_DONE)
            continue;
        /* It was left by an exception, or cancelled. */
        struct pct_object *object = pct_object_at(&pct_S.objects, control, PCT_CLASS_ONCE);
        pct_log_touch(&pct_S, PCT_OP_MUTEX_UNLOCK, object);
        pct_program_changed(object);
    }
}

/* The routine begins: only now does the control word say so, and those that wait see it. */
static void run_routine(void)
{
    struct pct_shim_thread *self = pct_self;
    void (*routine)(void) = self->once_routine;
    const void *control = (void *)self->once_object->address; /* it may run another once routine */
    pct_program_changed(self->once_object);
    /* Not in a wrapper: this is the target's. */
    const void *inside = self->inside;
    self->inside = NULL;
    routine();
    pct_memory_order(control, PCT_MEMORY_RELEASE);
    self->inside = inside;
}

int pct_once(pthread_once_t *control, void (*routine)(void), int (*real)(pthread_once_t *, void (*)(void)))
{
    if (__atomic_load_n(control, __ATOMIC_ACQUIRE) & ONCE_DONE && !pct_sched_is_explored(&pct_S)) {
        if (PCT_UNLIKELY(pct_sched_races(&pct_S) != NULL))
            pct_memory_order(control, PCT_MEMORY_ACQUIRE);
        return 0;
    }
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_ONCE, PCT_CLASS_ONCE, control, real(control, routine));
    find_current();
    do
        pct_wait_for(self, PCT_OP_ONCE, pct_object_at(&pct_S.objects, control, PCT_CLASS_ONCE), not_in_progress,
                     control, PCT_NEVER);
    while (in_progress(control)); /* a signal came, or its handler began it */
    struct pct_object *object = pct_object_at(&pct_S.objects, control, PCT_CLASS_ONCE);
    bool run = !(*control & ONCE_DONE);
    pct_done(self, PCT_OP_ONCE, run ? PCT_ARG_RUN : 0, object);
    if (!run) {
        pct_memory_order(control, PCT_MEMORY_ACQUIRE);
        return 0;
    }
    /* Whoever began it before has thrown, or was cancelled. */
    if (PCT_UNLIKELY(pct_sched_races(&pct_S) != NULL) && object->holder != PCT_NO_THREAD)
        pct_races_succeed(pct_sched_races(&pct_S), self->core.id, object->holder);
    object->holder = self->core.id;
    /* A routine that throws or is cancelled unwinds past us. A cleanup here would tie the shim to one unwinder, so the
     * scheduler is told to ask the others' predicates on its own now and then, until the routine has returned. */
    pct_sched_unseen(&pct_S, true);
    self->once_routine = routine;
    self->once_object = object;
    if (PCT_UNLIKELY(pct_sched_is_explored(&pct_S)))
        note(self, control);
    int error = real(control, run_routine);
    self = pct_enter();
    /* It is done. Other schedules have always been made as if those that wait were told behind the point. */
    if (self && (pct_sched_log(&pct_S) || pct_sched_strategy_is(&pct_S, &pct_strategy_schedule)))
        pct_program_changed(pct_object_at(&pct_S.objects, control, PCT_CLASS_ONCE));
    pct_sched_unseen(&pct_S, false);
    if (self) {
        object = pct_at(self, PCT_OP_ONCE_DONE, control, PCT_CLASS_ONCE);
        object->holder = PCT_NO_THREAD;
        pct_done(self, PCT_OP_ONCE_DONE, 0, object);
        pct_program_changed(object);
    }
    return error;
}

PCT_EXPORT int pthread_once(pthread_once_t *control, void (*routine)(void))
{
    return pct_once(control, routine, &REAL(pthread_once));
}
