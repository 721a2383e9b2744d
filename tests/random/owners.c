/* Locks of other make: mutexes with several properties at once, tokens, words that the kernel waits for; and events in
 * which the owner of a robust mutex ends. */
#include "random.h"
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* --- Mutexes ----------------------------------------------------------------------------------------------------- */

enum { ROBUST = 1, INHERITS = 2, IN_FAMILY = 4 };

static void make_mutex(pthread_mutex_t *mutex, int type, unsigned properties)
{
    pthread_mutexattr_t attr;
    CHECK_OK(pthread_mutexattr_init(&attr));
    CHECK_OK(pthread_mutexattr_settype(&attr, type));
    CHECK_OK(pthread_mutexattr_setprotocol(&attr, properties & INHERITS ? PTHREAD_PRIO_INHERIT : PTHREAD_PRIO_NONE));
    CHECK_OK(pthread_mutexattr_setrobust(&attr, properties & ROBUST ? PTHREAD_MUTEX_ROBUST : PTHREAD_MUTEX_STALLED));
    CHECK_OK(
        pthread_mutexattr_setpshared(&attr, properties & IN_FAMILY ? PTHREAD_PROCESS_SHARED : PTHREAD_PROCESS_PRIVATE));
    CHECK_OK(pthread_mutex_init(mutex, &attr));
    CHECK_OK(pthread_mutexattr_destroy(&attr));
}

static void make_robust_recursive(struct lock *lock)
{
    make_mutex(&lock->mutex, PTHREAD_MUTEX_RECURSIVE, ROBUST);
}

static void make_robust_inherit(struct lock *lock)
{
    make_mutex(&lock->mutex, PTHREAD_MUTEX_ERRORCHECK, ROBUST | INHERITS);
}

static void make_robust_adaptive(struct lock *lock)
{
    make_mutex(&lock->mutex, PTHREAD_MUTEX_ADAPTIVE_NP, ROBUST);
}

static void make_inherit_recursive(struct lock *lock)
{
    make_mutex(&lock->mutex, PTHREAD_MUTEX_RECURSIVE, INHERITS);
}

static void make_everything(struct lock *lock)
{
    make_mutex(&lock->mutex, PTHREAD_MUTEX_ERRORCHECK, ROBUST | INHERITS | IN_FAMILY);
}

static void drop_mutex(struct lock *lock)
{
    CHECK_OK(pthread_mutex_destroy(&lock->mutex));
}

/* Locks it in one of several ways; with priority inheritance, not every kernel has the other clock. */
static int lock_somehow(pthread_mutex_t *mutex, unsigned way, bool monotonic)
{
    clockid_t clock = monotonic ? CLOCK_MONOTONIC : CLOCK_REALTIME;
    struct timespec until;
    int result;
    switch (way) {
    case WAY_SHORT:
        do {
            until = deadline_of(clock, 100);
            result = pthread_mutex_clocklock(mutex, clock, &until);
        } while (result == ETIMEDOUT);
        return result;
    case WAY_FAR:
        until = deadline_of(CLOCK_REALTIME, FAR * INT64_C(1000000));
        return pthread_mutex_timedlock(mutex, &until);
    case WAY_CLOCK:
        until = deadline_of(clock, FAR * INT64_C(1000000));
        return pthread_mutex_clocklock(mutex, clock, &until);
    default:
        return pthread_mutex_lock(mutex);
    }
}

static bool take(struct lock *lock, unsigned way, bool monotonic)
{
    if (way == WAY_TRY) {
        int result = pthread_mutex_trylock(&lock->mutex);
        if (result)
            CHECK_EQ(result, EBUSY);
        return !result;
    }
    CHECK_OK(lock_somehow(&lock->mutex, way, monotonic));
    return true;
}

static bool take_mutex(struct lock *lock, bool shared, unsigned way)
{
    (void)shared;
    return take(lock, way, true);
}

static bool take_inheriting(struct lock *lock, bool shared, unsigned way)
{
    (void)shared;
    return take(lock, way, false);
}

static void give_mutex(struct lock *lock)
{
    CHECK_OK(pthread_mutex_unlock(&lock->mutex));
}

static void make_mtx(struct lock *lock)
{
    CHECK_EQ(mtx_init(&lock->mtx, mtx_plain), thrd_success);
}

static void drop_mtx(struct lock *lock)
{
    mtx_destroy(&lock->mtx);
}

static bool take_mtx(struct lock *lock, bool shared, unsigned way)
{
    (void)shared;
    int result = way == WAY_TRY ? mtx_trylock(&lock->mtx) : mtx_lock(&lock->mtx);
    if (way == WAY_TRY && result == thrd_busy)
        return false;
    CHECK_EQ(result, thrd_success);
    return true;
}

static void give_mtx(struct lock *lock)
{
    CHECK_EQ(mtx_unlock(&lock->mtx), thrd_success);
}

/* --- Words of the kernel's --------------------------------------------------------------------------------------- */

static long futex(atomic_uint *word, int op, unsigned value, const struct timespec *limit)
{
    return syscall(SYS_futex, word, op | FUTEX_PRIVATE_FLAG, value, limit, NULL, 0);
}

static void make_word(struct lock *lock)
{
    atomic_init(&lock->word, 0);
}

/* 0: free, else the owner, and whether others wait. */
static bool take_owned_word(struct lock *lock, bool shared, unsigned way)
{
    unsigned none = 0;
    struct timespec until;
    (void)shared;
    if (atomic_compare_exchange_strong(&lock->word, &none, (unsigned)gettid()))
        return true;
    if (way == WAY_TRY) {
        long result = futex(&lock->word, FUTEX_TRYLOCK_PI, 0, NULL);
        CHECK(!result || errno == EAGAIN || errno == EDEADLK);
        return !result;
    }
    for (;;) {
        until = deadline_of(CLOCK_REALTIME, way == WAY_SHORT ? 100 : FAR * INT64_C(1000000));
        if (!futex(&lock->word, FUTEX_LOCK_PI, 0, way < WAY_CLOCK ? &until : NULL))
            return true;
        CHECK(errno == EAGAIN || (errno == ETIMEDOUT && way == WAY_SHORT) || again(false));
    }
}

static void give_owned_word(struct lock *lock)
{
    unsigned own = (unsigned)gettid();
    if (!atomic_compare_exchange_strong(&lock->word, &own, 0))
        CHECK_OK(futex(&lock->word, FUTEX_UNLOCK_PI, 0, NULL));
}

/* 0: free; 1: taken; 2: taken, and others may wait. */
static bool take_counted_word(struct lock *lock, bool shared, unsigned way)
{
    unsigned value = 0;
    (void)shared;
    if (atomic_compare_exchange_strong(&lock->word, &value, 1))
        return true;
    if (way == WAY_TRY)
        return false;
    while (atomic_exchange(&lock->word, 2)) {
        struct timespec limit = interval_of(way == WAY_SHORT ? 100 : FAR * INT64_C(1000000));
        if (futex(&lock->word, FUTEX_WAIT, 2, way < WAY_CLOCK ? &limit : NULL))
            CHECK(errno == EAGAIN || errno == ETIMEDOUT || again(false));
    }
    return true;
}

static void give_counted_word(struct lock *lock)
{
    if (atomic_exchange(&lock->word, 0) == 2)
        CHECK(futex(&lock->word, FUTEX_WAKE, 1, NULL) >= 0);
}

/* --- Tokens ------------------------------------------------------------------------------------------------------ */

static void make_token(struct lock *lock)
{
    int fd[2];
    CHECK_OK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd));
    lock->fd = fd[0];
    lock->id = fd[1];
    CHECK_EQ(write(lock->id, "t", 1), 1);
}

static void drop_token(struct lock *lock)
{
    CHECK_OK(close(lock->fd));
    CHECK_OK(close(lock->id));
}

static bool take_token(struct lock *lock, bool shared, unsigned way)
{
    char byte;
    (void)shared;
    if (way == WAY_TRY) {
        ssize_t size = recv(lock->fd, &byte, 1, MSG_DONTWAIT);
        CHECK(size == 1 || (size < 0 && errno == EAGAIN));
        return size == 1;
    }
    CHECK_EQ(RESTARTED(read(lock->fd, &byte, 1)), 1);
    return true;
}

static void give_token(struct lock *lock)
{
    CHECK_EQ(RESTARTED(write(lock->id, "t", 1)), 1);
}

static void make_sysv(struct lock *lock)
{
    lock->id = semget(IPC_PRIVATE, 1, 0600);
    CHECK(lock->id >= 0);
    CHECK_OK(semctl(lock->id, 0, SETVAL, 1));
}

static void drop_sysv(struct lock *lock)
{
    CHECK_OK(semctl(lock->id, 0, IPC_RMID));
}

static bool take_sysv(struct lock *lock, bool shared, unsigned way)
{
    struct sembuf down = { .sem_op = -1, .sem_flg = (short)(SEM_UNDO | (way == WAY_TRY ? IPC_NOWAIT : 0)) };
    (void)shared;
    int result = ANYHOW(semop(lock->id, &down, 1));
    if (result)
        CHECK(way == WAY_TRY && errno == EAGAIN);
    return !result;
}

static void give_sysv(struct lock *lock)
{
    struct sembuf up = { .sem_op = 1, .sem_flg = SEM_UNDO };
    CHECK_OK(semop(lock->id, &up, 1));
}

/* --- Read-write locks and spinlocks ------------------------------------------------------------------------------ */

static void make_shared_rwlock(struct lock *lock)
{
    pthread_rwlockattr_t attr;
    CHECK_OK(pthread_rwlockattr_init(&attr));
    CHECK_OK(pthread_rwlockattr_setpshared(&attr, PTHREAD_PROCESS_SHARED));
    CHECK_OK(pthread_rwlock_init(&lock->rwlock, &attr));
    CHECK_OK(pthread_rwlockattr_destroy(&attr));
}

static void drop_rwlock(struct lock *lock)
{
    CHECK_OK(pthread_rwlock_destroy(&lock->rwlock));
}

/* Who shares it may share it again, and who wants more is refused. */
static bool take_rwlock(struct lock *lock, bool shared, unsigned way)
{
    clockid_t clock = way & 1 ? CLOCK_REALTIME : CLOCK_MONOTONIC;
    struct timespec until;
    int result;
    if (way == WAY_TRY) {
        result = shared ? pthread_rwlock_tryrdlock(&lock->rwlock) : pthread_rwlock_trywrlock(&lock->rwlock);
        if (result)
            CHECK_EQ(result, EBUSY);
        return !result;
    }
    do {
        until = deadline_of(clock, way == WAY_SHORT ? 100 : FAR * INT64_C(1000000));
        result = shared ? pthread_rwlock_clockrdlock(&lock->rwlock, clock, &until)
                        : pthread_rwlock_clockwrlock(&lock->rwlock, clock, &until);
    } while (result == ETIMEDOUT && way == WAY_SHORT);
    CHECK_OK(result);
    if (shared && way & 2) {
        CHECK_OK(pthread_rwlock_rdlock(&lock->rwlock));
        CHECK_EQ(pthread_rwlock_trywrlock(&lock->rwlock), EBUSY);
        CHECK_OK(pthread_rwlock_unlock(&lock->rwlock));
    } else if (!shared) {
        CHECK_EQ(pthread_rwlock_wrlock(&lock->rwlock), EDEADLK);
        CHECK_EQ(pthread_rwlock_rdlock(&lock->rwlock), EDEADLK);
    }
    return true;
}

static void give_rwlock(struct lock *lock)
{
    CHECK_OK(pthread_rwlock_unlock(&lock->rwlock));
}

static void make_shared_spin(struct lock *lock)
{
    CHECK_OK(pthread_spin_init(&lock->spin, PTHREAD_PROCESS_SHARED));
}

static void drop_spin(struct lock *lock)
{
    CHECK_OK(pthread_spin_destroy(&lock->spin));
}

static bool take_spin(struct lock *lock, bool shared, unsigned way)
{
    (void)shared;
    if (way == WAY_TRY)
        return !pthread_spin_trylock(&lock->spin);
    CHECK_OK(pthread_spin_lock(&lock->spin));
    return true;
}

static void give_spin(struct lock *lock)
{
    CHECK_OK(pthread_spin_unlock(&lock->spin));
}

const struct lock_kind owner_locks[] = {
    { "mutex (robust, recursive)", CONDITION | RECURSIVE, make_robust_recursive, drop_mutex, take_mutex, give_mutex },
    { "mutex (robust, inherits priority)", CONDITION, make_robust_inherit, drop_mutex, take_inheriting, give_mutex },
    { "mutex (robust, adaptive)", CONDITION, make_robust_adaptive, drop_mutex, take_mutex, give_mutex },
    { "mutex (recursive, inherits priority)", CONDITION | RECURSIVE, make_inherit_recursive, drop_mutex,
      take_inheriting, give_mutex },
    { "mutex (robust, inherits priority, shared)", CONDITION | BEYOND, make_everything, drop_mutex, take_inheriting,
      give_mutex },
    { "C11 mutex (plain)", 0, make_mtx, drop_mtx, take_mtx, give_mtx },
    { "word with an owner", 0, make_word, NULL, take_owned_word, give_owned_word },
    { "word that counts", 0, make_word, NULL, take_counted_word, give_counted_word },
    { "token in a socket", 0, make_token, drop_token, take_token, give_token },
    { "System V semaphore", BEYOND, make_sysv, drop_sysv, take_sysv, give_sysv },
    { "rwlock (shared)", SHARES | BEYOND, make_shared_rwlock, drop_rwlock, take_rwlock, give_rwlock },
    { "spinlock (shared)", BEYOND, make_shared_spin, drop_spin, take_spin, give_spin },
    { NULL, 0, NULL, NULL, NULL, NULL },
};

/* --- Owners that end --------------------------------------------------------------------------------------------- */

static unsigned properties_of(const struct event *event)
{
    return ROBUST | (event->seed & 1 ? INHERITS : 0);
}

static int type_of(const struct event *event)
{
    static const int types[] = { PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_RECURSIVE,
                                 PTHREAD_MUTEX_ADAPTIVE_NP };
    return types[event->seed / 2 % 4];
}

static int lock_in_some_way(struct event *event, uint64_t *place)
{
    unsigned way = draw(place, WAYS);
    uint64_t own = *place;
    int result;
    if (way != WAY_TRY)
        return lock_somehow(&event->mutex, way, false);
    while ((result = pthread_mutex_trylock(&event->mutex)) == EBUSY)
        doze(&own);
    return result;
}

static void repair(struct event *event, int result)
{
    if (result == EOWNERDEAD) {
        CHECK_OK(pthread_mutex_consistent(&event->mutex));
        atomic_fetch_add(&event->left, 1);
    } else {
        CHECK_OK(result);
    }
}

static void prepare_ending(struct event *event)
{
    make_mutex(&event->mutex, type_of(event), properties_of(event));
    CHECK_OK(pthread_cond_init(&event->cond, NULL));
}

/* Locks, tells, and ends with the lock: by returning, leaving, or being cancelled. */
static void *tell_and_end(void *argument)
{
    struct event *event = argument;
    uint64_t place = event->seed;
    repair(event, lock_in_some_way(event, &place));
    event->data[0]++;
    CHECK_OK(event->seed & 64 ? pthread_cond_signal(&event->cond) : pthread_cond_broadcast(&event->cond));
    if (event->seed & 128)
        pthread_exit(NULL);
    if (event->seed & 256) {
        CHECK_OK(pthread_cancel(pthread_self()));
        pthread_testcancel();
    }
    return NULL;
}

/* All wait until as many have ended as there are parties; a wait may come back with the lock of one that did. */
static void run_ending(struct event *event, unsigned role, uint64_t *place)
{
    pthread_t thread = start_thread(tell_and_end, event);
    (void)role;
    doze(place);
    repair(event, lock_in_some_way(event, place));
    while (event->data[0] < (long)event->parties) {
        struct timespec until = deadline_of(CLOCK_REALTIME, draw(place, 1000));
        int result = draw(place, 2) ? pthread_cond_wait(&event->cond, &event->mutex)
                                    : pthread_cond_timedwait(&event->cond, &event->mutex, &until);
        if (result != ETIMEDOUT)
            repair(event, result);
        CHECK_OK(pthread_cond_broadcast(&event->cond));
    }
    CHECK_OK(pthread_mutex_unlock(&event->mutex));
    CHECK_OK(pthread_join(thread, NULL));
}

static void finish_ending(struct event *event)
{
    int result = pthread_mutex_lock(&event->mutex);
    repair(event, result);
    CHECK_OK(pthread_mutex_unlock(&event->mutex));
    CHECK_EQ(atomic_load(&event->left), event->parties);
    CHECK_OK(pthread_mutex_destroy(&event->mutex));
    CHECK_OK(pthread_cond_destroy(&event->cond));
    event->result = event->data[0];
}

/* Nobody repairs it: it is lost. By one thread: glibc does not wake all who wait for it, and its trylock, once it has
 * said so, lets nobody have the same answer. */
static void *lock_and_end(void *argument)
{
    CHECK_OK(pthread_mutex_lock(argument));
    return NULL;
}

static void run_lost(struct event *event, unsigned role, uint64_t *place)
{
    pthread_mutex_t mutex;
    (void)role;
    for (unsigned i = 0; i < event->rounds; i++) {
        make_mutex(&mutex, type_of(event), properties_of(event));
        pthread_t thread = start_thread(lock_and_end, &mutex);
        if (draw(place, 2)) {
            CHECK_OK(pthread_join(thread, NULL));
            thread = 0;
        }
        int result = lock_somehow(&mutex, 1 + draw(place, WAYS - 1), false);
        bool first = !result; /* before the other: that is the end of it */
        if (first) {
            CHECK(thread);
        } else {
            CHECK_EQ(result, EOWNERDEAD);
            doze(place);
        }
        CHECK_OK(pthread_mutex_unlock(&mutex));
        for (unsigned j = 0; j < 2 && !first; j++)
            CHECK_EQ(lock_somehow(&mutex, 1 + draw(place, WAYS - 1), false), ENOTRECOVERABLE);
        if (thread)
            CHECK_OK(pthread_join(thread, NULL));
        CHECK_OK(pthread_mutex_destroy(&mutex));
    }
}

/* A child ends with a lock of the family's: it ends itself, becomes another program, or is killed. */
static void run_ended_child(struct event *event, unsigned role, uint64_t *place)
{
    pthread_mutex_t *mutex = mmap(NULL, sizeof *mutex, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int fd[2], status;
    char byte;
    (void)role;
    CHECK(mutex != MAP_FAILED);
    make_mutex(mutex, type_of(event), properties_of(event) | IN_FAMILY);
    CHECK_OK(pipe2(fd, O_CLOEXEC));
    for (unsigned i = 0; i < event->rounds; i++) {
        unsigned how = draw(place, 3), way = draw(place, WAYS);
        pid_t child = fork();
        CHECK(child >= 0);
        if (!child) {
            CHECK_OK(pthread_mutex_lock(mutex));
            CHECK_EQ(RESTARTED(write(fd[1], "l", 1)), 1);
            doze(place);
            if (how == 0)
                execl("/bin/sh", "sh", "-c", "exit 16", NULL);
            while (how == 1 && pause())
                continue;
            _exit(16);
        }
        CHECK_EQ(RESTARTED(read(fd[0], &byte, 1)), 1);
        if (how == 1)
            CHECK_OK(kill(child, SIGKILL));
        int result = lock_somehow(mutex, way, false);
        CHECK_EQ(result, EOWNERDEAD);
        CHECK_OK(pthread_mutex_consistent(mutex));
        CHECK_OK(pthread_mutex_unlock(mutex));
        CHECK_EQ(RESTARTED(waitpid(child, &status, 0)), child);
        CHECK(how == 1 ? WIFSIGNALED(status) : WIFEXITED(status) && WEXITSTATUS(status) == 16);
    }
    CHECK_OK(pthread_mutex_destroy(mutex));
    CHECK_OK(munmap(mutex, sizeof *mutex));
    CHECK_OK(close(fd[0]));
    CHECK_OK(close(fd[1]));
}

const struct pattern owner_patterns[] = {
    { "owners that end", 1, MOST_THREADS, 0, 0, 0, 0, 0, 0, prepare_ending, run_ending, finish_ending },
    { "lost mutex", 1, 1, 0, 0, 0, 0, 0, 0, NULL, run_lost, NULL },
    { "child that ends with a lock", 1, 1, 0, 0, 0, 0, 0, FOREIGN, NULL, run_ended_child, NULL },
    { NULL, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL },
};
