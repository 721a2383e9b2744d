/* The race detector, on hand-made traces and accesses: exact, without threads. */
#include "races_setup.h"

static void step(uint32_t thread, enum pct_op op, uint32_t object)
{
    pct_record(&s, &threads[thread], op, 0, object);
}

static void test_plain(void **unused)
{
    (void)unused;
    assert_null(touch(1, X, 4, WRITE));
    assert_null(touch(1, X, 4, WRITE));
    const struct pct_snap_race *race = touch(2, X, 4, 0);
    assert_non_null(race);
    assert_int_equal(race->access[0].thread, 1);
    assert_int_equal(race->access[0].write, 1);
    assert_int_equal(race->access[1].thread, 2);
    assert_int_equal(race->access[1].write, 0);
    assert_int_equal(race->access[1].address, X);
    assert_int_equal(race->access[1].size, 4);
    /* Reads alone are none, in any number; a write then races with each. */
    assert_null(touch(1, Y, 4, 0));
    assert_null(touch(2, Y, 4, 0));
    assert_non_null(touch(0, Y, 4, WRITE));
}

static void test_bytes(void **unused)
{
    (void)unused;
    assert_null(touch(1, X, 1, WRITE));
    assert_null(touch(2, X + 1, 1, WRITE));
    assert_null(touch(2, X + 4, 4, WRITE));
    assert_non_null(touch(2, X, 2, 0));
    /* Across two locations. */
    assert_null(touch(1, Y + 6, 4, WRITE));
    assert_null(touch(2, Y, 6, WRITE));
    assert_null(touch(2, Y + 10, 6, WRITE));
    assert_non_null(touch(2, Y + 8, 1, 0));
}

static void test_same_places_once(void **unused)
{
    (void)unused;
    uint32_t count, sure;
    for (int i = 0; i < 3; i++) {
        touch_at(1, X + 8 * (uintptr_t)i, 4, WRITE, 1);
        assert_int_equal(!!touch_at(2, X + 8 * (uintptr_t)i, 4, WRITE, 2), !i);
    }
    pct_races_found(r, &count, &sure);
    assert_int_equal(count, 1);
}

static void test_threads(void **unused)
{
    (void)unused;
    assert_null(touch(1, X, 4, WRITE));
    step(1, PCT_OP_THREAD_FINISH, 1);
    step(0, PCT_OP_THREAD_JOIN, 1);
    assert_null(touch(0, X, 4, WRITE));
    step(0, PCT_OP_THREAD_CREATE, 3);
    assert_null(touch(3, X, 4, WRITE));
    assert_non_null(touch(0, X, 4, WRITE)); /* not joined */
}

static void test_mutex(void **unused)
{
    (void)unused;
    step(1, PCT_OP_MUTEX_LOCK, 5);
    assert_null(touch(1, X, 4, WRITE));
    step(1, PCT_OP_MUTEX_UNLOCK, 5);
    step(2, PCT_OP_MUTEX_LOCK, 5);
    assert_null(touch(2, X, 4, WRITE));
    /* Another mutex orders nothing. */
    step(0, PCT_OP_MUTEX_LOCK, 6);
    const struct pct_snap_race *race = touch(0, X, 4, WRITE);
    assert_non_null(race);
    assert_int_equal(race->access[1].lock_count, 1);
    assert_int_equal(race->access[1].lock[0], 6);
    assert_int_equal(race->access[0].lock_count, 1); /* thread 2's, when it wrote */
    assert_int_equal(race->access[0].lock[0], 5);
}

/* What was held at the first access is what was held then, whatever the thread did since. */
static void test_locks_of_first(void **unused)
{
    (void)unused;
    step(1, PCT_OP_MUTEX_LOCK, 5);
    step(1, PCT_OP_MUTEX_LOCK, 6);
    touch(1, X, 4, WRITE);
    step(1, PCT_OP_MUTEX_UNLOCK, 5);
    touch(1, Y, 4, WRITE);
    step(1, PCT_OP_MUTEX_UNLOCK, 6);
    touch(1, X + 8, 4, WRITE);
    const struct pct_snap_race *race = touch(2, X, 4, 0);
    assert_non_null(race);
    assert_int_equal(race->access[0].lock_count, 2);
    assert_int_equal(race->access[0].lock[0], 5);
    assert_int_equal(race->access[0].lock[1], 6);
    assert_int_equal(race->access[1].lock_count, 0);
    race = touch(2, Y, 4, 0);
    assert_non_null(race);
    assert_int_equal(race->access[0].lock_count, 1);
    assert_int_equal(race->access[0].lock[0], 6);
    race = touch(2, X + 8, 4, 0);
    assert_non_null(race);
    assert_int_equal(race->access[0].lock_count, 0);
}

/* Accesses that were seen in machine code, where a plain one may be meant to be atomic. arrived: the steps when the
 * thread came. */
static const struct pct_snap_race *see(uint32_t thread, uintptr_t at, unsigned kind, uintptr_t pc, uint64_t arrived)
{
    return pct_races_access(r, &(struct pct_access){ at, 4, pc, arrived, thread, kind });
}

enum { LOAD = PCT_ACCESS_PLAIN, STORE = PCT_ACCESS_PLAIN | PCT_ACCESS_WRITE, UPDATE = STORE | PCT_ACCESS_KNOWN };

static void test_seen(void **unused)
{
    (void)unused;
    uint32_t count, sure;
    /* A store and a load are possibly a race, whenever they came. */
    assert_null(see(1, X, STORE, 1, 0));
    const struct pct_snap_race *race = see(2, X, LOAD, 2, 0);
    assert_non_null(race);
    assert_false(pct_races_sure(race));
    assert_int_equal(race->access[0].atomic, PCT_SNAP_UNTOLD);
    /* So is what cannot be atomic, if the other access was over when the thread came: something that nobody has seen
     * may order the two. */
    assert_null(see(1, Y, UPDATE, 3, 0));
    race = see(2, Y, UPDATE, 3, pct_steps(&s));
    assert_non_null(race);
    assert_false(pct_races_sure(race));
    /* If that was made while the thread stood before its own, they are one, though the two places are known already. */
    const uint64_t arrived = pct_steps(&s);
    step(1, PCT_OP_YIELD, 0);
    assert_null(see(1, Y + 8, UPDATE, 3, arrived));
    race = see(2, Y + 8, UPDATE, 3, arrived);
    assert_non_null(race);
    assert_true(pct_races_sure(race));
    assert_int_equal(race->access[0].atomic, 0);
    assert_null(see(0, Y + 8, UPDATE, 3, arrived)); /* once */
    pct_races_found(r, &count, &sure);
    assert_int_equal(count, 2);
    assert_int_equal(sure, 1);
}

/* What is known of one of the two is not enough: the other one may be ordered with it by what is not told. */
static void test_seen_and_told(void **unused)
{
    (void)unused;
    assert_null(touch(1, X, 4, WRITE));
    const struct pct_snap_race *race = see(2, X, LOAD, 1, pct_steps(&s));
    assert_non_null(race);
    assert_false(pct_races_sure(race));
}

/* A place that threads synchronise by makes no word at all. */
static void test_seen_synchronises(void **unused)
{
    (void)unused;
    assert_null(see(1, X, STORE, 1, 0));
    assert_null(see(2, X, PCT_ACCESS_KNOWN | PCT_ACCESS_WRITE, 2, 0)); /* a locked instruction */
    pct_races_atomic(r, 2, X, PCT_RACES_READ | PCT_RACES_WRITE | PCT_RACES_ACQUIRE | PCT_RACES_RELEASE);
    assert_true(pct_races_synchronises(r, X));
    assert_false(pct_races_synchronises(r, X + 4));
    assert_null(see(0, X, LOAD, 3, 0));
    assert_non_null(see(0, X, UPDATE, 4, 0)); /* but for what cannot be atomic */
}

static bool is_on_x(const struct pct_snap_race *race)
{
    return race->access[0].address == X;
}

static uintptr_t met_at[16][2];
static size_t met_count;
static void met(uintptr_t first, uintptr_t second)
{
    met_at[met_count % 16][0] = first;
    met_at[met_count++ % 16][1] = second;
}

static void test_suppressed(void **unused)
{
    (void)unused;
    uint32_t pairs, found, sure;
    met_count = 0;
    pct_races_suppress(r, is_on_x);
    pct_races_watch(r, met);
    assert_null(touch_at(1, X, 4, WRITE, 1));
    assert_null(touch_at(2, X, 4, WRITE, 2)); /* a race, but not for the user */
    assert_null(touch_at(0, X, 4, WRITE, 3)); /* with each of the two */
    assert_null(touch_at(1, Y, 4, WRITE, 4));
    assert_non_null(touch_at(2, Y, 4, WRITE, 5));
    assert_true(pct_races_suppressed(r, &pairs) >= 3);
    assert_int_equal(pairs, 3);
    pct_races_found(r, &found, &sure);
    assert_int_equal(found, 1);
    /* A watcher hears of all of them, as often as they are met. */
    size_t before = met_count;
    assert_int_equal(met_at[0][0], 1);
    assert_int_equal(met_at[0][1], 2);
    assert_null(touch_at(1, Y, 4, WRITE, 4));
    assert_true(met_count > before);
}

static void test_failed_lock(void **unused)
{
    (void)unused;
    step(1, PCT_OP_MUTEX_LOCK, 5);
    touch(1, X, 4, WRITE);
    step(1, PCT_OP_MUTEX_UNLOCK, 5);
    pct_record(&s, &threads[2], PCT_OP_MUTEX_TRYLOCK, PCT_ARG_BUSY, 5);
    assert_non_null(touch(2, X, 4, WRITE));
}

/* The record of a condition wait does not name the mutex: that is told. */
static void test_cond(void **unused)
{
    (void)unused;
    step(1, PCT_OP_MUTEX_LOCK, 5);
    assert_null(touch(1, X, 4, WRITE));
    assert_null(touch(1, Y, 4, WRITE));
    step(1, PCT_OP_COND_WAIT, 7);
    pct_races_object(r, 1, 5, PCT_RACES_RELEASE);
    step(2, PCT_OP_COND_SIGNAL, 7);
    assert_non_null(touch(2, Y, 4, WRITE)); /* a signal alone orders nothing */
    step(2, PCT_OP_MUTEX_LOCK, 5);
    assert_null(touch(2, X, 4, WRITE));
    step(2, PCT_OP_COND_SIGNAL, 7);
    step(2, PCT_OP_MUTEX_UNLOCK, 5);
    pct_races_object(r, 1, 5, PCT_RACES_ACQUIRE);
    step(1, PCT_OP_COND_WAKE, 7);
    assert_null(touch(1, X, 4, WRITE));
}

static void test_barrier(void **unused)
{
    (void)unused;
    assert_null(touch(1, X, 4, WRITE));
    assert_null(touch(2, X + 8, 4, WRITE));
    assert_null(touch(0, X + 32, 4, WRITE));
    step(1, PCT_OP_BARRIER_ARRIVE, 5);
    step(2, PCT_OP_BARRIER_ARRIVE, 5);
    pct_races_round(r, 2, 5);
    assert_null(touch(2, X, 4, WRITE)); /* who comes last goes on without a step */
    assert_null(touch(2, Y, 4, WRITE));
    step(2, PCT_OP_BARRIER_ARRIVE, 5); /* in the next round */
    step(1, PCT_OP_BARRIER_LEAVE, 5);
    assert_null(touch(1, X + 8, 4, WRITE));
    assert_non_null(touch(1, X + 32, 4, 0)); /* not by one who took no part */
    assert_non_null(touch(1, Y, 4, 0));      /* nor with what another does behind it */
    step(0, PCT_OP_BARRIER_ARRIVE, 5);
    pct_races_round(r, 0, 5);
    assert_null(touch(0, Y, 4, 0));
}

/* In this step, the first thread does something before it, the second one after it. */
static bool orders(enum pct_op first, uint32_t first_arg, enum pct_op second, uint32_t second_arg)
{
    static uint32_t object = 100;
    pct_races_fresh(r, X, X + 8);
    assert_null(touch(1, X, 4, WRITE));
    pct_record(&s, &threads[1], first, first_arg, ++object);
    pct_record(&s, &threads[2], second, second_arg, object);
    bool ordered = !touch(2, X, 4, WRITE);
    setup(NULL); /* what goes through the kernel is one object */
    return ordered;
}

static void test_table(void **unused)
{
    (void)unused;
    static const struct {
        enum pct_op first, second;
    } yes[] = { { PCT_OP_MUTEX_UNLOCK, PCT_OP_MUTEX_LOCK },
                { PCT_OP_SPIN_UNLOCK, PCT_OP_SPIN_TRYLOCK },
                { PCT_OP_RWLOCK_UNLOCK, PCT_OP_RWLOCK_RDLOCK },
                { PCT_OP_RWLOCK_UNLOCK, PCT_OP_RWLOCK_TRYWRLOCK },
                { PCT_OP_SEM_POST, PCT_OP_SEM_WAIT },
                { PCT_OP_SEM_POST, PCT_OP_SEM_TRYWAIT },
                { PCT_OP_ONCE_DONE, PCT_OP_ONCE },
                { PCT_OP_GUARD_RELEASE, PCT_OP_GUARD_ACQUIRE },
                { PCT_OP_FUTEX_WAKE, PCT_OP_FUTEX_WOKEN },
                { PCT_OP_WRITE, PCT_OP_READ },
                { PCT_OP_READ, PCT_OP_WRITE },
                { PCT_OP_WRITE, PCT_OP_POLL },
                { PCT_OP_CLOSE, PCT_OP_READ },
                { PCT_OP_CONNECT, PCT_OP_ACCEPT },
                { PCT_OP_SHUTDOWN, PCT_OP_READ },
                { PCT_OP_FILE_UNLOCK, PCT_OP_FILE_LOCK },
                { PCT_OP_MESSAGE, PCT_OP_MESSAGE },
                { PCT_OP_SIGNAL_SEND, PCT_OP_SIGNAL_HANDLE },
                { PCT_OP_SIGNAL_SEND, PCT_OP_SIGNAL_WAIT },
                { PCT_OP_TIMER_SET, PCT_OP_SIGNAL_HANDLE },
                { PCT_OP_TIMER_SET, PCT_OP_READ },
                { PCT_OP_OPEN, PCT_OP_OPEN },
                { PCT_OP_FORK, PCT_OP_CHILD_WAIT } };
    static const struct {
        enum pct_op first, second;
        uint32_t first_arg, second_arg;
    } no[] = { { PCT_OP_MUTEX_LOCK, PCT_OP_MUTEX_LOCK, 0, 0 },
               { PCT_OP_MUTEX_UNLOCK, PCT_OP_MUTEX_LOCK, 0, PCT_ARG_TIMEOUT },
               { PCT_OP_MUTEX_UNLOCK, PCT_OP_MUTEX_TRYLOCK, 0, PCT_ARG_BUSY },
               { PCT_OP_MUTEX_UNLOCK, PCT_OP_MUTEX_LOCK, PCT_ARG_ERROR, 0 },
               { PCT_OP_SPIN_UNLOCK, PCT_OP_SPIN_TRYLOCK, 0, PCT_ARG_BUSY },
               { PCT_OP_SEM_POST, PCT_OP_SEM_POST, 0, 0 },
               { PCT_OP_SEM_POST, PCT_OP_SEM_TRYWAIT, 0, PCT_ARG_BUSY },
               { PCT_OP_SEM_POST, PCT_OP_SEM_WAIT, 0, PCT_ARG_TIMEOUT },
               { PCT_OP_SEM_WAIT, PCT_OP_SEM_WAIT, 0, 0 },
               { PCT_OP_BARRIER_ARRIVE, PCT_OP_BARRIER_ARRIVE, 0, 0 },
               { PCT_OP_COND_SIGNAL, PCT_OP_COND_WAKE, 0, 0 },
               { PCT_OP_COND_BROADCAST, PCT_OP_COND_WAKE, 0, 0 },
               { PCT_OP_FUTEX_WAKE, PCT_OP_FUTEX_WOKEN, 0, PCT_ARG_TIMEOUT },
               { PCT_OP_FUTEX_WAKE, PCT_OP_FUTEX_WAIT, 0, 0 },
               { PCT_OP_WRITE, PCT_OP_WRITE, 0, 0 },
               { PCT_OP_READ, PCT_OP_READ, 0, 0 },
               { PCT_OP_WRITE, PCT_OP_READ, 0, PCT_ARG_BUSY },
               { PCT_OP_WRITE, PCT_OP_POLL, 0, PCT_ARG_TIMEOUT },
               { PCT_OP_FILE_UNLOCK, PCT_OP_FILE_LOCK, 0, PCT_ARG_BUSY },
               { PCT_OP_SLEEP, PCT_OP_AWAKE, 0, 0 },
               { PCT_OP_YIELD, PCT_OP_YIELD, 0, 0 },
               { PCT_OP_THREAD_FINISH, PCT_OP_THREAD_DETACH, 0, 0 },
               { PCT_OP_THREAD_FINISH, PCT_OP_EXIT, 0, 0 },
               { PCT_OP_STORE, PCT_OP_LOAD, 0, 0 } };
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        if (!orders(yes[i].first, 0, yes[i].second, 0))
            fail_msg("%zu: an edge is missing", i);
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        if (orders(no[i].first, no[i].first_arg, no[i].second, no[i].second_arg))
            fail_msg("%zu: an edge too many", i);
    /* The argument is a signal, the index of a waiter: no failure, whatever its value. */
    for (uint32_t arg = 0; arg < 8; arg++) {
        assert_true(orders(PCT_OP_SIGNAL_SEND, 0, PCT_OP_SIGNAL_HANDLE, arg));
        assert_true(orders(PCT_OP_FUTEX_WAKE, arg, PCT_OP_FUTEX_WOKEN, 0));
    }
    assert_true(orders(PCT_OP_CONNECT, PCT_ARG_BUSY, PCT_OP_ACCEPT, 0));          /* it is being made */
    assert_true(orders(PCT_OP_WRITE, PCT_ARG_ERROR, PCT_OP_READ, PCT_ARG_ERROR)); /* the connection was reset */
}

static void test_robust(void **unused)
{
    (void)unused;
    step(1, PCT_OP_MUTEX_LOCK, 5);
    assert_null(touch(1, X, 4, WRITE));
    assert_null(touch(1, Y, 4, WRITE));
    step(1, PCT_OP_THREAD_FINISH, 1);
    step(0, PCT_OP_MUTEX_LOCK, 6);
    assert_non_null(touch(0, Y, 4, WRITE)); /* not by its end alone */
    pct_races_succeed(r, 2, 1);
    step(2, PCT_OP_MUTEX_LOCK, 5);
    assert_null(touch(2, X, 4, WRITE));
}

/* More locks at once than the detector keeps. */
static void test_many_locks(void **unused)
{
    (void)unused;
    for (uint32_t i = 0; i < 200; i++)
        step(1, PCT_OP_MUTEX_LOCK, 100 + i);
    assert_null(touch(1, X, 4, WRITE));
    step(1, PCT_OP_COND_WAIT, 7);
    pct_races_object(r, 1, 299, PCT_RACES_RELEASE);
    step(2, PCT_OP_MUTEX_LOCK, 299);
    assert_null(touch(2, X, 4, WRITE));
    step(2, PCT_OP_MUTEX_UNLOCK, 299);
    pct_races_object(r, 1, 299, PCT_RACES_ACQUIRE);
    step(1, PCT_OP_COND_WAKE, 7);
    assert_null(touch(1, X, 4, WRITE));
    for (uint32_t i = 200; i-- > 0;)
        step(1, PCT_OP_MUTEX_UNLOCK, 100 + i);
    step(0, PCT_OP_MUTEX_LOCK, 298);
    assert_null(touch(0, X, 4, WRITE));
}

static void test_rwlock(void **unused)
{
    (void)unused;
    step(1, PCT_OP_RWLOCK_RDLOCK, 5);
    assert_null(touch(1, X, 4, 0));
    assert_null(touch(1, Y, 4, WRITE));
    step(1, PCT_OP_RWLOCK_UNLOCK, 5);
    step(2, PCT_OP_RWLOCK_RDLOCK, 5);
    assert_non_null(touch(2, Y, 4, WRITE)); /* readers are not ordered among themselves */
    step(2, PCT_OP_RWLOCK_UNLOCK, 5);
    step(0, PCT_OP_RWLOCK_WRLOCK, 5);
    assert_null(touch(0, X, 4, WRITE));
    assert_null(touch(0, Y, 4, WRITE));
}

static void test_atomics(void **unused)
{
    (void)unused;
    assert_null(touch(1, X, 4, WRITE));
    assert_null(touch(1, Y, 4, WRITE | ATOMIC));
    pct_races_atomic(r, 1, Y, PCT_RACES_WRITE | PCT_RACES_RELEASE);
    assert_null(touch(2, Y, 4, ATOMIC)); /* atomic against atomic is no race, in whatever order */
    assert_null(touch(0, Y, 4, WRITE | ATOMIC));
    pct_races_atomic(r, 2, Y, PCT_RACES_READ | PCT_RACES_ACQUIRE);
    assert_null(touch(2, X, 4, 0));
    assert_non_null(touch(0, X, 4, 0)); /* has acquired nothing */
    assert_non_null(touch(2, Y, 4, 0)); /* plain against atomic is one */
}

static void test_relaxed(void **unused)
{
    (void)unused;
    assert_null(touch(1, X, 4, WRITE));
    pct_races_atomic(r, 1, Y, PCT_RACES_WRITE);
    pct_races_atomic(r, 2, Y, PCT_RACES_READ | PCT_RACES_ACQUIRE);
    assert_non_null(touch(2, X, 4, 0));
}

static void test_release_sequence(void **unused)
{
    (void)unused;
    assert_null(touch(1, X, 4, WRITE));
    pct_races_atomic(r, 1, Y, PCT_RACES_WRITE | PCT_RACES_RELEASE);
    pct_races_atomic(r, 0, Y, PCT_RACES_READ | PCT_RACES_WRITE); /* goes on with it */
    pct_races_atomic(r, 2, Y, PCT_RACES_READ | PCT_RACES_ACQUIRE);
    assert_null(touch(2, X, 4, 0));
    pct_races_atomic(r, 1, Y + 8, PCT_RACES_WRITE | PCT_RACES_RELEASE);
    pct_races_atomic(r, 1, Y + 8, PCT_RACES_WRITE); /* its own */
    pct_races_atomic(r, 2, Y + 8, PCT_RACES_READ | PCT_RACES_ACQUIRE);
    assert_null(touch(2, X, 4, 0));
    pct_races_atomic(r, 1, Y + 4, PCT_RACES_WRITE | PCT_RACES_RELEASE);
    pct_races_atomic(r, 2, Y + 4, PCT_RACES_WRITE); /* begins anew */
    pct_races_atomic(r, 0, Y + 4, PCT_RACES_READ | PCT_RACES_ACQUIRE);
    assert_non_null(touch(0, X, 4, WRITE));
}

static void test_fences(void **unused)
{
    (void)unused;
    assert_null(touch(1, X, 4, WRITE));
    pct_races_fence(r, 1, PCT_RACES_RELEASE);
    pct_races_atomic(r, 1, Y, PCT_RACES_WRITE);
    pct_races_atomic(r, 2, Y, PCT_RACES_READ);
    pct_races_fence(r, 2, PCT_RACES_ACQUIRE);
    assert_null(touch(2, X, 4, 0));
}

static void test_fresh(void **unused)
{
    (void)unused;
    touch(1, X, 4, WRITE);
    touch(1, Y, 4, WRITE);
    pct_races_fresh(r, X, X + 8);
    assert_null(touch(2, X, 4, WRITE));
    pct_races_benign(r, Y, Y + 4);
    assert_null(touch(2, Y, 4, WRITE));
    /* Half of a location is that half alone. */
    pct_races_benign(r, Y + 12, Y + 16);
    touch(1, Y + 8, 8, WRITE);
    assert_null(touch(2, Y + 12, 4, WRITE));
    assert_non_null(touch(2, Y + 8, 4, WRITE));
    pct_races_ignore(r, 2, 1);
    touch(1, X + 32, 4, WRITE);
    assert_null(touch(2, X + 32, 4, WRITE));
    pct_races_ignore(r, 2, -1);
    assert_non_null(touch(2, X + 32, 4, WRITE));
}

static void test_give_up(void **unused)
{
    (void)unused;
    uintptr_t end = X + sizeof memory;
    assert_null(touch(1, X + 8, 4, 0));
    step(1, PCT_OP_SEM_POST, 5);
    step(2, PCT_OP_SEM_WAIT, 5);
    assert_null(pct_races_give_up(r, 2, X, X + 32, 1000001));
    const struct pct_snap_race *race = touch(1, X + 16, 2, 0); /* used after that, where nobody was before */
    assert_non_null(race);
    assert_int_equal(race->access[0].thread, 2);
    assert_int_equal(race->access[0].write, PCT_SNAP_GIVES_UP);
    assert_int_equal(race->access[1].write, 0);
    assert_null(touch(1, X + 32, 4, WRITE));
    /* In between used by others, and new to a third. */
    pct_races_fresh(r, X, end);
    assert_null(touch(0, X, 4, WRITE));
    race = pct_races_give_up(r, 2, X, end, 1000002);
    assert_non_null(race);
    assert_int_equal(race->access[0].thread, 0);
    assert_int_equal(race->access[0].write, 1);
    assert_int_equal(race->access[1].write, PCT_SNAP_GIVES_UP);
    pct_races_fresh(r, X, end);
    assert_null(touch(1, X, 4, WRITE));
    /* Twice. */
    assert_null(pct_races_give_up(r, 1, X, end, 1000003));
    race = pct_races_give_up(r, 2, X, end, 1000004);
    assert_non_null(race);
    assert_int_equal(race->access[0].write, PCT_SNAP_GIVES_UP);
    assert_int_equal(race->access[1].write, PCT_SNAP_GIVES_UP);
}

/* Of a large block only the beginning is kept, and what was used. */
static void test_give_up_large(void **unused)
{
    (void)unused;
    const size_t size = 10u << PCT_CHUNK_LOG;
    uintptr_t at = (uintptr_t)map(size);
    assert_null(touch(1, at + size - 8, 8, WRITE));
    step(1, PCT_OP_SEM_POST, 5);
    step(2, PCT_OP_SEM_WAIT, 5);
    assert_null(pct_races_give_up(r, 2, at, at + size, 1000005));
    assert_non_null(touch(0, at + size - 8, 1, 0));
    assert_non_null(touch(0, at + PCT_RACES_GIVEN - 8, 1, 0));
    assert_null(touch(0, at + PCT_RACES_GIVEN, 1, 0));
}

/* Ids are used again. A thread knows of an earlier one of its id what its creator knew. */
static void test_ids_again(void **unused)
{
    (void)unused;
    assert_null(touch(1, X, 4, WRITE)); /* detached: nobody knows of its end */
    step(0, PCT_OP_THREAD_CREATE, 1);
    assert_non_null(touch(1, X, 4, WRITE));
    assert_null(touch(1, X, 4, WRITE)); /* its own */
    assert_null(touch(1, Y, 4, WRITE));
    step(0, PCT_OP_THREAD_JOIN, 1);
    step(0, PCT_OP_THREAD_CREATE, 1);
    assert_null(touch(1, Y, 4, WRITE)); /* its creator has joined the one before */
    assert_null(touch(1, X, 4, WRITE));
    step(0, PCT_OP_THREAD_JOIN, 1);
    assert_null(touch(0, Y, 4, WRITE));
    /* Joined by one, used again by another that knows nothing of it. */
    step(0, PCT_OP_THREAD_CREATE, 3);
    assert_null(touch(3, Y + 8, 4, WRITE));
    step(0, PCT_OP_THREAD_JOIN, 3);
    step(2, PCT_OP_THREAD_CREATE, 3);
    assert_non_null(touch(3, Y + 8, 4, WRITE));
}

static void test_calls(void **unused)
{
    (void)unused;
    pct_races_call(r, 1, 11, 900);
    pct_races_call(r, 1, 12, 800);
    pct_races_return(r, 1);
    pct_races_call(r, 1, 13, 800);
    touch(1, X, 4, WRITE);
    /* A jump has left both. */
    pct_races_call(r, 1, 14, 950);
    const struct pct_snap_race *race = touch(2, X, 4, WRITE);
    assert_int_equal(race->access[0].frames[1], 13);
    assert_int_equal(race->access[0].frames[2], 11);
    assert_int_equal(race->access[0].frames[3], 0);
    touch(1, Y, 4, WRITE);
    race = touch(2, Y, 4, WRITE);
    assert_int_equal(race->access[0].frames[1], 14);
    assert_int_equal(race->access[0].frames[2], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_plain, setup),
        cmocka_unit_test_setup(test_bytes, setup),
        cmocka_unit_test_setup(test_seen, setup),
        cmocka_unit_test_setup(test_seen_and_told, setup),
        cmocka_unit_test_setup(test_seen_synchronises, setup),
        cmocka_unit_test_setup(test_same_places_once, setup),
        cmocka_unit_test_setup(test_threads, setup),
        cmocka_unit_test_setup(test_mutex, setup),
        cmocka_unit_test_setup(test_locks_of_first, setup),
        cmocka_unit_test_setup(test_suppressed, setup),
        cmocka_unit_test_setup(test_failed_lock, setup),
        cmocka_unit_test_setup(test_robust, setup),
        cmocka_unit_test_setup(test_many_locks, setup),
        cmocka_unit_test_setup(test_barrier, setup),
        cmocka_unit_test_setup(test_table, setup),
        cmocka_unit_test_setup(test_give_up, setup),
        cmocka_unit_test_setup(test_give_up_large, setup),
        cmocka_unit_test_setup(test_cond, setup),
        cmocka_unit_test_setup(test_rwlock, setup),
        cmocka_unit_test_setup(test_atomics, setup),
        cmocka_unit_test_setup(test_relaxed, setup),
        cmocka_unit_test_setup(test_release_sequence, setup),
        cmocka_unit_test_setup(test_fences, setup),
        cmocka_unit_test_setup(test_fresh, setup),
        cmocka_unit_test_setup(test_calls, setup),
        cmocka_unit_test_setup(test_ids_again, setup),
    };
    return cmocka_run_group_tests_name("races", tests, NULL, NULL);
}
