/* Things to wait for that threads synchronise by: semaphores, conditions, futexes. */
#include "random.h"
#include <linux/futex.h>
#include <sys/syscall.h>

/* --- Semaphores -------------------------------------------------------------------------------------------------- */

static void make_sem(struct thing *t)
{
    CHECK_OK(sem_init(&t->sem, 0, 0));
    t->named = &t->sem;
}

static void make_shared_sem(struct thing *t)
{
    CHECK_OK(sem_init(&t->sem, 1, 0));
    t->named = &t->sem;
}

static void drop_sem(struct thing *t)
{
    CHECK_OK(sem_destroy(&t->sem));
}

static void make_named_sem(struct thing *t)
{
    snprintf(t->path, sizeof t->path, "/pct-random-%d-%d", (int)getpid(), t->number);
    t->named = sem_open(t->path, O_CREAT | O_EXCL, 0600, 0);
    CHECK(t->named != SEM_FAILED);
    CHECK_OK(sem_unlink(t->path));
}

static void drop_named_sem(struct thing *t)
{
    CHECK_OK(sem_close(t->named));
}

static bool wait_sem(struct thing *t, int64_t us, unsigned way)
{
    clockid_t clock = way & 1 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
    struct timespec until = deadline_of(clock, us < 0 ? FAR * INT64_C(1000000) : us);
    int result; /* with a deadline, it is not restarted */
    if (us < 0 && way % 8 == 0) {
        while ((result = AGAIN(sem_trywait(t->named)))) {
            CHECK_EQ(errno, EAGAIN);
            pthread_testcancel();
            sched_yield();
        }
        return true;
    }
    if (us < 0 && way & 4)
        result = RESTARTED(sem_wait(t->named));
    else if (way & 1)
        result = AGAIN(sem_clockwait(t->named, clock, &until));
    else
        result = AGAIN(sem_timedwait(t->named, &until));
    if (result)
        CHECK_EQ(errno, ETIMEDOUT);
    return !result;
}

static void wake_sem(struct thing *t, unsigned way)
{
    (void)way;
    CHECK_OK(sem_post(t->named));
}

/* --- Conditions -------------------------------------------------------------------------------------------------- */

static void make_cond_with(struct thing *t, int shared)
{
    pthread_mutexattr_t mutex;
    pthread_condattr_t cond;
    CHECK_OK(pthread_mutexattr_init(&mutex));
    CHECK_OK(pthread_mutexattr_setpshared(&mutex, shared));
    if (t->number & 1)
        CHECK_OK(pthread_mutexattr_settype(&mutex, PTHREAD_MUTEX_ERRORCHECK));
    CHECK_OK(pthread_mutex_init(&t->mutex, &mutex));
    t->clock = t->number & 2 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
    CHECK_OK(pthread_condattr_init(&cond));
    CHECK_OK(pthread_condattr_setclock(&cond, t->clock));
    CHECK_OK(pthread_condattr_setpshared(&cond, shared));
    CHECK_OK(pthread_cond_init(&t->cond, &cond));
    CHECK_OK(pthread_mutexattr_destroy(&mutex));
    CHECK_OK(pthread_condattr_destroy(&cond));
}

static void make_cond(struct thing *t)
{
    make_cond_with(t, PTHREAD_PROCESS_PRIVATE);
}

static void make_shared_cond(struct thing *t)
{
    make_cond_with(t, PTHREAD_PROCESS_SHARED);
}

static void drop_cond(struct thing *t)
{
    CHECK_OK(pthread_cond_destroy(&t->cond));
    CHECK_OK(pthread_mutex_destroy(&t->mutex));
}

static void unlock_mutex(void *mutex)
{
    CHECK_OK(pthread_mutex_unlock(mutex));
}

static bool wait_cond(struct thing *t, int64_t us, unsigned way)
{
    clockid_t clock = way & 1 ? CLOCK_MONOTONIC : t->clock;
    struct timespec until = deadline_of(clock, us < 0 ? FAR * INT64_C(1000000) : us);
    int result = 0;
    CHECK_OK(pthread_mutex_lock(&t->mutex));
    pthread_cleanup_push(unlock_mutex, &t->mutex);
    while (!t->count && !result) {
        if (us < 0 && way & 4)
            CHECK_OK(pthread_cond_wait(&t->cond, &t->mutex));
        else if (way & 1)
            result = pthread_cond_clockwait(&t->cond, &t->mutex, clock, &until);
        else
            result = pthread_cond_timedwait(&t->cond, &t->mutex, &until);
    }
    if (result)
        CHECK_EQ(result, ETIMEDOUT);
    if (t->count) {
        t->count--;
        result = 0;
    }
    pthread_cleanup_pop(1);
    return !result;
}

static void wake_cond(struct thing *t, unsigned way)
{
    CHECK_OK(pthread_mutex_lock(&t->mutex));
    t->count++;
    if (way & 1)
        CHECK_OK(pthread_mutex_unlock(&t->mutex));
    CHECK_OK(way & 2 ? pthread_cond_signal(&t->cond) : pthread_cond_broadcast(&t->cond));
    if (!(way & 1))
        CHECK_OK(pthread_mutex_unlock(&t->mutex));
}

static void make_cnd(struct thing *t)
{
    CHECK_EQ(mtx_init(&t->mtx, t->number & 1 ? mtx_plain : mtx_timed), thrd_success);
    CHECK_EQ(cnd_init(&t->cnd), thrd_success);
}

static void drop_cnd(struct thing *t)
{
    cnd_destroy(&t->cnd);
    mtx_destroy(&t->mtx);
}

static void unlock_mtx(void *mtx)
{
    CHECK_EQ(mtx_unlock(mtx), thrd_success);
}

static bool wait_cnd(struct thing *t, int64_t us, unsigned way)
{
    struct timespec until = deadline_of(CLOCK_REALTIME, us < 0 ? FAR * INT64_C(1000000) : us);
    int result = thrd_success;
    CHECK_EQ(mtx_lock(&t->mtx), thrd_success);
    pthread_cleanup_push(unlock_mtx, &t->mtx);
    while (!t->count && result == thrd_success)
        result = us < 0 && way & 1 ? cnd_wait(&t->cnd, &t->mtx) : cnd_timedwait(&t->cnd, &t->mtx, &until);
    if (result != thrd_success)
        CHECK_EQ(result, thrd_timedout);
    if (t->count) {
        t->count--;
        result = thrd_success;
    }
    pthread_cleanup_pop(1);
    return result == thrd_success;
}

static void wake_cnd(struct thing *t, unsigned way)
{
    CHECK_EQ(mtx_lock(&t->mtx), thrd_success);
    t->count++;
    CHECK_EQ(way & 1 ? cnd_signal(&t->cnd) : cnd_broadcast(&t->cnd), thrd_success);
    CHECK_EQ(mtx_unlock(&t->mtx), thrd_success);
}

/* --- Futexes ----------------------------------------------------------------------------------------------------- */

static void make_futex(struct thing *t)
{
    atomic_init(&t->word, 0);
}

static bool take_word(struct thing *t)
{
    unsigned value = atomic_load(&t->word);
    while (value)
        if (atomic_compare_exchange_weak(&t->word, &value, value - 1))
            return true;
    return false;
}

static bool wait_futex_with(struct thing *t, int64_t us, unsigned way, int private)
{
    int64_t end = now_us() + us;
    for (;;) {
        if (take_word(t))
            return true;
        int64_t left = us < 0 ? FAR * INT64_C(1000000) : end - now_us();
        if (left <= 0)
            return false;
        clockid_t clock = way & 16 ? CLOCK_REALTIME : CLOCK_MONOTONIC;
        struct timespec limit = interval_of(left), until = deadline_of(clock, left);
        struct futex_waitv one = { .uaddr = (uintptr_t)&t->word, .flags = FUTEX_32 | (unsigned)private };
        int bits = FUTEX_WAIT_BITSET | private | (way & 16 ? FUTEX_CLOCK_REALTIME : 0);
        long result;
        if (us < 0 && way & 4)
            result = syscall(SYS_futex, &t->word, FUTEX_WAIT | private, 0, NULL, NULL, 0);
        else if (way & 1)
            result = syscall(SYS_futex, &t->word, FUTEX_WAIT | private, 0, &limit, NULL, 0);
        else if (way & 2)
            result = syscall(SYS_futex, &t->word, bits, 0, &until, NULL, FUTEX_BITSET_MATCH_ANY);
        else
            result = syscall(SYS_futex_waitv, &one, 1, 0, &until, clock);
        if (result)
            CHECK(errno == EAGAIN || errno == ETIMEDOUT || again(false));
    }
}

static void wake_futex_with(struct thing *t, unsigned way, int private)
{
    const int all = INT32_MAX, add = FUTEX_OP(FUTEX_OP_ADD, 1, FUTEX_OP_CMP_GE, 0);
    if (way % 8 == 6) {
        CHECK(syscall(SYS_futex, &t->word, FUTEX_WAKE_OP | private, 1, (long)all, &t->word, add) >= 0);
        return;
    }
    unsigned value = atomic_fetch_add(&t->word, 1) + 1;
    long woken = -1;
    if (way % 8 == 2) /* the word may have another value by now */
        woken = syscall(SYS_futex, &t->word, FUTEX_CMP_REQUEUE | private, all, 0L, &t->count, value);
    else if (way % 8 == 4)
        woken = syscall(SYS_futex, &t->word, FUTEX_WAKE_BITSET | private, all, NULL, NULL, FUTEX_BITSET_MATCH_ANY);
    if (woken < 0)
        woken = syscall(SYS_futex, &t->word, FUTEX_WAKE | private, way & 1 ? 1 : all, NULL, NULL, 0);
    CHECK(woken >= 0);
}

static bool wait_futex(struct thing *t, int64_t us, unsigned way)
{
    return wait_futex_with(t, us, way, FUTEX_PRIVATE_FLAG);
}

static void wake_futex(struct thing *t, unsigned way)
{
    wake_futex_with(t, way, FUTEX_PRIVATE_FLAG);
}

static bool wait_shared_futex(struct thing *t, int64_t us, unsigned way)
{
    return wait_futex_with(t, us, way, 0);
}

static void wake_shared_futex(struct thing *t, unsigned way)
{
    wake_futex_with(t, way, 0);
}

/* --- Polling ----------------------------------------------------------------------------------------------------- */

/* A flag that is looked at again and again. */
static bool wait_polling(struct thing *t, int64_t us, unsigned way)
{
    int64_t end = now_us() + us;
    while (!take_word(t)) {
        if (us >= 0 && now_us() >= end)
            return false;
        switch (way % 3) {
        case 0:
            sched_yield();
            break;
        case 1:
            usleep(way);
            break;
        case 2:
            thrd_yield();
            break;
        }
    }
    return true;
}

static void wake_polling(struct thing *t, unsigned way)
{
    (void)way;
    atomic_fetch_add(&t->word, 1);
}

/* --- The end of a thread ----------------------------------------------------------------------------------------- */

static void *end_when_told(void *argument)
{
    struct thing *t = argument;
    RESTARTED(sem_wait(&t->sem));
    return &t->sem;
}

static void make_joined(struct thing *t)
{
    CHECK_OK(sem_init(&t->sem, 0, 0));
    t->thread = start_thread(end_when_told, t);
}

static void drop_joined(struct thing *t)
{
    if (!t->count) {
        CHECK_OK(sem_post(&t->sem));
        CHECK_OK(pthread_join(t->thread, NULL));
    }
    CHECK_OK(sem_destroy(&t->sem));
}

static bool wait_joined(struct thing *t, int64_t us, unsigned way)
{
    clockid_t clock = way & 1 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
    struct timespec until = deadline_of(clock, us < 0 ? FAR * INT64_C(1000000) : us);
    void *value;
    int result;
    if (us < 0 && way % 8 == 0)
        while ((result = pthread_tryjoin_np(t->thread, &value)) == EBUSY)
            sched_yield();
    else if (us < 0 && way & 4)
        result = pthread_join(t->thread, &value);
    else if (way & 1)
        result = pthread_clockjoin_np(t->thread, &value, clock, &until);
    else
        result = pthread_timedjoin_np(t->thread, &value, &until);
    if (result == ETIMEDOUT)
        return false;
    CHECK_OK(result);
    CHECK(value == &t->sem);
    t->count = 1;
    return true;
}

static void wake_joined(struct thing *t, unsigned way)
{
    (void)way;
    CHECK_OK(sem_post(&t->sem));
}

const struct kind sync_kinds[] = {
    { "semaphore", TIMED | CANCEL | HANDLER | ORDERS, make_sem, drop_sem, wait_sem, wake_sem },
    { "shared semaphore", TIMED | CANCEL | HANDLER | PROCESS | OUTSIDE | ORDERS, make_shared_sem, drop_sem, wait_sem,
      wake_sem },
    { "named semaphore", TIMED | CANCEL | HANDLER | PROCESS | OUTSIDE, make_named_sem, drop_named_sem, wait_sem,
      wake_sem },
    { "condition", TIMED | CANCEL | ORDERS, make_cond, drop_cond, wait_cond, wake_cond },
    { "shared condition", TIMED | CANCEL | PROCESS | OUTSIDE | ORDERS, make_shared_cond, drop_cond, wait_cond,
      wake_cond },
    { "C11 condition", TIMED | CANCEL | ORDERS, make_cnd, drop_cnd, wait_cnd, wake_cnd },
    { "futex", TIMED | HANDLER | ORDERS, make_futex, NULL, wait_futex, wake_futex },
    { "shared futex", TIMED | HANDLER | PROCESS | OUTSIDE | ORDERS, make_futex, NULL, wait_shared_futex,
      wake_shared_futex },
    { "polled flag", TIMED | HANDLER | PROCESS | ORDERS, make_futex, NULL, wait_polling, wake_polling },
    { "end of a thread", TIMED | CANCEL | HANDLER | ONCE | SINGLE, make_joined, drop_joined, wait_joined, wake_joined },
    { NULL, 0, NULL, NULL, NULL, NULL },
};
