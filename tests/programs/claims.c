/* Programs with a planted bug that some order of steps shows: see claims.h. */
#define _GNU_SOURCE
#include "claims.h"
#include <errno.h>
#include <link.h>
#include <signal.h>
#include <linux/futex.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER, c = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spinlock;
static pthread_barrier_t barrier;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static int word;

/* --- Orders ------------------------------------------------------------------------------------------------------- */

/* The last thread comes behind all others, which takes the lowest of all priorities. */
static unsigned members;

static void come(unsigned number)
{
    point();
    point();
    if (number == members - 1)
        hit = reached == number;
    reached++;
}

static void *come_in_thread(void *number)
{
    come((unsigned)(unsigned long)number);
    return NULL;
}

static void be_late_among(unsigned count)
{
    members = count;
    while (made + 1 < count)
        start(come_in_thread);
    come(0);
    join_all();
}

static void order_of_2(void)
{
    be_late_among(2);
}

static void order_of_4(void)
{
    be_late_among(4);
}

static void order_of_8(void)
{
    be_late_among(8);
}

/* Event i+1 comes behind event i, and another thread makes it: `last` constraints. */
static unsigned last;

static void make_events(unsigned thread)
{
    point();
    for (unsigned i = 0; i <= last; i++)
        if (i % members == thread)
            event(i);
}

static void *make_events_of(void *number)
{
    make_events((unsigned)(unsigned long)number);
    return NULL;
}

static void chain_of(unsigned count, unsigned depth)
{
    members = count;
    last = depth;
    while (made + 1 < count)
        start(make_events_of);
    make_events(0);
    join_all();
    hit = reached == depth + 1;
}

static void chain_2_of_2(void)
{
    chain_of(2, 2);
}

static void chain_2_of_3(void)
{
    chain_of(3, 2);
}

static void chain_3_of_2(void)
{
    chain_of(2, 3);
}

/* The second thread is made by the first, and is over before the first goes on. */
static void *be_grandchild(void *unused)
{
    event(1);
    return unused;
}

static void *make_grandchild(void *unused)
{
    event(0);
    start(be_grandchild);
    event(2);
    return unused;
}

static void grandchild(void)
{
    start(make_grandchild);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    hit = reached == 3;
}

/* The value of a key is destroyed when another thread has finished with it, and not before. */
static void destroy(void *value)
{
    event(1);
    (void)value;
}

static void *have_value(void *unused)
{
    pthread_setspecific(key, &key);
    event(0);
    return unused;
}

static void destructor(void)
{
    pthread_key_create(&key, destroy);
    start(have_value);
    point();
    event(2);
    join_all();
    hit = reached == 3;
}

/* --- Objects: an update is lost, two locks are each held by one of two, ... --------------------------------------- */

static void lose_by(void (*enter)(void), void (*leave)(void))
{
    enter();
    unsigned value = flags;
    leave();
    enter();
    flags = value + 1;
    leave();
}

static void (*enter)(void), (*leave)(void);

static void *lose(void *unused)
{
    lose_by(enter, leave);
    return unused;
}

static void two_lose(void (*in)(void), void (*out)(void))
{
    enter = in;
    leave = out;
    start(lose);
    lose_by(in, out);
    join_all();
    hit = flags == 1;
}

static void lock_a(void)
{
    pthread_mutex_lock(&a);
}

static void unlock_a(void)
{
    pthread_mutex_unlock(&a);
}

static void lost_mutex(void)
{
    two_lose(lock_a, unlock_a);
}

static void write_lock(void)
{
    pthread_rwlock_wrlock(&rwlock);
}

static void read_unlock(void)
{
    pthread_rwlock_unlock(&rwlock);
}

static void lost_rwlock(void)
{
    two_lose(write_lock, read_unlock);
}

static void spin_lock(void)
{
    pthread_spin_lock(&spinlock);
}

static void spin_unlock(void)
{
    pthread_spin_unlock(&spinlock);
}

static void lost_spinlock(void)
{
    two_lose(spin_lock, spin_unlock);
}

static void down(void)
{
    sem_wait(&item);
}

static void up(void)
{
    sem_post(&item);
}

static void lost_semaphore(void)
{
    up();
    two_lose(down, up);
}

static void take_byte(void)
{
    char byte;
    if (read(ends[0], &byte, 1) != 1)
        abort();
}

static void give_byte(void)
{
    if (write(ends[1], "", 1) != 1)
        abort();
}

static void lost_pipe(void)
{
    give_byte();
    two_lose(take_byte, give_byte);
}

/* A lock as Rust's: what is free is taken without a call. */
static void take_word(void)
{
    while (__atomic_exchange_n(&word, 1, __ATOMIC_ACQUIRE))
        syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0);
}

static void give_word(void)
{
    __atomic_store_n(&word, 0, __ATOMIC_RELEASE);
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void lost_futex(void)
{
    two_lose(take_word, give_word);
}

static void take_event(void)
{
    eventfd_t value;
    eventfd_read(ends[0], &value);
}

static void give_event(void)
{
    eventfd_write(ends[0], 1);
}

static void lost_eventfd(void)
{
    ends[0] = eventfd(1, 0);
    two_lose(take_event, give_event);
}

static void enter_monitor(void)
{
    pthread_mutex_lock(&a);
    while (word)
        pthread_cond_wait(&cond, &a);
    word = 1;
    pthread_mutex_unlock(&a);
}

static void leave_monitor(void)
{
    pthread_mutex_lock(&a);
    word = 0;
    pthread_cond_signal(&cond);
    pthread_mutex_unlock(&a);
}

static void lost_monitor(void)
{
    two_lose(enter_monitor, leave_monitor);
}

/* Where accesses to memory are points. */
static int shared;

static void *add(void *unused)
{
    int value = *(volatile int *)&shared;
    *(volatile int *)&shared = value + 1;
    return unused;
}

static void lost_access(void)
{
    start(add);
    add(NULL);
    join_all();
    hit = shared == 1;
}

/* Each of two or three threads holds a lock that another one needs. */
static pthread_mutex_t *const circle[] = { &a, &b, &c };

static void lock_two_of(unsigned first, unsigned count)
{
    pthread_mutex_t *second = circle[(first + 1) % count];
    pthread_mutex_lock(circle[first]);
    flags |= 1u << first;
    if (flags == (1u << count) - 1)
        hit = true; /* each holds one: from here on it would be a deadlock */
    if (!hit) {
        pthread_mutex_lock(second);
        pthread_mutex_unlock(second);
    }
    flags &= ~(1u << first);
    pthread_mutex_unlock(circle[first]);
}

static void *lock_in_thread(void *number)
{
    lock_two_of((unsigned)(unsigned long)number, members);
    return NULL;
}

static void lock_in_circle(unsigned count)
{
    members = count;
    while (made + 1 < count)
        start(lock_in_thread);
    lock_two_of(0, count);
    join_all();
}

static void circle_of_2(void)
{
    lock_in_circle(2);
}

static void circle_of_3(void)
{
    lock_in_circle(3);
}

static void meet(unsigned number)
{
    point();
    pthread_barrier_wait(&barrier);
    point();
    event(number);
}

static void *meet_in_thread(void *unused)
{
    meet(0);
    return unused;
}

static void barrier_order(void)
{
    start(meet_in_thread);
    meet(1);
    join_all();
    hit = reached == 2;
}

static pthread_t first;

static void run_once(void)
{
    hit = pthread_equal(pthread_self(), first);
}

static void *call_once_in_thread(void *unused)
{
    point();
    pthread_once(&once, run_once);
    return unused;
}

static void once_order(void)
{
    first = pthread_self();
    start(call_once_in_thread);
    point();
    pthread_once(&once, run_once);
    join_all();
}

/* A robust mutex is taken before or after its holder has died. */
static void *die_with_it(void *robust)
{
    (void)robust;
    pthread_mutex_lock(&c);
    point();
    return NULL;
}

static void robust_order(void)
{
    pthread_mutexattr_t robust;
    pthread_mutexattr_init(&robust);
    pthread_mutexattr_setrobust(&robust, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&c, &robust);
    start(die_with_it);
    point();
    int got = pthread_mutex_lock(&c);
    hit = got == EOWNERDEAD;
    if (hit)
        pthread_mutex_consistent(&c);
    pthread_mutex_unlock(&c);
    join_all();
}

/* The signal, and the cancellation, come between two steps of a thread. */
static void handle(int unused)
{
    (void)unused;
    event(1);
}

static void *be_signalled(void *unused)
{
    point();
    event(0);
    point();
    event(2);
    return unused;
}

static void signal_between(void)
{
    signal(SIGUSR1, handle);
    start(be_signalled);
    point();
    pthread_kill(threads[0], SIGUSR1);
    join_all();
    hit = reached == 3;
}

static void clean_up(void *unused)
{
    (void)unused;
    hit = reached == 1;
}

static void *be_cancelled(void *unused)
{
    pthread_cleanup_push(clean_up, NULL);
    point();
    pthread_testcancel();
    event(0);
    pthread_testcancel();
    event(1);
    pthread_testcancel();
    event(2);
    pthread_cleanup_pop(0);
    return unused;
}

static void cancel_between(void)
{
    start(be_cancelled);
    point();
    pthread_cancel(threads[0]);
    join_all();
}

/* A thread keeps the baton in a callback that holds the loader's lock: change points that fall there are none. */
static int pass_points(struct dl_phdr_info *module, size_t size, void *unused)
{
    (void)module;
    (void)size;
    (void)unused;
    for (int i = 0; i < 4; i++)
        point();
    return 1;
}

static void *make_pinned_events(void *unused)
{
    event(0);
    dl_iterate_phdr(pass_points, NULL);
    event(2);
    return unused;
}

static void pinned(void)
{
    start(make_pinned_events);
    point();
    event(1);
    join_all();
    hit = reached == 3;
}

/* A timer goes off, and a handler runs, while others make their steps. */
static void timer(void)
{
    signal(SIGALRM, SIG_IGN);
    timer_t made_one;
    timer_create(CLOCK_MONOTONIC, NULL, &made_one);
    timer_settime(made_one, 0, &(struct itimerspec){ .it_value.tv_nsec = 5000 }, NULL);
    chain_of(2, 2);
}

/* ------------------------------------------------------------------------------------------------------------------ */

static const struct program programs[] = {
    { "order-of-2", 1, "order", order_of_2, "" },
    { "order-of-4", 1, "order", order_of_4, "" },
    { "order-of-8", 1, "order", order_of_8, "" },
    { "chain-2-of-2", 2, "order", chain_2_of_2, "" },
    { "chain-2-of-3", 2, "order", chain_2_of_3, "" },
    { "chain-3-of-2", 3, "order", chain_3_of_2, "" },
    { "grandchild", 1, "order", grandchild, "" },
    { "destructor", 2, "order", destructor, "" },
    { "lost-mutex", 2, "order", lost_mutex, "" },
    { "lost-rwlock", 2, "order", lost_rwlock, "" },
    { "lost-spinlock", 2, "order", lost_spinlock, "" },
    { "lost-semaphore", 2, "order", lost_semaphore, "" },
    { "lost-pipe", 2, "order", lost_pipe, "" },
    { "lost-eventfd", 2, "order", lost_eventfd, "" },
    { "lost-futex", 2, "order", lost_futex, "" },
    { "lost-monitor", 2, "order", lost_monitor, "" },
    { "lost-access", 2, "order", lost_access, "--memory=globals" },
    { "circle-of-2", 2, "order", circle_of_2, "" },
    { "circle-of-3", 3, "order", circle_of_3, "" },
    { "barrier", 1, "order", barrier_order, "" },
    { "once", 1, "order", once_order, "" },
    { "robust", 1, "order", robust_order, "" },
    { "signal", 2, "order", signal_between, "" },
    { "cancel", 2, "order", cancel_between, "" },
    { "pinned", 2, "order", pinned, "" },
    { "timer", 2, "order", timer, "" },
};

int main(int argc, char **argv)
{
    pthread_spin_init(&spinlock, PTHREAD_PROCESS_PRIVATE);
    pthread_barrier_init(&barrier, NULL, 2);
    return run_program(programs, sizeof programs / sizeof *programs, argc, argv);
}
