/* The loader. It has two locks that the program may be in: one around all that loads and unloads, and runs constructors
 * and destructors of libraries meanwhile, which may do whatever threads do; and one around the list of modules.
 *
 * The first: who would have to wait for it waits in the schedule. The functions that take it look at the address to
 * which they return (whose library's paths count, which library comes next), so a wrapper must not call them: it goes
 * on as the real one, with the stack and the arguments that it was called with. So nobody is told when the lock is
 * given up; while a thread waits for it, it is asked at each step, and in an explored run when who has it comes to its
 * next point. GLIBC: the lock is a private one of the loader's,
 * found by its neighbour; where it is not found, such waits are sleeps that pct does not control, and are counted.
 *
 * The second: who goes through the list of modules holds it, and others wait where pct does not see it: they load,
 * unload, throw. So the thread keeps the baton meanwhile, as natively nobody could take its place at the list.
 *
 * LeakSanitizer stops the world from within such a call, at the end of the program or when it is asked to: it yields
 * until a process of its own has looked at all threads, stopped, as often as the machine happens to take. Those yields
 * let nobody go first, and are no steps. */
#include "loader.h"
#include "kernel.h"
#include "order.h"
#include "pass.h"
#include "real.h"
#include "shim.h"
#include <errno.h>
#include <sched/log.h>

static const char list;             /* its lock, to the race detector */
static const pthread_mutex_t *lock; /* NULL: not found */
static PCT_OF_RUN uint32_t last;    /* the thread, from 1, that took it last under control, or was about to */
static PCT_OF_RUN uint32_t inside;  /* in an explored run: of whom it is not known that it has given it up; or 0 */

/* --- The lock around loading -----------------------------------------------------------------------------------------
 */

/* In a callback of dl_iterate_phdr(), so this thread holds the lock of the list. GLIBC: that stands behind ours in
 * _rtld_global. */
static int look_for_lock(struct dl_phdr_info *unused, size_t size, void *argument)
{
    (void)unused, (void)size;
    const struct link_map *object;
    const Elf64_Sym *symbol = pct_real_symbol("_rtld_global", &object);
    const int32_t *tid = argument;
    for (uint64_t at = sizeof *lock; symbol && at + sizeof *lock <= symbol->st_size; at += sizeof(void *)) {
        const pthread_mutex_t *found = (const pthread_mutex_t *)(object->l_addr + symbol->st_value + at);
        if (found->__data.__owner == *tid && found->__data.__lock && found->__data.__count == 1 &&
            found->__data.__kind == PTHREAD_MUTEX_RECURSIVE_NP &&
            found[-1].__data.__kind == PTHREAD_MUTEX_RECURSIVE_NP &&
            (found[-1].__data.__owner == *tid || !found[-1].__data.__lock))
            lock = found - 1;
    }
    return 1;
}

void pct_loader_find(void)
{
    int32_t tid = pct_any_tid();
    if (!lock)
        REAL(dl_iterate_phdr)(look_for_lock, &tid);
}

bool pct_loader_ready(const struct pct_thread *thread)
{
    const pthread_mutex_t *mutex = thread->wait.ready_arg;
    return !__atomic_load_n(&mutex->__data.__lock, __ATOMIC_RELAXED) ||
           mutex->__data.__owner == pct_shim_of(thread)->tid;
}

void pct_loader_arrives(const struct pct_thread *thread)
{
    if (PCT_LIKELY(inside != thread->id + 1) || lock->__data.__owner == pct_shim_of(thread)->tid)
        return;
    inside = 0;
    pct_log_touch(&pct_S, PCT_OP_MUTEX_UNLOCK, pct_object_at(&pct_S.objects, lock, PCT_CLASS_LOADER));
}

/* What was done under the lock before is done before this. The end of that is not seen: all that the thread has done
 * since counts, an edge too many. */
static void order(const struct pct_shim_thread *self)
{
    if (PCT_UNLIKELY(pct_sched_races(&pct_S) != NULL) && last && last != self->core.id + 1)
        pct_races_succeed(pct_sched_races(&pct_S), self->core.id, last - 1);
    last = self->core.id + 1;
}

/* Before the calling thread takes the lock. always: this is a step even if it is free. */
static __attribute__((noinline)) void take_lock(bool always)
{
    if (always && lock && pct_shim.mode == PCT_MODE_FREE)
        pct_passed(PCT_OP_LOADER, PCT_CLASS_LOADER, lock);
    if (!lock || pct_sched_alone(&pct_S) || !pct_holder())
        return;
    PCT_ENTER(self);
    if (!self || pct_loader_is_held(self))
        return;
    struct pct_wait wait = {
        .op = PCT_OP_LOADER, .ready = pct_loader_ready, .ready_arg = lock, .often = true, .deadline = PCT_NEVER
    };
    int error = errno;
    bool free = lock->__data.__owner == self->tid || !__atomic_load_n(&lock->__data.__lock, __ATOMIC_RELAXED);
    if (always || !free) {
        do {
            wait.object = pct_object_at(&pct_S.objects, lock, PCT_CLASS_LOADER);
            pct_wait(self, &wait);
        } while (!pct_loader_ready(&self->core));
        pct_done(self, PCT_OP_LOADER, 0, wait.object);
        pct_log_hidden(&pct_S, PCT_KEY_KERNEL, false); /* a library's file is open, and mapped */
        inside = self->core.id + 1;
    }
    order(self);
    errno = error;
}

/* A library that is loaded into a list of its own has a libc of its own, too, which nobody has wrapped. */
static void count_apart(Lmid_t list_of)
{
    if (list_of == LM_ID_BASE)
        return;
    pct_enter();
    pct_uncontrolled(PCT_UNCONTROLLED_APART);
}

/* For the stub of this function: its real one, which may be taken now. first: its first argument. */
#define TAKE(name, always, count)                                                                                      \
    __attribute__((used)) static void *take_##name(long first)                                                         \
    {                                                                                                                  \
        (void)first, count;                                                                                            \
        take_lock(always);                                                                                             \
        return (void *)&REAL(name);                                                                                    \
    }                                                                                                                  \
    __asm__(".pushsection .text\n"                                                                                     \
            ".globl " #name "\n"                                                                                       \
            ".type " #name ", @function\n" #name ":\n"                                                                 \
            ".cfi_startproc\n"                                                                                         \
            "endbr64\n"                                                                                                \
            "pushq %rdi\n"                                                                                             \
            "pushq %rsi\n"                                                                                             \
            "pushq %rdx\n"                                                                                             \
            ".cfi_adjust_cfa_offset 24\n"                                                                              \
            "call take_" #name "\n"                                                                                    \
            "popq %rdx\n"                                                                                              \
            "popq %rsi\n"                                                                                              \
            "popq %rdi\n"                                                                                              \
            ".cfi_adjust_cfa_offset -24\n"                                                                             \
            "jmpq *%rax\n"                                                                                             \
            ".cfi_endproc\n"                                                                                           \
            ".size " #name ", . - " #name "\n"                                                                         \
            ".popsection\n");

TAKE(dlopen, true, (void)0)
TAKE(dlmopen, true, count_apart(first))
TAKE(dlclose, true, (void)0)
TAKE(dlsym, false, (void)0)
TAKE(dlvsym, false, (void)0)
TAKE(dladdr, false, (void)0)
TAKE(__cxa_thread_atexit_impl, false, (void)0)

/* --- The list of modules ---------------------------------------------------------------------------------------------
 */

PCT_EXPORT int dl_iterate_phdr(int (*callback)(struct dl_phdr_info *, size_t, void *), void *data)
{
    struct pct_shim_thread *self = pct_holder();
    if (!self || pct_loader_is_held(self))
        return REAL(dl_iterate_phdr)(callback, data);
    const void *frame = __builtin_frame_address(0);
    const struct pct_pin outer = self->pin;
    self->pin = (struct pct_pin){ .frame = self->inside > frame ? self->inside : frame,
                                  .pc = (uint64_t)__builtin_return_address(0),
                                  .sp = (uint64_t)frame + sizeof(void *) };
    struct pct_thread *pinned = pct_sched_pin(&pct_S, &self->core);
    self->loader = frame;
    pct_order_at(self, &list, PCT_ACQUIRES);
    /* With the libraries that others load. Before there are others, constructors look; those of forked runs did so
     * earlier. */
    if (pct_sched_threads(&pct_S) > 1)
        pct_log_hidden(&pct_S, PCT_KEY_KERNEL, true);
    int result = CALL_MAY_BLOCK(self, REAL(dl_iterate_phdr)(callback, data));
    pct_order_at(self, &list, PCT_RELEASES);
    self->loader = NULL;
    self->pin = outer;
    if (pct_sched_is_pinned(&pct_S, &self->core))
        pct_sched_unpin(&pct_S, pinned);
    return result;
}
