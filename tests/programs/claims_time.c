/* Programs with a planted bug where threads spin, wait with deadlines, or end the process: see claims.h. */
#define _GNU_SOURCE
#include "claims.h"
#include <poll.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <time.h>

enum { MS = 1000000 };

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t never;

static struct timespec in(clockid_t clock, long ns)
{
    struct timespec time;
    clock_gettime(clock, &time);
    time.tv_nsec += ns;
    time.tv_sec += time.tv_nsec / 1000000000;
    time.tv_nsec %= 1000000000;
    return time;
}

/* --- Spins: a thread that yields, or fails a try, ten times before the other comes -------------------------------- */

static void *come_later(void *unused)
{
    point();
    point();
    hit = flags == 1;
    return unused;
}

static void spin_by(void (*spin)(void))
{
    start(come_later);
    for (int i = 0; i < 10; i++)
        spin();
    flags = 1;
    join_all();
}

static void yield(void)
{
    sched_yield();
}

static void spin_yield(void)
{
    spin_by(yield);
}

static void try_mutex(void)
{
    (void)pthread_mutex_trylock(&b);
}

static void spin_mutex(void)
{
    pthread_mutex_lock(&b);
    spin_by(try_mutex);
}

/* Rounds of sixteen operations that change nothing: after eight blocks of the trace with no other, those of the ninth
 * count as failed tries. */
static void look_in_rounds(void)
{
    enum { BLOCK = 512, ROUND = 16 };
    static sem_t sems[ROUND / 2];
    for (int i = 0; i < BLOCK * 10 / ROUND + 3; i++)
        for (int j = 0; j < ROUND / 2; j++) {
            sem_post(&sems[j]);
            sem_wait(&sems[j]);
        }
}

static void spin_rounds(void)
{
    start(come_later);
    look_in_rounds();
    flags = 1;
    join_all();
}

/* It keeps the other from running for so long that others go first. */
static void spin_held(void)
{
    start(come_later);
    for (int i = 0; i < 1100000; i++)
        point();
    flags = 1;
    join_all();
}

static void try_semaphore(void)
{
    sem_trywait(&never);
}

static void spin_semaphore(void)
{
    spin_by(try_semaphore);
}

static void try_rwlock(void)
{
    pthread_rwlock_trywrlock(&rwlock);
}

static void spin_rwlock(void)
{
    pthread_rwlock_rdlock(&rwlock);
    spin_by(try_rwlock);
}

static void try_poll(void)
{
    poll(&(struct pollfd){ .fd = ends[0], .events = POLLIN }, 1, 0);
}

static void spin_poll(void)
{
    spin_by(try_poll);
}

static void try_join(void)
{
    pthread_tryjoin_np(threads[1], NULL);
}

static void *wait_for_item(void *unused)
{
    sem_wait(&item);
    return unused;
}

static void spin_join(void)
{
    start(come_later);
    start(wait_for_item);
    for (int i = 0; i < 10; i++)
        try_join();
    flags = 1;
    sem_post(&item);
    join_all();
}

/* --- Deadlines: a wait of 2 ms is over before another thread has made a few steps --------------------------------- */

static void *work(void *unused)
{
    point();
    point();
    flags = 1;
    return unused;
}

static void hurry(void (*wait)(void))
{
    start(work);
    wait();
    hit = !flags;
    join_all();
}

#define HURRY(name, ...)                                                                                               \
    static void wait_##name(void)                                                                                      \
    {                                                                                                                  \
        struct timespec soon = in(CLOCK_REALTIME, 2 * MS), later = in(CLOCK_MONOTONIC, 2 * MS);                        \
        const struct timespec length = { .tv_nsec = 2 * MS };                                                          \
        (void)soon, (void)later, (void)length;                                                                         \
        __VA_ARGS__;                                                                                                   \
    }                                                                                                                  \
    static void early_##name(void)                                                                                     \
    {                                                                                                                  \
        hurry(wait_##name);                                                                                            \
    }

HURRY(usleep, usleep(2000))
HURRY(nanosleep, nanosleep(&length, NULL))
HURRY(clock_nanosleep, clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &later, NULL))
HURRY(cond, pthread_mutex_lock(&a); pthread_cond_timedwait(&cond, &a, &soon); pthread_mutex_unlock(&a))
HURRY(cond_clock, pthread_mutex_lock(&a); pthread_cond_clockwait(&cond, &a, CLOCK_MONOTONIC, &later);
      pthread_mutex_unlock(&a))
HURRY(semaphore, sem_timedwait(&never, &soon))
HURRY(mutex, pthread_mutex_lock(&b); pthread_mutex_timedlock(&b, &soon))
HURRY(rwlock, pthread_rwlock_rdlock(&rwlock); pthread_rwlock_timedwrlock(&rwlock, &soon))
HURRY(poll, poll(&(struct pollfd){ .fd = ends[0], .events = POLLIN }, 1, 2))
HURRY(select, select(0, NULL, NULL, NULL, &(struct timeval){ .tv_usec = 2000 }))
HURRY(epoll, struct epoll_event got; epoll_wait(epoll_create1(0), &got, 1, 2))
HURRY(join, made -= !pthread_timedjoin_np(threads[0], NULL, &soon))

/* Of two that sleep, the one that sleeps longer comes first. */
static void *sleep_less(void *unused)
{
    usleep(1000);
    flags = 1;
    return unused;
}

static void *sleep_more(void *unused)
{
    usleep(3000);
    hit = !flags;
    return unused;
}

static void early_of_two(void)
{
    start(sleep_less);
    start(sleep_more);
    join_all();
}

/* It is over between two steps of another. */
static void *step_on(void *unused)
{
    event(0);
    event(2);
    return unused;
}

static void early_between(void)
{
    start(step_on);
    usleep(2000);
    event(1);
    join_all();
    hit = reached == 3;
}

/* Eight of them must not be over early, though the strategy would have it so. */
static void *count_items(void *unused)
{
    for (int i = 0; i < 8; i++) {
        sem_wait(&item);
        reached++;
    }
    sem_wait(&item);
    point();
    hit = flags == 9;
    return unused;
}

static void all_in_order(void)
{
    start(count_items);
    for (unsigned i = 0; i < 8; i++) {
        sem_post(&item);
        usleep(1000);
        flags += reached == i + 1;
    }
    sem_post(&item);
    point();
    flags++;
    join_all();
}

/* --- The end of the process --------------------------------------------------------------------------------------- */

static void end(bool shows)
{
    _exit(shows && !safe);
}

/* What it would have done is lost. */
static void find_undone(void)
{
    point();
    end(!flags);
}

static void end_handler(void)
{
    atexit(find_undone);
    start(work);
    exit(0);
}

static void end_at_once(void)
{
    start(work);
    point();
    end(!flags);
}

static void close_all(void)
{
    point();
    flags = 2;
}

static void *use_closed(void *unused)
{
    point();
    point();
    if (flags == 2 && !safe)
        _exit(1);
    point();
    return unused;
}

static void end_used(void)
{
    atexit(close_all);
    start(use_closed);
    exit(0);
}

static void *end_in_thread(void *unused)
{
    point();
    exit(0);
    return unused;
}

static void end_by_thread(void)
{
    atexit(find_undone);
    start(end_in_thread);
    point();
    work(NULL);
    pause();
}

/* Handlers only while the other is between two steps of its own. */
static void *hold(void *unused)
{
    event(0);
    event(2);
    return unused;
}

static void find_held(void)
{
    event(1);
    point();
    end(reached == 2);
}

static void end_between(void)
{
    atexit(find_held);
    start(hold);
    exit(0);
}

/* ------------------------------------------------------------------------------------------------------------------ */

static const struct program programs[] = {
    { "spin-yield", 1, "order", spin_yield, "" },
    { "spin-mutex", 1, "order", spin_mutex, "" },
    { "spin-semaphore", 1, "order", spin_semaphore, "" },
    { "spin-rwlock", 1, "order", spin_rwlock, "" },
    { "spin-rounds", 1, "order", spin_rounds, "" },
    { "spin-held", 1, "nothing", spin_held, "" },
    { "spin-poll", 1, "order", spin_poll, "" },
    { "spin-join", 1, "order", spin_join, "" },
    { "early-usleep", 1, "early", early_usleep, "" },
    { "early-nanosleep", 1, "early", early_nanosleep, "" },
    { "early-clock-nanosleep", 1, "early", early_clock_nanosleep, "" },
    { "early-cond", 1, "early", early_cond, "" },
    { "early-cond-clock", 1, "early", early_cond_clock, "" },
    { "early-semaphore", 1, "early", early_semaphore, "" },
    { "early-mutex", 1, "early", early_mutex, "" },
    { "early-rwlock", 1, "early", early_rwlock, "" },
    { "early-poll", 1, "early", early_poll, "" },
    { "early-select", 1, "early", early_select, "" },
    { "early-epoll", 1, "early", early_epoll, "" },
    { "early-join", 1, "early", early_join, "" },
    { "early-of-two", 1, "early", early_of_two, "" },
    { "early-between", 2, "early", early_between, "" },
    { "all-in-order", 1, "order", all_in_order, "" },
    { "end-handler", 1, "order", end_handler, "" },
    { "end-at-once", 1, "order", end_at_once, "" },
    { "end-used", 2, "order", end_used, "" },
    { "end-by-thread", 1, "order", end_by_thread, "" },
    { "end-between", 2, "order", end_between, "" },
};

int main(int argc, char **argv)
{
    sem_init(&never, 0, 0);
    return run_program(programs, sizeof programs / sizeof *programs, argc, argv);
}
