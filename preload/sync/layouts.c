/* Is libc's layout of its objects the one that is known? Of each kind, libc makes one and uses it, and what is in it is
 * compared before what was done is undone. These are libc's own functions, not those of libraries in between, whose
 * constructors have not run; but valgrind's tools see them, and each object must be destroyed before its place has
 * another. All begin as zeros: where libc leaves some, none of its functions may take what was on the stack for
 * waiters. */
#include "layouts.h"
#include <preload/core/real.h>
#include <preload/core/shim.h>
#include <string.h>

#define LIBC(name) ((__typeof__(name) *)pct_real_libc(#name))

PCT_STARTS static bool knows_mutexes(void)
{
    __typeof__(pthread_mutexattr_settype) *set_type = LIBC(pthread_mutexattr_settype);
    __typeof__(pthread_mutexattr_setrobust) *set_robust = LIBC(pthread_mutexattr_setrobust);
    __typeof__(pthread_mutexattr_setpshared) *set_shared = LIBC(pthread_mutexattr_setpshared);
    __typeof__(pthread_mutexattr_init) *begin = LIBC(pthread_mutexattr_init);
    __typeof__(pthread_mutex_init) *init = LIBC(pthread_mutex_init);
    __typeof__(pthread_mutex_lock) *lock = LIBC(pthread_mutex_lock), *unlock = LIBC(pthread_mutex_unlock);
    __typeof__(pthread_mutex_destroy) *destroy = LIBC(pthread_mutex_destroy);
    pthread_mutexattr_t attr;
    pthread_mutex_t plain = { 0 }, recursive = { 0 }, robust = { 0 }, shared = { 0 };
    if (!set_type || !set_robust || !set_shared || !begin || !init || !lock || !unlock || !destroy ||
        init(&plain, NULL) || begin(&attr) || set_shared(&attr, PTHREAD_PROCESS_SHARED) || init(&shared, &attr) ||
        begin(&attr) || set_robust(&attr, PTHREAD_MUTEX_ROBUST) || init(&robust, &attr) || begin(&attr) ||
        set_type(&attr, PTHREAD_MUTEX_RECURSIVE) || init(&recursive, &attr))
        return false;
    const int tid = pct_shim.pid, kind = recursive.__data.__kind;
    if (plain.__data.__kind != PTHREAD_MUTEX_TIMED_NP || (kind & KIND_TYPE) != PTHREAD_MUTEX_RECURSIVE_NP ||
        kind & (KIND_ROBUST | KIND_INHERIT | KIND_PROTECT | KIND_SHARED) || !(robust.__data.__kind & KIND_ROBUST) ||
        shared.__data.__kind & KIND_ROBUST || !(shared.__data.__kind & KIND_SHARED))
        return false;
    if (lock(&plain) || plain.__data.__lock != 1 || plain.__data.__owner != tid || plain.__data.__nusers != 1 ||
        lock(&recursive) || !recursive.__data.__lock || recursive.__data.__owner != tid ||
        recursive.__data.__count != 1 || unlock(&recursive) || unlock(&plain))
        return false;
    return !plain.__data.__lock && !plain.__data.__owner && !plain.__data.__nusers && !destroy(&plain) &&
           !destroy(&shared) && !destroy(&robust) && !destroy(&recursive);
}

PCT_STARTS static bool knows_conds(void)
{
    __typeof__(pthread_condattr_init) *begin = LIBC(pthread_condattr_init);
    __typeof__(pthread_condattr_setclock) *set_clock = LIBC(pthread_condattr_setclock);
    __typeof__(pthread_condattr_setpshared) *set_shared = LIBC(pthread_condattr_setpshared);
    __typeof__(pthread_cond_init) *init = LIBC(pthread_cond_init);
    __typeof__(pthread_cond_destroy) *destroy = LIBC(pthread_cond_destroy);
    pthread_condattr_t attr;
    pthread_cond_t plain, monotonic, shared;
    if (!begin || !set_clock || !set_shared || !init || !destroy || init(&plain, NULL) || begin(&attr) ||
        set_clock(&attr, CLOCK_MONOTONIC) || init(&monotonic, &attr) || begin(&attr) ||
        set_shared(&attr, PTHREAD_PROCESS_SHARED) || init(&shared, &attr))
        return false;
    return !plain.__data.__wrefs && monotonic.__data.__wrefs == COND_MONOTONIC &&
           shared.__data.__wrefs == COND_SHARED && !destroy(&plain) && !destroy(&monotonic) && !destroy(&shared);
}

PCT_STARTS static bool knows_rwlocks(void)
{
    __typeof__(pthread_rwlock_rdlock) *read = LIBC(pthread_rwlock_rdlock), *write = LIBC(pthread_rwlock_wrlock),
                                      *unlock = LIBC(pthread_rwlock_unlock);
    __typeof__(pthread_rwlock_init) *init = LIBC(pthread_rwlock_init);
    __typeof__(pthread_rwlock_destroy) *destroy = LIBC(pthread_rwlock_destroy);
    pthread_rwlock_t lock = { 0 };
    if (!read || !write || !unlock || !init || !destroy || init(&lock, NULL) || read(&lock) || read(&lock) ||
        lock.__data.__readers >> READER_SHIFT != 2 || lock.__data.__readers & WRITE_LOCKED || unlock(&lock) ||
        unlock(&lock))
        return false;
    if (write(&lock) || !(lock.__data.__readers & WRITE_LOCKED) || lock.__data.__readers >> READER_SHIFT ||
        lock.__data.__cur_writer != pct_shim.pid || unlock(&lock))
        return false;
    return !(lock.__data.__readers & WRITE_LOCKED) && !lock.__data.__cur_writer && !destroy(&lock);
}

PCT_STARTS static bool knows_barriers(void)
{
    __typeof__(pthread_barrierattr_init) *begin = LIBC(pthread_barrierattr_init);
    __typeof__(pthread_barrierattr_setpshared) *set_shared = LIBC(pthread_barrierattr_setpshared);
    __typeof__(pthread_barrier_init) *init = LIBC(pthread_barrier_init);
    __typeof__(pthread_barrier_destroy) *destroy = LIBC(pthread_barrier_destroy);
    pthread_barrierattr_t attr;
    pthread_barrier_t plain, shared;
    struct glibc_barrier seven, three;
    if (!begin || !set_shared || !init || !destroy || init(&plain, NULL, 7) || begin(&attr) ||
        set_shared(&attr, PTHREAD_PROCESS_SHARED) || init(&shared, &attr, 3))
        return false;
    memcpy(&seven, &plain, sizeof seven);
    memcpy(&three, &shared, sizeof three);
    return seven.count == 7 && !seven.shared && three.count == 3 && three.shared && !three.in && !three.round &&
           !three.out && !destroy(&plain) && !destroy(&shared);
}

PCT_STARTS static bool knows_semaphores(void)
{
    __typeof__(sem_init) *init = LIBC(sem_init);
    __typeof__(sem_post) *post = LIBC(sem_post);
    __typeof__(sem_destroy) *destroy = LIBC(sem_destroy);
    sem_t plain = { { 0 } }, shared = { { 0 } };
    return init && post && destroy && !init(&plain, 0, 5) && !init(&shared, 1, 0) && !post(&plain) &&
           sem_value(&plain) == 6 && !sem_value(&shared) && !sem_shared(&plain) && sem_shared(&shared) &&
           !destroy(&plain) && !destroy(&shared);
}

PCT_STARTS static bool knows_spinlocks(void)
{
    __typeof__(pthread_spin_init) *init = LIBC(pthread_spin_init);
    __typeof__(pthread_spin_lock) *lock = LIBC(pthread_spin_lock);
    __typeof__(pthread_spin_unlock) *unlock = LIBC(pthread_spin_unlock);
    __typeof__(pthread_spin_destroy) *destroy = LIBC(pthread_spin_destroy);
    pthread_spinlock_t spin = SPIN_UNLOCKED + 1;
    if (!init || !lock || !unlock || !destroy || init(&spin, PTHREAD_PROCESS_PRIVATE) || spin != SPIN_UNLOCKED ||
        lock(&spin) || spin == SPIN_UNLOCKED || unlock(&spin))
        return false;
    return spin == SPIN_UNLOCKED && !destroy(&spin);
}

static int seen; /* the word of pthread_once() while its routine runs */
static pthread_once_t word;

PCT_STARTS static void see(void)
{
    seen = word;
}

PCT_STARTS static bool knows_once(void)
{
    __typeof__(pthread_once) *once = LIBC(pthread_once);
    return once && !once(&word, see) && seen & ONCE_IN_PROGRESS && !(seen & ONCE_DONE) && word & ONCE_DONE &&
           !(word & ONCE_IN_PROGRESS);
}

PCT_STARTS const char *pct_layouts_unknown(void)
{
    return !knows_mutexes()      ? "mutexes"
           : !knows_conds()      ? "condition variables"
           : !knows_rwlocks()    ? "read-write locks"
           : !knows_barriers()   ? "barriers"
           : !knows_semaphores() ? "semaphores"
           : !knows_spinlocks()  ? "spinlocks"
           : !knows_once()       ? "words of pthread_once()"
                                 : NULL;
}
