/* machine NUMBER KINDS FILE: the random program of this number, made of these kinds of actions (the bits of enum kind),
 * by real threads. It writes a line to the end of the file, which depends on everything that its threads could tell of
 * the schedule: so two behaviours are two lines. Variables are used with their lock held, so that but for RACES there
 * are no data races. tests/explored/run compares what `pct explore` and random schedules find; tests/explored/scripts,
 * what `pct script --all=dpor` and `--all` do. FILE -: it opens none, and its status says how it behaved. */
#define _GNU_SOURCE
#include "text.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex[THINGS] = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER };
static pthread_cond_t cond[THINGS] = { PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER };
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier, second;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static sem_t sem[THINGS];
static unsigned var[THINGS], under_rwlock;
static volatile unsigned bare[THINGS];
static __thread unsigned me;
static int out, ends[2], event;
static pthread_spinlock_t spin;
static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_mutex_t checked = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static pthread_mutex_t robust[THINGS];
static pthread_key_t key;
static unsigned waiting, tickets, under_spin, under_recursive, under_checked, under_robust[THINGS];

static void tell(unsigned value)
{
    text[me].hash = text[me].hash * 31 + value + 1;
}

static struct timespec began[2]; /* by clock */

static struct timespec soon_by(clockid_t clock, unsigned milliseconds)
{
    struct timespec when = began[clock == CLOCK_MONOTONIC];
    if (!(kinds & DATES))
        clock_gettime(clock, &when);
    when.tv_nsec += (long)milliseconds * 1000000;
    when.tv_sec += when.tv_nsec / 1000000000;
    when.tv_nsec %= 1000000000;
    return when;
}

static struct timespec soon(unsigned milliseconds)
{
    return soon_by(CLOCK_REALTIME, milliseconds);
}

static void use_of(unsigned *variable)
{
    tell(*variable);
    *variable = *variable * 5 + me + 1;
}

static void use(unsigned thing)
{
    use_of(&var[thing]);
}

static void once_routine(void)
{
    tell(77);
}

static void locks(const struct action *a)
{
    unsigned other = !a->thing;
    struct timespec when;
    switch (a->what % 4) {
    case 0:
        pthread_mutex_lock(&mutex[a->thing]);
        use(a->thing);
        pthread_mutex_unlock(&mutex[a->thing]);
        break;
    case 1:
        pthread_mutex_lock(&mutex[a->thing]);
        pthread_mutex_lock(&mutex[other]);
        use(other);
        pthread_mutex_unlock(&mutex[other]);
        pthread_mutex_unlock(&mutex[a->thing]);
        break;
    case 2:
        if (pthread_mutex_trylock(&mutex[a->thing])) {
            tell(9);
            break;
        }
        use(a->thing);
        pthread_mutex_unlock(&mutex[a->thing]);
        break;
    default:
        when = soon(1 + a->more % 3);
        if (!(kinds & TIME)) {
            pthread_mutex_lock(&mutex[a->thing]);
        } else if (pthread_mutex_timedlock(&mutex[a->thing], &when)) {
            tell(8);
            break;
        }
        use(a->thing);
        pthread_mutex_unlock(&mutex[a->thing]);
    }
}

static void unlock(void *lock)
{
    tell(55);
    pthread_mutex_unlock(lock);
}

static void conds(const struct action *a)
{
    struct timespec when = { 0 };
    pthread_mutex_lock(&mutex[a->thing]);
    pthread_cleanup_push(unlock, &mutex[a->thing]);
    switch (a->what % 4) {
    case 0:
        if (kinds & TIME) {
            when = soon(1 + a->more % 3);
            tell(pthread_cond_timedwait(&cond[a->thing], &mutex[a->thing], &when) ? 5 : 6);
        } else {
            pthread_cond_wait(&cond[a->thing], &mutex[a->thing]);
        }
        break;
    case 1:
        if (!var[a->thing])
            pthread_cond_wait(&cond[a->thing], &mutex[a->thing]);
        break;
    case 2:
        var[a->thing]++;
        pthread_cond_broadcast(&cond[a->thing]);
        break;
    default:
        var[a->thing]++;
        pthread_cond_signal(&cond[a->thing]);
    }
    use(a->thing);
    pthread_cleanup_pop(0);
    pthread_mutex_unlock(&mutex[a->thing]);
}

static void sems(const struct action *a)
{
    struct timespec when;
    switch (a->what % 4) {
    case 0:
        tell(sem_trywait(&sem[a->thing]) ? 3 : 4);
        break;
    case 1:
        when = soon(1 + a->more % 3);
        if (kinds & TIME)
            tell(sem_timedwait(&sem[a->thing], &when) ? 3 : 4);
        else
            sem_wait(&sem[a->thing]);
        break;
    default:
        sem_post(&sem[a->thing]);
    }
}

static void rwlocks(const struct action *a)
{
    switch (a->what % 4) {
    case 0:
        pthread_rwlock_rdlock(&rwlock);
        tell(under_rwlock);
        break;
    case 1:
        if (pthread_rwlock_tryrdlock(&rwlock)) {
            tell(2);
            return;
        }
        tell(under_rwlock);
        break;
    case 2:
        pthread_rwlock_wrlock(&rwlock);
        under_rwlock = under_rwlock * 3 + me;
        break;
    default:
        if (pthread_rwlock_trywrlock(&rwlock)) {
            tell(1);
            return;
        }
        under_rwlock = under_rwlock * 3 + me;
    }
    if (a->inner)
        sem_post(&sem[a->thing]);
    pthread_rwlock_unlock(&rwlock);
}

/* A lock of its own, which another thread may find in a list: where it stands depends on who has allocated what. */
struct own {
    pthread_mutex_t lock;
    unsigned uses;
    struct own *next;
};
static struct own *list;

static void heap(const struct action *a)
{
    struct own *own;
    if (a->what % 2) {
        own = malloc(sizeof *own + a->more % 3 * 40);
        pthread_mutex_init(&own->lock, NULL);
        own->uses = me;
        pthread_mutex_lock(&mutex[0]);
        own->next = list;
        list = own;
        pthread_mutex_unlock(&mutex[0]);
        return;
    }
    pthread_mutex_lock(&mutex[0]);
    own = list;
    pthread_mutex_unlock(&mutex[0]);
    if (!own)
        return;
    pthread_mutex_lock(&own->lock);
    tell(own->uses);
    own->uses = own->uses * 7 + me;
    pthread_mutex_unlock(&own->lock);
}

static void spins(const struct action *a)
{
    if (a->what % 2 && pthread_spin_trylock(&spin)) {
        tell(12);
        return;
    }
    if (!(a->what % 2))
        pthread_spin_lock(&spin);
    use_of(&under_spin);
    if (a->inner)
        sem_post(&sem[a->thing]);
    pthread_spin_unlock(&spin);
}

static void checks(const struct action *a)
{
    if (a->what % 3 == 0) {
        pthread_mutex_lock(&recursive);
        tell((unsigned)pthread_mutex_trylock(&recursive));
        use_of(&under_recursive);
        pthread_mutex_unlock(&recursive);
        pthread_mutex_unlock(&recursive);
        return;
    }
    if (a->what % 3 == 1) {
        tell((unsigned)pthread_mutex_unlock(&checked)); /* not ours: that is said */
        return;
    }
    pthread_mutex_lock(&checked);
    tell((unsigned)pthread_mutex_lock(&checked));
    use_of(&under_checked);
    if (a->inner)
        sched_yield();
    pthread_mutex_unlock(&checked);
}

static void destroy(void *value)
{
    pthread_mutex_lock(&mutex[(uintptr_t)value - 1]);
    tell(var[(uintptr_t)value - 1] += 3);
    pthread_mutex_unlock(&mutex[(uintptr_t)value - 1]);
}

static void pipes(const struct action *a)
{
    char byte = (char)(me + 1);
    if (a->what % 2)
        tell((unsigned)write(ends[1], &byte, 1));
    else if (read(ends[0], &byte, 1) == 1)
        tell((unsigned char)byte);
}

static void naps(const struct action *a)
{
    struct timespec when;
    switch (a->what % 3) {
    case 0:
        sched_yield();
        break;
    case 1:
        when = soon(1 + a->more % 3);
        if (!(kinds & TIME) || pthread_rwlock_timedwrlock(&rwlock, &when)) {
            tell(13);
            break;
        }
        under_rwlock += 7;
        pthread_rwlock_unlock(&rwlock);
        break;
    default:
        when = soon(1 + a->more % 3);
        if (!(kinds & TIME) || pthread_rwlock_timedrdlock(&rwlock, &when)) {
            tell(14);
            break;
        }
        tell(under_rwlock);
        pthread_rwlock_unlock(&rwlock);
    }
}

/* Who is woken first is told. */
static void counts(const struct action *a)
{
    pthread_mutex_lock(&mutex[0]);
    pthread_cleanup_push(unlock, &mutex[0]);
    if (a->what % 2) {
        waiting++;
        pthread_cond_wait(&cond[0], &mutex[0]);
        tell(tickets++);
        waiting--;
    } else if (a->inner) {
        tell(waiting);
        pthread_cond_signal(&cond[0]);
    } else {
        tell(waiting);
        pthread_cond_broadcast(&cond[0]);
        pthread_cond_signal(&cond[1]);
    }
    pthread_cleanup_pop(1);
}

/* Without a lock: each access may come before or behind those of others. */
static void races(const struct action *a)
{
    switch (a->what % 3) {
    case 0:
        bare[a->thing] = bare[!a->thing] * 3 + me;
        break;
    case 1:
        bare[a->thing] = me + 1;
        break;
    default:
        tell(bare[a->thing]);
    }
}

static void events(const struct action *a)
{
    uint64_t count = 1 + a->more % 2;
    struct pollfd readable = { .fd = event, .events = POLLIN };
    switch (a->what % 4) {
    case 0:
        if (read(event, &count, sizeof count) == sizeof count)
            tell((unsigned)count);
        break;
    case 1:
        tell((unsigned)poll(&readable, 1, kinds & TIME ? 1 + (int)a->more % 3 : 0));
        break;
    default:
        if (write(event, &count, sizeof count) == sizeof count)
            tell(15);
    }
}

static void clocks(const struct action *a)
{
    struct timespec when = soon_by(CLOCK_MONOTONIC, 1 + a->more % 3);
    switch (a->what % 6) {
    case 0:
        if (pthread_mutex_clocklock(&mutex[a->thing], CLOCK_MONOTONIC, &when)) {
            tell(16);
            break;
        }
        use(a->thing);
        if (a->inner)
            pthread_cond_signal(&cond[0]);
        pthread_mutex_unlock(&mutex[a->thing]);
        break;
    case 1:
        tell(sem_clockwait(&sem[a->thing], CLOCK_MONOTONIC, &when) ? 17 : 18);
        break;
    case 2:
        pthread_mutex_lock(&mutex[0]);
        waiting++;
        tell(pthread_cond_clockwait(&cond[0], &mutex[0], CLOCK_MONOTONIC, &when) ? 19 : tickets++);
        waiting--;
        pthread_mutex_unlock(&mutex[0]);
        break;
    case 3:
        if (pthread_rwlock_clockrdlock(&rwlock, CLOCK_MONOTONIC, &when)) {
            tell(20);
            break;
        }
        tell(under_rwlock);
        if (a->inner)
            sem_post(&sem[a->thing]);
        pthread_rwlock_unlock(&rwlock);
        break;
    case 4:
        tell(pthread_barrier_wait(&second) != 0);
        break;
    default:
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, NULL);
    }
}

/* Its last holder has ended with it, and what it left is repaired, or not. */
static bool takes(unsigned thing, int error, unsigned more)
{
    tell((unsigned)error);
    if (error == EOWNERDEAD && more % 4)
        tell((unsigned)pthread_mutex_consistent(&robust[thing]));
    return !error || error == EOWNERDEAD;
}

/* Who has it may end with it. */
static void robusts(const struct action *a)
{
    unsigned thing = a->thing;
    struct timespec when;
    int error;
    switch (a->what % 4) {
    case 0:
        error = pthread_mutex_trylock(&robust[thing]);
        break;
    case 1:
        when = soon(1 + a->more % 3);
        error = kinds & TIME ? pthread_mutex_timedlock(&robust[thing], &when) : pthread_mutex_lock(&robust[thing]);
        break;
    default:
        error = pthread_mutex_lock(&robust[thing]);
    }
    if (!takes(thing, error, a->more))
        return;
    use_of(&under_robust[thing]);
    if (a->inner && kinds & CONDS)
        takes(thing, pthread_cond_wait(&cond[thing], &robust[thing]), a->more);
    else if (a->inner)
        pthread_cond_signal(&cond[thing]);
    if (a->more % 3)
        tell((unsigned)pthread_mutex_unlock(&robust[thing]));
}

static void make_robust(void)
{
    static const int types[] = { PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_RECURSIVE };
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
    for (unsigned i = 0; i < THINGS; i++) {
        pthread_mutexattr_settype(&attr, types[draw(3)]);
        pthread_mutex_init(&robust[i], &attr);
    }
}

#include "made.h"

static void *worker(void *argument);

static void act(const struct action *a)
{
    switch (a->kind) {
    case LOCKS:
        locks(a);
        break;
    case CONDS:
        conds(a);
        break;
    case SEMS:
        sems(a);
        break;
    case RWLOCKS:
        rwlocks(a);
        break;
    case BARRIERS:
        tell(pthread_barrier_wait(&barrier) != 0);
        break;
    case ONCES:
        pthread_once(&once, once_routine);
        break;
    case TIME:
        usleep(1000 * (1 + a->more % 3));
        break;
    case HEAP:
        heap(a);
        break;
    case SPINS:
        spins(a);
        break;
    case CHECKED:
        checks(a);
        break;
    case KEYS:
        pthread_setspecific(key, (void *)(uintptr_t)(a->thing + 1));
        break;
    case PIPES:
        pipes(a);
        break;
    case NAPS:
        naps(a);
        break;
    case COUNTS:
        counts(a);
        break;
    case RANDOM:
        tell((unsigned)rand() % 16); /* the same in each run, but for who gets which */
        break;
    case RACES:
        races(a);
        break;
    case EVENTS:
        events(a);
        break;
    case CLOCKS:
        clocks(a);
        break;
    case ROBUSTS:
        robusts(a);
        break;
    default:
        makes(a);
    }
}

static void run(void)
{
    struct text *t = &text[me];
    if (t->makes)
        pthread_create(&text[t->makes].made, NULL, worker, (void *)(uintptr_t)t->makes);
    for (unsigned i = 0; i < t->count; i++)
        act(&t->action[i]);
    if (t->makes && me && pthread_join(text[t->makes].made, NULL) == 0)
        tell(text[t->makes].hash);
}

static void *worker(void *argument)
{
    me = (unsigned)(uintptr_t)argument;
    run();
    if (kinds & LEAVES && me % 2)
        pthread_exit((void *)(uintptr_t)(me + 20));
    return NULL;
}

/* The last that is known of a worker: of one that goes on, nothing. */
static void join(struct text *t, unsigned *hash)
{
    void *value = NULL;
    struct timespec when;
    int failed = EBUSY;
    if (kinds & LEAVES && t->count % 2)
        failed = pthread_tryjoin_np(t->made, &value);
    *hash = *hash * 3 + (unsigned)failed;
    if (failed && kinds & LEAVES && kinds & TIME) {
        when = soon(2);
        failed = pthread_timedjoin_np(t->made, &value, &when);
    } else if (failed) {
        failed = pthread_join(t->made, &value);
    }
    if (failed)
        pthread_detach(t->made);
    else
        *hash = *hash * 131 + t->hash + (value == PTHREAD_CANCELED ? 77 : (unsigned)(uintptr_t)value);
}

static void at_exit(void)
{
    bool free = pthread_mutex_trylock(&mutex[0]) == 0;
    if (free && out >= 0)
        dprintf(out, "exit %u\n", var[0]);
    else if (out >= 0)
        dprintf(out, "exit busy\n");
    if (free)
        pthread_mutex_unlock(&mutex[0]);
}

int main(int argc, char **argv)
{
    state = argc > 1 ? strtoull(argv[1], NULL, 0) : 0;
    kinds = argc > 2 ? strtoull(argv[2], NULL, 0) : LOCKS;
    const char *path = argc > 3 ? argv[3] : "/dev/stdout";
    out = strcmp(path, "-") ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : -1;
    unsigned workers = 2 + !draw(3), nested = kinds & MAKES ? draw(3) == 0 : 0;
    make_text(workers);
    if (nested)
        text[1].makes = workers;
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_barrier_init(&second, NULL, 3);
    clock_gettime(CLOCK_REALTIME, &began[0]);
    clock_gettime(CLOCK_MONOTONIC, &began[1]);
    if ((kinds & EVENTS && (event = eventfd(0, kinds & LOCKS ? EFD_SEMAPHORE : 0)) < 0) ||
        (kinds & PIPES && pipe(ends)))
        return 1;
    for (unsigned i = 0; i < THINGS; i++)
        sem_init(&sem[i], 0, draw(2));
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    pthread_key_create(&key, destroy);
    if (kinds & ROBUSTS)
        make_robust();
    if (kinds & EXITS)
        atexit(at_exit);
    unsigned mine = workers - nested;
    for (unsigned i = 1; i <= mine; i++)
        pthread_create(&text[i].made, NULL, worker, (void *)(uintptr_t)i);
    run();
    if (kinds & CANCELS)
        pthread_cancel(text[1].made);
    unsigned hash = text[0].hash;
    for (unsigned i = 1; i <= mine; i++) {
        if (text[i].joined)
            join(&text[i], &hash);
    }
    hash = (hash * 131 + bare[0]) * 131 + bare[1];
    if (out < 0)
        return 1 + (int)(hash % 100);
    dprintf(out, "%u\n", hash);
    return 0;
}
