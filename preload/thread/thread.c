/* Threads: creation, the start and the end of each, detaching. preload/thread/join.c and preload/thread/cancel.c have
 * the rest.
 *
 * A thread exists for the scheduler from the moment its creator asks for it; when its kernel thread really starts is
 * invisible. It stays under control until its last TLS destructor has run: a key of ours, created before all others,
 * re-arms itself to the last of the rounds that POSIX allows, and runs in that one what libc would run behind it
 * (keys.h). */
#include "thread.h"
#include "affinity.h"
#include "keys.h"
#include "proc_task.h"
#include "slots.h"
#include <preload/core/host_threads.h>
#include <preload/core/kernel.h>
#include <preload/core/loader.h>
#include <preload/core/pass.h>
#include <preload/core/real.h>
#include <preload/core/shim.h>
#include <preload/core/sys.h>
#include <preload/memory/channel.h>
#include <preload/memory/learned_sites.h>
#include <preload/memory/memory.h>
#include <preload/memory/scope.h>
#include <preload/memory/watch.h>
#include <preload/patch/patch.h>
#include <preload/run/engine.h>
#include <preload/signals/signals.h>
#include <preload/signals/trap.h>
#include <preload/watchdog/watchdog.h>
#include <sched/log.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>

PCT_OF_START static pthread_key_t end_key;
uint32_t pct_thread_coming;

/* Once all ids have been given out: that of a thread that has ended, and that nobody can name any more. In turn, so
 * that it was not the last one that ended, of which others may still speak. */
static struct pct_shim_thread *used_slot(void)
{
    static PCT_OF_RUN uint32_t last;
    for (uint32_t i = 1; i < PCT_MAX_THREADS; i++) {
        last = last % (PCT_MAX_THREADS - 1) + 1; /* never the first thread's */
        struct pct_shim_thread *slot = &pct_shim.slots[last];
        if (pct_thread_is_gone(slot) && !slot->unscheduled && !__atomic_load_n(&slot->exiting, __ATOMIC_SEQ_CST)) {
            memset(slot, 0, sizeof *slot);
            slot->core.id = last;
            return slot;
        }
    }
    pct_say("out of thread ids: more than 32,767 threads at once");
    return NULL;
}

/* For a thread that is about to be made. NULL: there are too many, or there is no memory. */
static struct pct_shim_thread *new_slot(void)
{
    if (pct_sched_threads(&pct_S) >= PCT_MAX_THREADS)
        return used_slot();
    if (!pct_slots_reach(pct_sched_threads(&pct_S)))
        return NULL;
    struct pct_shim_thread *slot = &pct_shim.slots[pct_sched_threads(&pct_S)];
    slot->core.id = pct_sched_threads(&pct_S);
    return slot;
}

struct pct_shim_thread *pct_thread_find(pthread_t handle)
{
    struct pct_object *object = pct_object_known(&pct_S.objects, (void *)handle, PCT_CLASS_THREAD);
    struct pct_shim_thread *thread = object ? &pct_shim.slots[object->model[0]] : NULL;
    /* libc gives the memory of one that has ended to the next, which may be none of ours. */
    if (thread && pct_thread_is_gone(thread) && pct_shim.libc_tid) {
        int tid = *(const volatile int *)((const char *)handle + pct_shim.libc_tid);
        if (tid > 0 && tid != thread->tid)
            return NULL;
    }
    return thread;
}

void pct_thread_adopt(struct pct_shim_thread *slot)
{
    pct_self = slot;
    slot->tid = pct_tid(); /* written before anything is read: of a new page, that is one page fault and not two */
    pct_memory_adopt(slot->core.id);
    slot->owner = (uint32_t)slot->tid | UINT64_C(1) << 32;
    slot->locks = PCT_RECORD(slot - pct_shim.slots, PCT_OP_MUTEX_LOCK, 0, 0);
    slot->unlocks = PCT_RECORD(slot - pct_shim.slots, PCT_OP_MUTEX_UNLOCK, 0, 0);
    slot->handle = pthread_self();
    pthread_setspecific(end_key, slot);
}

void pct_thread_note_priority(const struct pct_shim_thread *thread)
{
    if (!pct_shim.confined && thread->tid && !pct_host_contexts && pct_task_asked_is_real_time(thread->tid))
        pct_uncontrolled(PCT_UNCONTROLLED_PRIORITY);
}

/* Threads have ended by the kernel's call alone. GLIBC: it still counts them, so its last one ends by that call, too,
 * and with it the process, in which no handler of exit is called. */
static PCT_OF_RUN bool left;

/* The thread ends for the schedule. status: what it gives the kernel. */
static void end(struct pct_shim_thread *self, int status)
{
    pct_log_end(&pct_S, &self->core);
    pct_here(self, PCT_OP_THREAD_FINISH);
    if (PCT_UNLIKELY(left) && pct_sched_alone(&pct_S))
        _exit(status); /* the watchdog's thread would stay */
    pct_thread_note_priority(self);
    uint64_t mask = pct_signal_retire(self);
    bool last = pct_sched_alone(&pct_S);
    pct_engine_finishing(self);
    pct_record(&pct_S, &self->core, PCT_OP_THREAD_FINISH, 0, self->core.id);
    pct_sched_finish(&pct_S, &self->core);
    /* libc ends the process in the last thread, and with it runs what atexit() was given. */
    if (last)
        pct_signal_mask(SIG_SETMASK, mask);
}

/* What a raw clone has made may have the variables of the thread that made it. */
static bool is_itself(const struct pct_shim_thread *self)
{
    const long tid = PCT_SYS0(SYS_gettid);
    return tid == self->tid || pct_refused(tid);
}

void pct_thread_leave(int status)
{
    if (pct_is_unscheduled() || (pct_self && !is_itself(pct_self)))
        return;
    struct pct_shim_thread *self = pct_enter();
    if (!self)
        return;
    left = true;
    end(self, status);
}

void pct_thread_has_left(void)
{
    left = true;
}

/* The end of the thread, in the last round of its TLS destructors. */
static void finish(void *argument)
{
    struct pct_shim_thread *self = argument;
    if (self != pct_self || !pct_sched_is_on(&pct_S))
        return;
    pct_explored_hidden(PCT_KEY_KEYS, true);
    if (++self->destructor_rounds < PTHREAD_DESTRUCTOR_ITERATIONS) {
        pthread_setspecific(end_key, self);
        return;
    }
    pct_keys_end();
    if (pct_enter() != self) {
        pct_passed(PCT_OP_THREAD_FINISH, PCT_CLASS_THREAD, self);
        return;
    }
    end(self, 0);
}

/* GLIBC: the first 32 keys have their place in the thread, so that setting one allocates nothing. Ours is the last of
 * them: the program's keys have the numbers that they would have, and their destructors run before ours in each round.
 */
void pct_thread_start(void)
{
    pthread_key_t before[31];
    for (unsigned i = 0; i < sizeof before / sizeof *before; i++)
        pthread_key_create(&before[i], NULL);
    pthread_key_create(&end_key, finish);
    for (unsigned i = 0; i < sizeof before / sizeof *before; i++)
        pthread_key_delete(before[i]);
}

/* GLIBC: the thread has its creator's mask, in which all are blocked, unless its attributes name one: they may be the
 * default ones (pthread_setattr_default_np), which nobody but libc knows. The last two are libc's own. */
static void set_mask(const struct pct_shim_thread *self)
{
    const uint64_t never = pct_signal_bit(SIGKILL) | pct_signal_bit(SIGSTOP) | pct_signal_bit(32) | pct_signal_bit(33);
    if ((pct_signal_mask(SIG_BLOCK, 0) | never | ~pct_trap_without(~UINT64_C(0))) == ~UINT64_C(0))
        pct_signal_mask(SIG_SETMASK, self->signal_mask);
}

static void *run(void *argument)
{
    struct pct_shim_thread *self = argument;
    self->stack_top = (uintptr_t)__builtin_frame_address(0);
    if (self->repin)
        pct_thread_pin();
    pct_thread_adopt(self);
    if (pct_shim.mode == PCT_MODE_CONTROLLED) {
        pct_engine_wait(self);
        self->started = true;
        pct_sched_go_on(&pct_S, &self->core);
        pct_record(&pct_S, &self->core, PCT_OP_THREAD_START, 0, self->core.id);
        set_mask(self);
        pct_trap_begin(self);
        pct_after_resume(self);
    } else {
        pct_passed(PCT_OP_THREAD_START, PCT_CLASS_THREAD, self);
    }
    void *value = self->c11 ? (void *)(intptr_t)((int (*)(void *))(void *)self->start)(self->argument)
                            : self->start(self->argument);
    pct_explored_hidden(PCT_KEY_KEYS, true); /* libc looks which of its data have destructors */
    return value;
}

/* The stack that the thread will have: its size, and where it is if the program has made it. */
static void plan_stack(struct pct_shim_thread *slot, const pthread_attr_t *attr)
{
    pthread_attr_t default_attr;
    void *given = NULL;
    size_t size = 0;
    pthread_attr_init(&default_attr);
    if (attr && !pthread_attr_getstack(attr, &given, &size) &&
        (uintptr_t)given + size) /* GLIBC: without one, it ends at 0 */
        slot->stack_given = (uintptr_t)given;
    pthread_attr_getstacksize(attr ? attr : &default_attr, &slot->stack_size);
    pthread_attr_destroy(&default_attr);
}

/* Of an explored run: a place that is this thread's alone, so that what stands on its stack has the same address in all
 * equivalent schedules. libc's own comes from a cache of stacks of threads that have ended. Nothing stands below it, so
 * it needs no guard; but libc would say that it has none (Rust panics at that). Returns the attributes to make it
 * with. */
static const pthread_attr_t *place_stack(struct pct_shim_thread *slot, const pthread_attr_t *attr, pthread_attr_t *own)
{
    enum { STRIDE_LOG = 28, PAGE = 4096 };
    const uintptr_t place = UINT64_C(0x280000000000) + ((uintptr_t)slot->core.id << STRIDE_LOG);
    if (!pct_sched_log(&pct_S) || slot->stack_given || !slot->stack_size || slot->stack_size >> (STRIDE_LOG - 1))
        return attr;
    long at = PCT_SYS6(SYS_mmap, place, slot->stack_size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK | MAP_FIXED_NOREPLACE, -1, 0);
    if (at != (long)place) {
        pct_log_doubt(&pct_S, PCT_DOUBT_ROOM);
        return attr;
    }
    if (attr)
        *own = *attr;
    else
        pthread_attr_init(own);
    size_t guard = 0;
    pthread_attr_getguardsize(own, &guard);
    guard = guard / PAGE + (guard % PAGE != 0);
    slot->guard_pages = guard > UINT16_MAX ? UINT16_MAX : (uint16_t)guard;
    pthread_attr_setstack(own, (void *)place, slot->stack_size);
    slot->stack_given = place;
    return own;
}

static void prepare(struct pct_shim_thread *slot, const pthread_attr_t *attr, void *(*start)(void *), void *argument)
{
    int detach = PTHREAD_CREATE_JOINABLE;
    if (attr)
        pthread_attr_getdetachstate(attr, &detach);
    plan_stack(slot, attr);
    slot->detached = detach == PTHREAD_CREATE_DETACHED;
    slot->repin = attr != NULL;
    pct_affinity_inherit(slot, attr);
    sigset_t mask;
    if (attr && !pthread_attr_getsigmask_np(attr, &mask))
        slot->signal_mask = pct_signal_bits(&mask);
    else /* without what only pct blocks, until this call is over */
        slot->signal_mask = pct_signal_mask(SIG_BLOCK, 0) & ~__atomic_load_n(&pct_self->held, __ATOMIC_SEQ_CST);
    slot->start = start;
    slot->core.site.call = (uintptr_t)start;
    slot->argument = argument;
}

/* Whatever start returns. */
static int create_unseen(pthread_t *handle, const pthread_attr_t *attr, void *(*start)(void *), void *argument,
                         bool c11)
{
    if (c11)
        return REAL(thrd_create)(handle, (thrd_start_t)(void *)start, argument) ? EAGAIN : 0;
    return REAL(pthread_create)(handle, attr, start, argument);
}

/* Strategy none: the thread gets an id, and runs when it runs. Without one it is not recorded. */
static int create_free(pthread_t *handle, const pthread_attr_t *attr, void *(*start)(void *), void *argument, bool c11)
{
    uint32_t id = pct_sched_free_id(&pct_S);
    if (id == PCT_NO_THREAD) {
        pct_uncontrolled(PCT_UNCONTROLLED_FOREIGN);
        return create_unseen(handle, attr, start, argument, c11);
    }
    struct pct_shim_thread *slot = &pct_shim.slots[id];
    slot->core.id = id;
    prepare(slot, attr, start, argument);
    slot->c11 = c11;
    /* Recorded before: afterwards the thread may have made its first steps. */
    pct_passed(PCT_OP_THREAD_CREATE, PCT_CLASS_THREAD, slot);
    int error = REAL(pthread_create)(handle, attr, run, slot);
    if (error == EAGAIN && pct_slots_in_the_way(attr))
        pct_fail_for_memory();
    return error;
}

int pct_thread_create(pthread_t *handle, const pthread_attr_t *attr, void *(*start)(void *), void *argument, bool c11)
{
    PCT_ENTER(self);
    if (pct_sched_threads(&pct_S) == 1) {
        pct_real_resolve_all();
        pct_keys_find();
        pct_loader_find();
        pct_affinity_pin();
        pct_watchdog_plan();
    }
    if (!self && pct_shim.mode == PCT_MODE_FREE && pct_self && pct_sched_is_on(&pct_S))
        return create_free(handle, attr, start, argument, c11);
    if (!self)
        return PASS(PCT_OP_THREAD_CREATE, PCT_CLASS_THREAD, NULL, create_unseen(handle, attr, start, argument, c11));
    pct_here(self, PCT_OP_THREAD_CREATE);
    pct_scope_look();
    pct_patch_modules();
    pct_watch_look();
    pct_ordered_start();
    struct pct_shim_thread *slot = new_slot();
    int error = EAGAIN;
    if (slot) {
        prepare(slot, attr, start, argument);
        pct_engine_expect(pct_sched_live(&pct_S));
        slot->c11 = c11;
        slot->trap_hidden = self->trap_hidden;
        /* It begins with all of them blocked, so that none comes before its turn. */
        uint64_t mask = pct_signal_mask(SIG_SETMASK, pct_trap_without(PCT_SIGNALS_ALL));
        /* The target's allocator may pass points in there. */
        pct_sched_reserve(&pct_S, &slot->core);
        pct_sched_begins_with(&pct_S, &slot->core, (const void *)(uintptr_t)start);
        pct_thread_coming++;
        pthread_attr_t own;
        const pthread_attr_t *used = place_stack(slot, attr, &own);
        pct_host_context_expect(&slot->context);
        error = CALL_MAY_BLOCK(self, REAL(pthread_create)(handle, used, run, slot));
        pct_host_context_expect(NULL);
        pct_thread_coming--;
        pct_signal_mask(SIG_SETMASK, mask);
        if (error) {
            pct_sched_withdraw(&pct_S, &slot->core);
            slot->joined = true; /* there is nothing to join */
            if (error == EAGAIN && pct_slots_in_the_way(attr))
                pct_fail_for_memory();
        }
    }
    if (error) {
        pct_record(&pct_S, &self->core, PCT_OP_THREAD_CREATE, PCT_ARG_ERROR, 0);
        return error;
    }
    pct_memory_second_thread();
    slot->handle = *handle;
    if (pct_shim.libc_tid) /* it may not have come to pct_thread_adopt() yet */
        slot->tid = *(const volatile int *)((const char *)*handle + pct_shim.libc_tid);
    struct pct_object *object = pct_object_init(&pct_S.objects, (void *)*handle, PCT_CLASS_THREAD);
    object->model[0] = slot->core.id;
    pct_record(&pct_S, &self->core, PCT_OP_THREAD_CREATE, 0, slot->core.id);
    pct_sched_start_thread(&pct_S, &slot->core);
    if (slot->core.id == 1)
        pct_watchdog_listen();
    return 0;
}

PCT_EXPORT int pthread_create(pthread_t *handle, const pthread_attr_t *attr, void *(*start)(void *), void *argument)
{
    return pct_thread_create(handle, attr, start, argument, false);
}

PCT_EXPORT int pthread_detach(pthread_t handle)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_THREAD_DETACH, PCT_CLASS_THREAD, NULL, REAL(pthread_detach)(handle));
    pct_here(self, PCT_OP_THREAD_DETACH);
    struct pct_shim_thread *thread = pct_thread_find(handle);
    int error = CALL_MAY_BLOCK(self, REAL(pthread_detach)(handle));
    if (!error && thread)
        thread->detached = true;
    pct_record(&pct_S, &self->core, PCT_OP_THREAD_DETACH, error ? PCT_ARG_ERROR : 0, thread ? thread->core.id : 0);
    return error;
}

PCT_EXPORT int pthread_setname_np(pthread_t handle, const char *name)
{
    pct_explored_hidden(PCT_KEY_KERNEL, false);
    pct_explored_asks(handle);
    int error = REAL(pthread_setname_np)(handle, name);
    pct_renamed();
    return error;
}

PCT_EXPORT void pthread_exit(void *value)
{
    PCT_ENTER(self);
    if (self) {
        pct_here(self, PCT_OP_THREAD_EXIT);
        pct_record(&pct_S, &self->core, PCT_OP_THREAD_EXIT, 0, self->core.id);
    } else {
        pct_passed(PCT_OP_THREAD_EXIT, PCT_CLASS_THREAD, pct_self);
    }
    pct_explored_hidden(PCT_KEY_KEYS, true);
    REAL(pthread_exit)(value);
    __builtin_unreachable();
}
