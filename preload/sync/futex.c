/* Futexes by syscall(): std::atomic::wait, std::latch, Rust's std, Qt, GLib, Wine. WAIT, WAKE, their BITSET forms,
 * REQUEUE, WAKE_OP and futex_waitv are modelled: the value is checked on the caller's turn, waiters stand in a queue by
 * address. Locks with priority inheritance: futex_pi.c. What is left, WAIT_REQUEUE_PI and its counterpart, may block on
 * the kernel, so it runs outside the scheduler, and is counted. */
#include "foreign_calls.h"
#include "futex.h"
#include <preload/core/kernel.h>
#include <preload/core/order.h>
#include <preload/core/pass.h>
#include <preload/core/sys.h>
#include <preload/core/user_memory.h>
#include <preload/io/io.h>
#include <preload/memory/memory_quick.h>
#include <preload/signals/doorbell.h>
#include <preload/time/clock.h>
#include <preload/time/family.h>
#include <linux/futex.h>
#include <string.h>

static long fail(int error)
{
    errno = error;
    return -1;
}

/* The lock, semaphore or flag that this is part of is an atomic while nobody waits, of which nobody tells. */
static void note_inline(void)
{
    if (pct_shim.config.memory == PCT_PATCH_OFF && !pct_memory_view.cells)
        pct_uncontrolled(PCT_UNCONTROLLED_INLINE);
}

/* For the record of a wait's end. */
static uint32_t way_of_end(enum pct_result result, int error)
{
    return result == PCT_TIMEOUT ? PCT_ARG_TIMEOUT : error ? PCT_ARG_ERROR : 0;
}

static long futex_wait(struct pct_shim_thread *self, uint32_t *word, int op, uint32_t value, uint64_t deadline,
                       uint32_t bits)
{
    struct pct_object *queue = pct_at(self, PCT_OP_FUTEX_WAIT, word, PCT_CLASS_FUTEX);
    bool same = *(volatile uint32_t *)word == value;
    note_inline();
    pct_done(self, PCT_OP_FUTEX_WAIT, same ? 0 : PCT_ARG_BUSY, queue);
    if (!same) {
        pct_order_at(self, word, PCT_ACQUIRES); /* the kernel has read it, atomically */
        return fail(EAGAIN);
    }
    enum pct_result result;
    int error = 0;
    do {
        self->futex_bits = bits; /* a handler may have waited, too */
        self->futex_word = word;
        self->futex_value = value;
        self->futex_shared = !(op & FUTEX_PRIVATE_FLAG);
        queue = pct_object_at(&pct_S.objects, word, PCT_CLASS_FUTEX);
        result = pct_wait_for(self, PCT_OP_FUTEX_WAIT, queue, NULL, NULL, deadline);
        if (result == PCT_INTERRUPTED)
            error = !self->restart || deadline != PCT_NEVER ? EINTR : *(volatile uint32_t *)word != value ? EAGAIN : 0;
    } while (result == PCT_INTERRUPTED && !error);
    if (result == PCT_TIMEOUT)
        error = ETIMEDOUT;
    const struct pct_object *last = self->core.wait.object; /* another one, if it was moved there */
    if (result == PCT_READY && last)
        pct_order_object(self, last, PCT_ACQUIRES);
    if (error == EAGAIN) /* as above; who has written there has perhaps told of a wake-up alone */
        pct_order_at(self, word, PCT_ACQUIRES), pct_order_object(self, queue, PCT_ACQUIRES);
    pct_done(self, PCT_OP_FUTEX_WOKEN, way_of_end(result, error), pct_object_at(&pct_S.objects, word, PCT_CLASS_FUTEX));
    return error ? fail(error) : 0;
}

/* Waiting for several at once (futex_waitv): such threads stand in a list of their own. */
struct pct_futex_many {
    struct pct_shim_thread *thread;
    const struct futex_waitv *words;
    unsigned count;
    int woken; /* the index of the word that was woken; -1: none */
    struct pct_futex_many *next;
};
static PCT_OF_RUN struct pct_futex_many *many; /* in order of arrival; with the baton */

static void leave_many(struct pct_futex_many *self)
{
    struct pct_futex_many **at = &many;
    while (*at && *at != self)
        at = &(*at)->next;
    if (*at)
        *at = self->next;
}

/* The index of this word among those that it waits for; -1: it is none of them. */
static int index_of(const struct pct_futex_many *m, const uint32_t *word)
{
    for (unsigned i = 0; i < m->count; i++)
        if (m->words[i].uaddr == (uintptr_t)word)
            return (int)i;
    return -1;
}

/* How many wait for this word among others. */
static uint32_t count_many(const uint32_t *word)
{
    uint32_t count = 0;
    for (const struct pct_futex_many *m = many; m; m = m->next)
        count += index_of(m, word) >= 0;
    return count;
}

/* Wake up to `count` of these, behind the first ones. */
static long wake_many(const uint32_t *word, uint32_t behind, uint32_t count)
{
    long woken = 0;
    for (struct pct_futex_many *m = many, *next; m && (uint32_t)woken < count; m = next) {
        const int index = index_of(m, word);
        next = m->next;
        if (index < 0)
            continue;
        if (behind) {
            behind--;
            continue;
        }
        m->woken = index;
        leave_many(m);
        pct_sched_wake(&pct_S, &m->thread->core);
        woken++;
    }
    return woken;
}

/* Wake up to `count` of those whose bits match, beginning with this one: those that wait for several words come behind
 * the queue. */
static long wake_from(struct pct_object *queue, uint32_t first, uint32_t count, uint32_t bits)
{
    const uint32_t *word = (const uint32_t *)queue->address;
    const uint32_t queued = queue->waiters;
    const bool in_queue = first < queued || !first;
    long woken = in_queue ? 0 : wake_many(word, first - queued, count);
    struct pct_thread *t = queue->first;
    for (uint32_t i = 0; in_queue && i < first; i++)
        t = t->next;
    for (uint32_t left = queued; left && (uint32_t)woken < count; left--) {
        struct pct_thread *next = t->next ? t->next : queue->first;
        if (pct_shim_of(t)->futex_bits & bits) {
            pct_sched_wake(&pct_S, t);
            woken++;
            if (next == t)
                break;
        }
        t = next;
    }
    if (PCT_UNLIKELY(many != NULL))
        woken += wake_many(word, 0, count - (uint32_t)woken);
    return woken;
}

/* The same, beginning with the one that the strategy chooses; to an explored run, that is no choice where all are
 * woken. */
static long wake(struct pct_object *queue, uint32_t count, uint32_t bits, uint32_t *chosen)
{
    uint32_t waiters = queue->waiters + (many ? count_many((const uint32_t *)queue->address) : 0);
    bool all = pct_sched_log(&pct_S) && waiters <= count;
    uint32_t first = waiters && !all ? pct_sched_choose(&pct_S, queue, waiters) : 0;
    *chosen = waiters ? first : PCT_ARG_NOBODY;
    return wake_from(queue, first, count, bits);
}

void pct_futex_wake_waiters(struct pct_object *queue, uint32_t count)
{
    wake_from(queue, 0, count, FUTEX_BITSET_MATCH_ANY);
}

/* The kernel looks at how many to wake, a signed number, behind the first one: of 0, or of less, that is one. */
static uint32_t at_least_one(long count)
{
    return (int32_t)count > 1 ? (uint32_t)count : 1;
}

/* A thread that pct does not know may wait in the kernel. */
static long wake_kernel(uint32_t *word, int op, uint32_t count, uint32_t bits)
{
    long woken = REAL(syscall)(SYS_futex, word, op, count, NULL, NULL, bits);
    return woken > 0 ? woken : 0;
}

static long futex_wake(struct pct_shim_thread *self, uint32_t *word, int op, uint32_t count, uint32_t bits)
{
    struct pct_object *queue = pct_at(self, PCT_OP_FUTEX_WAKE, word, PCT_CLASS_FUTEX);
    uint32_t chosen;
    long woken = wake(queue, count, bits, &chosen);
    if (!(op & FUTEX_PRIVATE_FLAG))
        pct_family_tell();
    note_inline();
    pct_done(self, PCT_OP_FUTEX_WAKE, chosen, queue);
    if ((uint32_t)woken < count && (pct_sched_has_foreign(&pct_S) || !(op & FUTEX_PRIVATE_FLAG)))
        woken += wake_kernel(word, op, count - (uint32_t)woken, bits);
    return woken;
}

static long futex_requeue(struct pct_shim_thread *self, uint32_t *word, uint32_t count, uint32_t move, uint32_t *other,
                          bool compare, uint32_t value)
{
    struct pct_object *queue = pct_at(self, PCT_OP_FUTEX_WAKE, word, PCT_CLASS_FUTEX);
    struct pct_object *target = pct_object_at(&pct_S.objects, other, PCT_CLASS_FUTEX);
    pct_log_touch(&pct_S, PCT_OP_FUTEX_WAKE, target);
    if (compare)
        pct_futex_note(PCT_OP_ATOMIC_LOAD, word);
    if (compare && *(volatile uint32_t *)word != value) {
        pct_done(self, PCT_OP_FUTEX_WAKE, PCT_ARG_BUSY, queue);
        return fail(EAGAIN);
    }
    uint32_t chosen;
    long woken = wake(queue, count, FUTEX_BITSET_MATCH_ANY, &chosen), moved = 0;
    if (target == queue) /* they stay where they are, and count */
        moved = queue->waiters < move ? queue->waiters : move;
    while (queue->first && (uint32_t)moved < move && target != queue) {
        pct_sched_move(&pct_S, queue->first, target);
        moved++;
    }
    pct_done(self, PCT_OP_FUTEX_WAKE, chosen, queue);
    return woken + moved;
}

/* What WAKE_OP does to its second word. False: no such operation. */
static bool operate(uint32_t *word, uint32_t encoded, uint32_t *old)
{
    uint32_t argument = (uint32_t)((int32_t)(encoded << 8) >> 20);
    if (encoded & (uint32_t)FUTEX_OP_OPARG_SHIFT << 28)
        argument = UINT32_C(1) << (argument & 31);
    switch (encoded >> 28 & 7) {
    case FUTEX_OP_SET:
        *old = __atomic_exchange_n(word, argument, __ATOMIC_SEQ_CST);
        return true;
    case FUTEX_OP_ADD:
        *old = __atomic_fetch_add(word, argument, __ATOMIC_SEQ_CST);
        return true;
    case FUTEX_OP_OR:
        *old = __atomic_fetch_or(word, argument, __ATOMIC_SEQ_CST);
        return true;
    case FUTEX_OP_ANDN:
        *old = __atomic_fetch_and(word, ~argument, __ATOMIC_SEQ_CST);
        return true;
    case FUTEX_OP_XOR:
        *old = __atomic_fetch_xor(word, argument, __ATOMIC_SEQ_CST);
        return true;
    default:
        return false;
    }
}

/* Its condition on the value before. Negative: no such comparison. */
static int holds(uint32_t old, uint32_t encoded)
{
    int32_t value = (int32_t)old, argument = (int32_t)(encoded << 20) >> 20;
    switch (encoded >> 24 & 15) {
    case FUTEX_OP_CMP_EQ:
        return value == argument;
    case FUTEX_OP_CMP_NE:
        return value != argument;
    case FUTEX_OP_CMP_LT:
        return value < argument;
    case FUTEX_OP_CMP_LE:
        return value <= argument;
    case FUTEX_OP_CMP_GT:
        return value > argument;
    case FUTEX_OP_CMP_GE:
        return value >= argument;
    default:
        return -1;
    }
}

static long futex_wake_op(struct pct_shim_thread *self, uint32_t *word, int op, uint32_t count, uint32_t count_other,
                          uint32_t *other, uint32_t encoded)
{
    struct pct_object *queue = pct_at(self, PCT_OP_FUTEX_WAKE, word, PCT_CLASS_FUTEX);
    uint32_t old, chosen = PCT_ARG_ERROR, unused;
    long woken = 0;
    int wake_op = op & FUTEX_PRIVATE_FLAG ? FUTEX_WAKE_PRIVATE : FUTEX_WAKE;
    bool kernel = pct_sched_has_foreign(&pct_S) || !(op & FUTEX_PRIVATE_FLAG);
    int error = holds(0, encoded) < 0 || !operate(other, encoded, &old) ? ENOSYS : 0;
    if (!error) {
        struct pct_object *second = pct_object_at(&pct_S.objects, other, PCT_CLASS_FUTEX);
        pct_futex_note(PCT_OP_ATOMIC_UPDATE, other);
        pct_log_touch(&pct_S, PCT_OP_FUTEX_WAKE, second);
        pct_order_at(self, other, PCT_ACQUIRES | PCT_RELEASES);
        woken = wake(queue, count, FUTEX_BITSET_MATCH_ANY, &chosen);
        if (kernel && (uint32_t)woken < count)
            woken += wake_kernel(word, wake_op, count - (uint32_t)woken, 0);
        if (holds(old, encoded)) {
            pct_order_object(self, second, PCT_RELEASES);
            long more = wake(second, count_other, FUTEX_BITSET_MATCH_ANY, &unused);
            if (kernel && (uint32_t)more < count_other)
                more += wake_kernel(other, wake_op, count_other - (uint32_t)more, 0);
            woken += more;
        }
    }
    pct_done(self, PCT_OP_FUTEX_WAKE, chosen, queue);
    return error ? fail(error) : woken;
}

/* A futex in which other processes take part lives in the kernel. */
static bool shared(const uint32_t *word, int op)
{
    return pct_shared(pct_object_at(&pct_S.objects, word, PCT_CLASS_FUTEX), !(op & FUTEX_PRIVATE_FLAG));
}

/* The clock of an absolute deadline. */
static clockid_t clock_of(int op)
{
    return (op & FUTEX_CMD_MASK) == FUTEX_LOCK_PI || op & FUTEX_CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC;
}

/* Wait in the kernel, which knows real time alone, until an absolute deadline, or that of the call itself (PCT_NEVER).
 * Both calls have it as their fourth argument. As in cond.c, the program's clock is not before it then. */
static long wait_outside(struct pct_shim_thread *self, long number, const long a[6], clockid_t clock, uint64_t deadline,
                         enum pct_uncontrolled why)
{
    long real[6], result;
    struct timespec until;
    memcpy(real, a, sizeof real);
    if (deadline != PCT_NEVER)
        real[3] = (long)&until;
    pct_uncontrolled(why);
    do {
        if (deadline != PCT_NEVER)
            pct_real_deadline(clock, deadline, &until);
        result = CALL_EXTERNAL(self, PCT_OP_FUTEX_WAIT, NULL, pct_by_number(number, real));
    } while (result < 0 && errno == ETIMEDOUT && deadline != PCT_NEVER && pct_sched_now(&pct_S) < deadline);
    return result;
}

static bool kin(const uint32_t *word)
{
    return pct_shared_by_kin(pct_object_at(&pct_S.objects, word, PCT_CLASS_FUTEX), true);
}

/* FUTEX_WAIT and FUTEX_WAIT_BITSET, until a deadline of the family's time: the limit of the former is relative. */
static long wait_for_kin(struct pct_shim_thread *self, const long a[6], const struct timespec *timeout,
                         uint64_t deadline)
{
    int op = (int)a[1];
    uint32_t bits = (op & FUTEX_CMD_MASK) == FUTEX_WAIT ? FUTEX_BITSET_MATCH_ANY : (uint32_t)a[5];
    clockid_t clock = clock_of(op);
    struct timespec until;
    long result;
    if (timeout && (op & FUTEX_CMD_MASK) == FUTEX_WAIT)
        deadline = pct_deadline_in(pct_nanoseconds(timeout));
    op = (op & ~FUTEX_CMD_MASK) | FUTEX_WAIT_BITSET;
    pct_uncontrolled(PCT_UNCONTROLLED_PSHARED);
    do
        result = CALL_SHARED(
            self, PCT_OP_FUTEX_WAIT, deadline, true, ({
                if (timeout)
                    pct_real_deadline(clock, deadline, &until);
                pct_by_number(SYS_futex, (const long[]){ a[0], op, a[2], timeout ? (long)&until : 0, 0, (long)bits });
            }));
    while (result < 0 && errno == ETIMEDOUT && timeout && pct_sched_now(&pct_S) < deadline);
    return result;
}

/* Those who wait for a shared word wait in the kernel, which moves them. */
static long requeue_outside(struct pct_shim_thread *self, const long a[6])
{
    struct pct_object *queue = pct_at(self, PCT_OP_FUTEX_WAKE, (void *)a[0], PCT_CLASS_FUTEX);
    pct_family_tell();
    long woken = pct_by_number(SYS_futex, a);
    pct_done(self, PCT_OP_FUTEX_WAKE, woken < 0 ? PCT_ARG_BUSY : 0, queue);
    return woken;
}

long pct_futex(struct pct_shim_thread *self, const long a[6])
{
    uint32_t *word = (uint32_t *)a[0];
    int op = (int)a[1];
    const struct timespec *timeout = (const struct timespec *)a[3];
    uint64_t deadline = PCT_NEVER;
    int command = op & FUTEX_CMD_MASK;
    struct timespec limit;
    bool waits =
        command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET || command == FUTEX_LOCK_PI || command == FUTEX_LOCK_PI2;
    if ((waits || command == FUTEX_WAIT_REQUEUE_PI) && timeout) { /* of the others it is a number */
        if (!pct_user_copy_in(&limit, timeout, sizeof limit))
            return fail(EFAULT);
        timeout = &limit;
        if (!pct_valid(timeout) || (command != FUTEX_WAIT && !pct_deadline(clock_of(op), timeout, &deadline)))
            return fail(EINVAL);
    }
    if (op & FUTEX_CLOCK_REALTIME && command != FUTEX_WAIT_BITSET && command != FUTEX_WAIT_REQUEUE_PI &&
        command != FUTEX_LOCK_PI2)
        return fail(ENOSYS);
    uint32_t *other =
        command == FUTEX_REQUEUE || command == FUTEX_CMP_REQUEUE || command == FUTEX_WAKE_OP ? (uint32_t *)a[4] : word;
    if (((uintptr_t)word | (uintptr_t)other) % sizeof *word)
        return fail(EINVAL);
    /* Waking by a private address looks at nothing there. */
    bool both = command == FUTEX_WAKE_OP || !(op & FUTEX_PRIVATE_FLAG);
    if (((waits || both || command == FUTEX_CMP_REQUEUE) && !pct_user_readable(word, sizeof *word)) ||
        (both && other != word && !pct_user_readable(other, sizeof *other)))
        return fail(EFAULT);
    if (waits && shared(word, op) && command != FUTEX_LOCK_PI && command != FUTEX_LOCK_PI2 && kin(word))
        return wait_for_kin(self, a, timeout, deadline);
    if (waits && shared(word, op))
        return wait_outside(self, SYS_futex, a, clock_of(op), deadline, PCT_UNCONTROLLED_PSHARED);
    switch (command) {
    case FUTEX_WAIT: /* its timeout is relative */
        if (timeout)
            deadline = pct_deadline_in(pct_nanoseconds(timeout));
        return futex_wait(self, word, op, (uint32_t)a[2], deadline, FUTEX_BITSET_MATCH_ANY);
    case FUTEX_WAIT_BITSET: /* its timeout is absolute */
        if (!(uint32_t)a[5])
            return fail(EINVAL);
        return futex_wait(self, word, op, (uint32_t)a[2], deadline, (uint32_t)a[5]);
    case FUTEX_WAKE:
        return futex_wake(self, word, op, at_least_one(a[2]), FUTEX_BITSET_MATCH_ANY);
    case FUTEX_WAKE_BITSET:
        return (uint32_t)a[5] ? futex_wake(self, word, op, at_least_one(a[2]), (uint32_t)a[5]) : fail(EINVAL);
    case FUTEX_REQUEUE:
    case FUTEX_CMP_REQUEUE:
        if ((int32_t)a[2] < 0 || (int32_t)a[3] < 0)
            return fail(EINVAL);
        if (shared(word, op))
            return requeue_outside(self, a);
        return futex_requeue(self, word, (uint32_t)a[2], (uint32_t)a[3], other,
                             (op & FUTEX_CMD_MASK) == FUTEX_CMP_REQUEUE, (uint32_t)a[5]);
    case FUTEX_WAKE_OP:
        if (shared(word, op) || shared(other, op)) { /* does not wait */
            pct_family_tell();
            return pct_by_number(SYS_futex, a);
        }
        return futex_wake_op(self, word, op, at_least_one(a[2]), at_least_one(a[3]), other, (uint32_t)a[5]);
    case FUTEX_LOCK_PI: /* its timeout is absolute, and of this clock whatever the flag says */
    case FUTEX_LOCK_PI2:
        return pct_futex_lock_pi(self, word, op, deadline);
    case FUTEX_TRYLOCK_PI:
        return pct_futex_pi(self, PCT_OP_FUTEX_WAIT, a);
    case FUTEX_UNLOCK_PI:
        return pct_futex_pi(self, PCT_OP_FUTEX_WAKE, a);
    default:
        return wait_outside(self, SYS_futex, a, clock_of(op), deadline, PCT_UNCONTROLLED_FUTEX);
    }
}

/* An explored run is told of all the words: the record has but the first. */
static void note_words(const struct futex_waitv *words, unsigned count)
{
    for (unsigned i = 1; pct_sched_log(&pct_S) && i < count; i++) {
        const uint32_t *word = (const uint32_t *)(uintptr_t)words[i].uaddr;
        pct_log_touch(&pct_S, PCT_OP_FUTEX_WAIT, pct_object_at(&pct_S.objects, word, PCT_CLASS_FUTEX));
        pct_futex_note(PCT_OP_ATOMIC_LOAD, word);
    }
}

/* Whether all words still have their values: 0, or the error. */
static int compare(const struct futex_waitv *words, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        const volatile uint32_t *word = (const volatile uint32_t *)(uintptr_t)words[i].uaddr;
        if (!pct_user_readable((const void *)word, sizeof *word))
            return EFAULT;
        if (*word != (uint32_t)words[i].val)
            return EAGAIN;
    }
    return 0;
}

enum { FEW = 8 }; /* words on the stack: a handler's may be small */

/* Until when futex_waitv() waits at most. Returns 0 or an error. */
static int limit_of_many(const long a[6], uint64_t *deadline)
{
    const struct timespec *timeout = (const struct timespec *)a[3];
    clockid_t clock = (clockid_t)a[4];
    struct timespec limit;
    if (!timeout)
        return 0;
    if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC)
        return EINVAL;
    if (!pct_user_copy_in(&limit, timeout, sizeof limit))
        return EFAULT;
    return pct_valid(&limit) && pct_deadline(clock, &limit, deadline) ? 0 : EINVAL;
}

/* The words that futex_waitv() waits for: in few, or in memory of the thread's own. Returns 0 or an error. */
static int take_words(struct pct_shim_thread *self, const long a[6], struct futex_waitv *few,
                      struct futex_waitv **words, bool *is_shared)
{
    unsigned count = (unsigned)a[1];
    if (count > FEW && !self->futex_words)
        self->futex_words = pct_map(FUTEX_WAITV_MAX * sizeof **words);
    *words = count > FEW ? self->futex_words : few;
    if (!*words)
        return ENOMEM;
    if (!pct_user_copy_in(*words, (void *)a[0], count * sizeof **words))
        return EFAULT;
    for (unsigned i = 0; i < count && !*is_shared; i++) {
        const struct futex_waitv *word = &(*words)[i];
        if ((word->flags & ~(uint32_t)FUTEX_PRIVATE_FLAG) != FUTEX_32 || word->__reserved || word->uaddr % 4)
            return EINVAL;
        *is_shared = shared((uint32_t *)(uintptr_t)word->uaddr, (int)word->flags);
    }
    return 0;
}

/* Wait in the queues of all these words. Returns 0 or an error; mine->woken: the index of the one that was woken. */
static int wait_for_many(struct pct_shim_thread *self, struct pct_futex_many *mine, uint64_t deadline)
{
    const struct pct_wait wait = { .op = PCT_OP_FUTEX_WAIT, .object = &self->sleep_object, .deadline = deadline };
    enum pct_result result;
    int error = 0;
    do {
        struct pct_futex_many **last = &many;
        while (*last)
            last = &(*last)->next;
        *last = mine;
        self->restart = true;
        result = pct_sched_wait(&pct_S, &self->core, &wait);
        leave_many(mine); /* before any handler runs: it may jump */
        pct_after_resume(self);
        if (result == PCT_INTERRUPTED)
            error = !self->restart || deadline != PCT_NEVER ? EINTR : compare(mine->words, mine->count);
    } while (result == PCT_INTERRUPTED && !error);
    pct_done(self, PCT_OP_FUTEX_WOKEN, way_of_end(result, error),
             pct_object_at(&pct_S.objects, (void *)(uintptr_t)mine->words[0].uaddr, PCT_CLASS_FUTEX));
    return result == PCT_TIMEOUT ? ETIMEDOUT : error;
}

long pct_futex_waitv(struct pct_shim_thread *self, const long a[6])
{
    struct futex_waitv few[FEW], *words;
    unsigned count = (unsigned)a[1];
    uint64_t deadline = PCT_NEVER;
    bool is_shared = false;
    if ((uint32_t)a[2] || !count || count > FUTEX_WAITV_MAX || !a[0])
        return fail(EINVAL);
    int error = limit_of_many(a, &deadline);
    error = error ? error : take_words(self, a, few, &words, &is_shared);
    if (error)
        return fail(error);
    if (is_shared)
        return wait_outside(self, SYS_futex_waitv, a, (clockid_t)a[4], deadline, PCT_UNCONTROLLED_PSHARED);
    struct pct_object *first = pct_at(self, PCT_OP_FUTEX_WAIT, (void *)(uintptr_t)words[0].uaddr, PCT_CLASS_FUTEX);
    note_words(words, count);
    error = compare(words, count);
    pct_done(self, PCT_OP_FUTEX_WAIT, error ? PCT_ARG_BUSY : 0, first);
    if (error)
        return fail(error);
    struct pct_futex_many mine = { .thread = self, .words = words, .count = count, .woken = -1 };
    error = wait_for_many(self, &mine, deadline);
    if (mine.woken < 0)
        return fail(error);
    void *word = (void *)(uintptr_t)words[mine.woken].uaddr;
    pct_order_object(self, pct_object_at(&pct_S.objects, word, PCT_CLASS_FUTEX), PCT_ACQUIRES);
    return mine.woken;
}

/* One that moves waiters wakes them. */
void pct_futex_tell(const long a[6])
{
    const int command = (int)a[1] & FUTEX_CMD_MASK;
    if (command == FUTEX_WAKE || command == FUTEX_WAKE_BITSET || command == FUTEX_WAKE_OP)
        pct_tell_wake(PCT_CLASS_FUTEX, (void *)a[0], at_least_one(a[2]));
    else if (command == FUTEX_REQUEUE || command == FUTEX_CMP_REQUEUE)
        pct_tell_wake(PCT_CLASS_FUTEX, (void *)a[0], UINT32_MAX);
    if (command == FUTEX_WAKE_OP)
        pct_tell_wake(PCT_CLASS_FUTEX, (void *)a[4], at_least_one(a[3]));
}
