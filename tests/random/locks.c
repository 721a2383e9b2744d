/* Locks, and events of threads that take them or meet. */
#include "random.h"
#include <sys/file.h>

/* --- Mutexes ----------------------------------------------------------------------------------------------------- */

static void make_mutex_with(struct lock *lock, int type, int protocol, int robust, int shared)
{
    pthread_mutexattr_t attr;
    CHECK_OK(pthread_mutexattr_init(&attr));
    CHECK_OK(pthread_mutexattr_settype(&attr, type));
    CHECK_OK(pthread_mutexattr_setprotocol(&attr, protocol));
    CHECK_OK(pthread_mutexattr_setrobust(&attr, robust));
    CHECK_OK(pthread_mutexattr_setpshared(&attr, shared));
    CHECK_OK(pthread_mutex_init(&lock->mutex, &attr));
    CHECK_OK(pthread_mutexattr_destroy(&attr));
}

static void make_normal(struct lock *lock)
{
    make_mutex_with(lock, PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED, 0);
}

static void make_errorcheck(struct lock *lock)
{
    make_mutex_with(lock, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED, 0);
}

static void make_recursive(struct lock *lock)
{
    make_mutex_with(lock, PTHREAD_MUTEX_RECURSIVE, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED, 0);
}

static void make_adaptive(struct lock *lock)
{
    make_mutex_with(lock, PTHREAD_MUTEX_ADAPTIVE_NP, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED, 0);
}

static void make_robust(struct lock *lock)
{
    make_mutex_with(lock, PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_ROBUST, 0);
}

static void make_inherit(struct lock *lock)
{
    make_mutex_with(lock, PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_STALLED, 0);
}

static void make_shared(struct lock *lock)
{
    make_mutex_with(lock, PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED, 1);
}

static void drop_mutex(struct lock *lock)
{
    CHECK_OK(pthread_mutex_destroy(&lock->mutex));
}

static bool take_mutex(struct lock *lock, bool shared, unsigned way)
{
    struct timespec until;
    int result;
    (void)shared;
    switch (way) {
    case WAY_TRY:
        result = pthread_mutex_trylock(&lock->mutex);
        if (result)
            CHECK_EQ(result, EBUSY);
        return !result;
    case WAY_SHORT:
        do {
            until = deadline_of(CLOCK_REALTIME, 100);
            result = pthread_mutex_timedlock(&lock->mutex, &until);
        } while (result == ETIMEDOUT);
        break;
    case WAY_FAR:
        until = deadline_of(CLOCK_REALTIME, FAR * INT64_C(1000000));
        result = pthread_mutex_timedlock(&lock->mutex, &until);
        break;
    case WAY_CLOCK:
        until = deadline_of(CLOCK_REALTIME, FAR * INT64_C(1000000));
        result = pthread_mutex_clocklock(&lock->mutex, CLOCK_REALTIME, &until);
        break;
    default:
        result = pthread_mutex_lock(&lock->mutex);
    }
    CHECK_OK(result);
    return true;
}

static void give_mutex(struct lock *lock)
{
    CHECK_OK(pthread_mutex_unlock(&lock->mutex));
}

static void make_mtx(struct lock *lock)
{
    CHECK_EQ(mtx_init(&lock->mtx, mtx_timed | mtx_recursive), thrd_success);
}

static void drop_mtx(struct lock *lock)
{
    mtx_destroy(&lock->mtx);
}

static bool take_mtx(struct lock *lock, bool shared, unsigned way)
{
    struct timespec until = deadline_of(CLOCK_REALTIME, FAR * INT64_C(1000000));
    int result;
    (void)shared;
    if (way == WAY_TRY) {
        result = mtx_trylock(&lock->mtx);
        if (result != thrd_success)
            CHECK_EQ(result, thrd_busy);
        return result == thrd_success;
    }
    CHECK_EQ(way == WAY_FAR ? mtx_timedlock(&lock->mtx, &until) : mtx_lock(&lock->mtx), thrd_success);
    return true;
}

static void give_mtx(struct lock *lock)
{
    CHECK_EQ(mtx_unlock(&lock->mtx), thrd_success);
}

/* --- Others ------------------------------------------------------------------------------------------------------ */

static void make_rwlock(struct lock *lock)
{
    CHECK_OK(pthread_rwlock_init(&lock->rwlock, NULL));
}

static void make_rwlock_for_writers(struct lock *lock)
{
    pthread_rwlockattr_t attr;
    CHECK_OK(pthread_rwlockattr_init(&attr));
    CHECK_OK(pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP));
    CHECK_OK(pthread_rwlock_init(&lock->rwlock, &attr));
    CHECK_OK(pthread_rwlockattr_destroy(&attr));
}

static void drop_rwlock(struct lock *lock)
{
    CHECK_OK(pthread_rwlock_destroy(&lock->rwlock));
}

static bool take_rwlock(struct lock *lock, bool shared, unsigned way)
{
    struct timespec until;
    int result;
    switch (way) {
    case WAY_TRY:
        result = shared ? pthread_rwlock_tryrdlock(&lock->rwlock) : pthread_rwlock_trywrlock(&lock->rwlock);
        if (result)
            CHECK_EQ(result, EBUSY);
        return !result;
    case WAY_SHORT:
        do {
            until = deadline_of(CLOCK_REALTIME, 100);
            result = shared ? pthread_rwlock_timedrdlock(&lock->rwlock, &until)
                            : pthread_rwlock_timedwrlock(&lock->rwlock, &until);
        } while (result == ETIMEDOUT);
        break;
    case WAY_CLOCK:
        until = deadline_of(CLOCK_MONOTONIC, FAR * INT64_C(1000000));
        result = shared ? pthread_rwlock_clockrdlock(&lock->rwlock, CLOCK_MONOTONIC, &until)
                        : pthread_rwlock_clockwrlock(&lock->rwlock, CLOCK_MONOTONIC, &until);
        break;
    default:
        result = shared ? pthread_rwlock_rdlock(&lock->rwlock) : pthread_rwlock_wrlock(&lock->rwlock);
    }
    CHECK_OK(result);
    return true;
}

static void give_rwlock(struct lock *lock)
{
    CHECK_OK(pthread_rwlock_unlock(&lock->rwlock));
}

static void make_spin(struct lock *lock)
{
    CHECK_OK(pthread_spin_init(&lock->spin, PTHREAD_PROCESS_PRIVATE));
}

static void drop_spin(struct lock *lock)
{
    CHECK_OK(pthread_spin_destroy(&lock->spin));
}

static bool take_spin(struct lock *lock, bool shared, unsigned way)
{
    (void)shared;
    if (way == WAY_TRY) {
        int result = pthread_spin_trylock(&lock->spin);
        if (result)
            CHECK_EQ(result, EBUSY);
        return !result;
    }
    CHECK_OK(pthread_spin_lock(&lock->spin));
    return true;
}

static void give_spin(struct lock *lock)
{
    CHECK_OK(pthread_spin_unlock(&lock->spin));
}

static void make_sem_lock(struct lock *lock)
{
    CHECK_OK(sem_init(&lock->sem, 0, 1));
}

static void drop_sem_lock(struct lock *lock)
{
    CHECK_OK(sem_destroy(&lock->sem));
}

static bool take_sem_lock(struct lock *lock, bool shared, unsigned way)
{
    (void)shared;
    if (way == WAY_TRY) {
        int result = AGAIN(sem_trywait(&lock->sem));
        if (result)
            CHECK_EQ(errno, EAGAIN);
        return !result;
    }
    CHECK_OK(RESTARTED(sem_wait(&lock->sem)));
    return true;
}

static void give_sem_lock(struct lock *lock)
{
    CHECK_OK(sem_post(&lock->sem));
}

static void make_stream_lock(struct lock *lock)
{
    lock->stream = tmpfile();
    CHECK(lock->stream);
}

static void drop_stream_lock(struct lock *lock)
{
    CHECK_OK(fclose(lock->stream));
}

static bool take_stream(struct lock *lock, bool shared, unsigned way)
{
    (void)shared;
    if (way == WAY_TRY)
        return !ftrylockfile(lock->stream);
    flockfile(lock->stream);
    CHECK(fputs("locked\n", lock->stream) >= 0);
    return true;
}

static void give_stream(struct lock *lock)
{
    funlockfile(lock->stream);
}

/* A lock made of a word, in two ways that spin. */
static bool take_word(struct lock *lock, bool shared, unsigned way)
{
    (void)shared;
    while (atomic_exchange(&lock->word, 1)) {
        if (way == WAY_TRY)
            return false;
        if (way & 1)
            sched_yield();
        else
            usleep(way);
    }
    return true;
}

static void give_word(struct lock *lock)
{
    atomic_store(&lock->word, 0);
}

static void make_word(struct lock *lock)
{
    atomic_init(&lock->word, 0);
}

const struct lock_kind locks[] = {
    { "mutex", CONDITION, make_normal, drop_mutex, take_mutex, give_mutex },
    { "mutex (errorcheck)", CONDITION, make_errorcheck, drop_mutex, take_mutex, give_mutex },
    { "mutex (recursive)", CONDITION | RECURSIVE, make_recursive, drop_mutex, take_mutex, give_mutex },
    { "mutex (adaptive)", CONDITION, make_adaptive, drop_mutex, take_mutex, give_mutex },
    { "mutex (robust)", CONDITION, make_robust, drop_mutex, take_mutex, give_mutex },
    { "mutex (inherits priority)", CONDITION, make_inherit, drop_mutex, take_mutex, give_mutex },
    { "mutex (shared)", CONDITION | BEYOND, make_shared, drop_mutex, take_mutex, give_mutex },
    { "C11 mutex", RECURSIVE, make_mtx, drop_mtx, take_mtx, give_mtx },
    { "rwlock", SHARES, make_rwlock, drop_rwlock, take_rwlock, give_rwlock },
    { "rwlock (prefers writers)", SHARES, make_rwlock_for_writers, drop_rwlock, take_rwlock, give_rwlock },
    { "spinlock", 0, make_spin, drop_spin, take_spin, give_spin },
    { "semaphore", 0, make_sem_lock, drop_sem_lock, take_sem_lock, give_sem_lock },
    { "stream", RECURSIVE, make_stream_lock, drop_stream_lock, take_stream, give_stream },
    { "word", 0, make_word, NULL, take_word, give_word },
    { NULL, 0, NULL, NULL, NULL, NULL },
};

/* --- Critical sections ------------------------------------------------------------------------------------------- */

static void take(struct lock *lock, bool shared, uint64_t *place)
{
    unsigned way = draw(place, WAYS);
    uint64_t own = *place; /* how often it tries decides nothing else */
    while (!lock->kind->take(lock, shared, way))
        if (draw(&own, 2))
            sched_yield();
        else
            usleep(50);
}

/* One lock within another, up to three, in the order of their addresses. */
static void enter(struct event *event, unsigned depth, uint64_t *place)
{
    struct lock *lock = depth < 3 ? event->lock[depth] : NULL;
    if (!lock)
        return;
    bool shared = (lock->kind->flags & SHARES) && !draw(place, 3),
         twice = (lock->kind->flags & RECURSIVE) && !draw(place, 3);
    take(lock, shared, place);
    CHECK_EQ(lock->guarded, lock->also);
    if (twice)
        take(lock, shared, place);
    if (!shared)
        lock->guarded++;
    if (draw(place, 2))
        doze(place);
    enter(event, depth + 1, place);
    if (twice)
        lock->kind->give(lock);
    if (!shared)
        lock->also++;
    lock->kind->give(lock);
}

static void run_critical(struct event *event, unsigned role, uint64_t *place)
{
    for (unsigned i = 0; i < event->rounds; i++)
        enter(event, 0, place);
    (void)role;
}

/* Each lock of several holds one thread; who cannot have all gives back what it has. */
static void run_try_all(struct event *event, unsigned role, uint64_t *place)
{
    for (unsigned i = 0; i < event->rounds; i++)
        for (bool done = false; !done;) {
            unsigned order[3] = { 0, 1, 2 }, held = 0;
            for (unsigned j = 2; j; j--) {
                unsigned at = draw(place, j + 1), other = order[j];
                order[j] = order[at];
                order[at] = other;
            }
            while (held < 3 && (!event->lock[order[held]] ||
                                event->lock[order[held]]->kind->take(event->lock[order[held]], false, WAY_TRY)))
                held++;
            done = held == 3;
            for (unsigned j = 0; done && j < 3; j++)
                if (event->lock[j]) {
                    event->lock[j]->guarded++;
                    event->lock[j]->also++;
                }
            while (held)
                if (event->lock[order[--held]])
                    event->lock[order[held]]->kind->give(event->lock[order[held]]);
            if (!done) {
                sched_yield();
                usleep(draw(place, 100) + role);
            }
        }
}

/* --- A bounded buffer -------------------------------------------------------------------------------------------- */

enum { ROOM = 3 };

static void prepare_buffer(struct event *event)
{
    CHECK_OK(pthread_cond_init(&event->cond, NULL));
}

/* The first half puts in, the second half takes out. */
static void run_buffer(struct event *event, unsigned role, uint64_t *place)
{
    struct lock *lock = event->lock[0];
    unsigned producers = event->parties / 2, consumers = event->parties - producers;
    unsigned each = role < producers ? event->rounds * consumers : event->rounds * producers;
    for (unsigned i = 0; i < each; i++) {
        take(lock, false, place);
        while (role < producers ? event->head - event->tail == ROOM : event->head == event->tail) {
            struct timespec until = deadline_of(CLOCK_REALTIME, 200);
            if (draw(place, 3))
                CHECK_OK(pthread_cond_wait(&event->cond, &lock->mutex));
            else
                pthread_cond_timedwait(&event->cond, &lock->mutex, &until);
        }
        if (role < producers) {
            event->slots[event->head++ % ROOM] = role * 100 + i;
            event->data[0] += role * 100 + i;
        } else {
            event->data[1] += event->slots[event->tail++ % ROOM];
        }
        CHECK_OK(pthread_cond_broadcast(&event->cond));
        lock->kind->give(lock);
    }
}

static void finish_buffer(struct event *event)
{
    CHECK_EQ(event->head, event->tail);
    CHECK_EQ(event->data[0], event->data[1]);
    CHECK_OK(pthread_cond_destroy(&event->cond));
    event->result = event->data[0];
}

/* --- Meeting ----------------------------------------------------------------------------------------------------- */

static void prepare_barrier(struct event *event)
{
    pthread_barrierattr_t attr;
    CHECK_OK(pthread_barrierattr_init(&attr));
    CHECK_OK(pthread_barrierattr_setpshared(&attr, !closed_program() && (event->seed & 1)));
    CHECK_OK(pthread_barrier_init(&event->barrier, &attr, event->parties));
    CHECK_OK(pthread_barrierattr_destroy(&attr));
}

static void run_barrier(struct event *event, unsigned role, uint64_t *place)
{
    for (unsigned i = 0; i < event->rounds; i++) {
        CHECK_EQ(event->data[role], 2 * i);
        event->data[role]++;
        doze(place);
        int result = pthread_barrier_wait(&event->barrier);
        if (result)
            CHECK_EQ(result, PTHREAD_BARRIER_SERIAL_THREAD);
        for (unsigned j = 0; j < event->parties; j++)
            CHECK_EQ(event->data[j], 2 * i + 1);
        atomic_fetch_add(&event->left, result != 0);
        pthread_barrier_wait(&event->barrier);
        event->data[role]++;
    }
}

static void finish_barrier(struct event *event)
{
    CHECK_EQ(atomic_load(&event->left), event->rounds);
    CHECK_OK(pthread_barrier_destroy(&event->barrier));
    event->result = event->rounds;
}

static struct event *initialised;
static void initialise(void)
{
    initialised->data[0]++;
    usleep(10);
    initialised->data[0]++;
}

static void prepare_once(struct event *event)
{
    event->once = PTHREAD_ONCE_INIT;
    initialised = event;
}

static void run_once(struct event *event, unsigned role, uint64_t *place)
{
    (void)role;
    doze(place);
    if (event->seed & 1)
        call_once((once_flag *)&event->once, initialise);
    else
        CHECK_OK(pthread_once(&event->once, initialise));
    CHECK_EQ(event->data[0], 2);
}

/* The owner of a robust mutex ends, and the next one repairs what it guards. */
static void prepare_robust(struct event *event)
{
    pthread_mutexattr_t attr;
    CHECK_OK(pthread_mutexattr_init(&attr));
    CHECK_OK(pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST));
    CHECK_OK(pthread_mutex_init(&event->mutex, &attr));
    CHECK_OK(pthread_mutexattr_destroy(&attr));
}

static void *lock_and_end(void *argument)
{
    struct event *event = argument;
    int result = pthread_mutex_lock(&event->mutex);
    if (result == EOWNERDEAD)
        CHECK_OK(pthread_mutex_consistent(&event->mutex));
    else
        CHECK_OK(result);
    event->data[0]++;
    return NULL;
}

static void run_robust(struct event *event, unsigned role, uint64_t *place)
{
    (void)role;
    for (unsigned i = 0; i < event->rounds; i++) {
        pthread_t thread = start_thread(lock_and_end, event);
        doze(place);
        int result = pthread_mutex_lock(&event->mutex);
        if (result == EOWNERDEAD)
            CHECK_OK(pthread_mutex_consistent(&event->mutex));
        else
            CHECK_OK(result);
        event->data[1]++;
        CHECK_OK(pthread_mutex_unlock(&event->mutex));
        CHECK_OK(pthread_join(thread, NULL));
    }
}

static void finish_robust(struct event *event)
{
    int result = pthread_mutex_trylock(&event->mutex);
    if (result == EOWNERDEAD)
        CHECK_OK(pthread_mutex_consistent(&event->mutex));
    else
        CHECK_OK(result);
    CHECK_OK(pthread_mutex_unlock(&event->mutex));
    CHECK_OK(pthread_mutex_destroy(&event->mutex));
    event->result = event->data[0] + event->data[1];
    CHECK_EQ(event->result, 2 * event->rounds * event->parties);
}

/* Locks on one file by several descriptors. */
static void run_file(struct event *event, unsigned role, uint64_t *place)
{
    char path[64];
    struct flock all = { .l_type = F_WRLCK }, none = { .l_type = F_UNLCK };
    (void)role;
    snprintf(path, sizeof path, "/tmp/pct-random-%d-file", (int)getpid());
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    CHECK(fd >= 0);
    for (unsigned i = 0; i < event->rounds; i++) {
        if (event->seed & 1)
            CHECK_OK(RESTARTED(flock(fd, LOCK_EX)));
        else
            CHECK_OK(RESTARTED(fcntl(fd, F_OFD_SETLKW, &all)));
        long before = event->data[0];
        doze(place);
        event->data[0] = before + 1;
        if (event->seed & 1)
            CHECK_OK(flock(fd, LOCK_UN));
        else
            CHECK_OK(fcntl(fd, F_OFD_SETLK, &none));
    }
    CHECK_OK(close(fd));
}

static void finish_file(struct event *event)
{
    char path[64];
    snprintf(path, sizeof path, "/tmp/pct-random-%d-file", (int)getpid());
    CHECK_OK(unlink(path));
    CHECK_EQ(event->data[0], event->rounds * event->parties);
    event->result = event->data[0];
}

const struct pattern lock_patterns[] = {
    { "critical sections", 1, MOST_THREADS, 0, 0, 0, 3, 0, 0, NULL, run_critical, NULL },
    { "critical sections", 2, MOST_THREADS, 0, 0, 0, 1, 0, 0, NULL, run_critical, NULL },
    { "critical sections", 2, MOST_THREADS, 0, 0, 0, 2, SHARES, 0, NULL, run_critical, NULL },
    { "all or none", 2, 3, 0, 0, 0, 3, 0, 0, NULL, run_try_all, NULL },
    { "bounded buffer", 2, MOST_THREADS, 0, 0, 0, 1, CONDITION, 0, prepare_buffer, run_buffer, finish_buffer },
    { "barrier", 1, MOST_THREADS, 0, 0, 0, 0, 0, 0, prepare_barrier, run_barrier, finish_barrier },
    { "once", 2, MOST_THREADS, 0, 0, 0, 0, 0, ALONE, prepare_once, run_once, NULL },
    { "robust mutex", 1, MOST_THREADS, 0, 0, 0, 0, 0, 0, prepare_robust, run_robust, finish_robust },
    { "locks of a file", 1, 4, 0, 0, 0, 0, 0, ALONE | FOREIGN, NULL, run_file, finish_file },
    { NULL, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL },
};
