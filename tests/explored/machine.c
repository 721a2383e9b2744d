/* machine NUMBER KINDS FILE: the random program of this number, made of these kinds of actions (the bits of enum kind), by real threads. It
 * writes a line to the end of the file, which hangs on everything that its threads could tell of the schedule: so two behaviours are two lines. Variables are
 * used with their mutex held, so there are no data races. tests/explored/run compares what `pct explore` and random schedules find. */
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum kind {
    LOCKS = 1,
    CONDS = 2,
    SEMS = 4,
    RWLOCKS = 8,
    BARRIERS = 16,
    ONCES = 32,
    TIME = 64,
    HEAP = 128,
    RANDOM = 256,
    MAKES = 512,
    EXITS = 1024
};

enum { THINGS = 2, WORKERS = 3, ACTIONS = 4 };

static pthread_mutex_t mutex[THINGS] = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER };
static pthread_cond_t cond[THINGS] = { PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER };
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static sem_t sem[THINGS];
static unsigned var[THINGS], under_rwlock;
static uint64_t kinds;
static __thread unsigned me;
static int out;

/* The program's text: drawn before it begins, so that nothing of it hangs on the schedule. */
struct action {
    enum kind kind;
    unsigned what, thing, inner, more;
};
static struct text {
    pthread_t made;
    unsigned count, makes, hash, joined;
    struct action action[ACTIONS];
} text[WORKERS + 1];

static uint64_t state;
static unsigned draw(unsigned bound)
{
    state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = state;
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (unsigned)((z ^ z >> 31) % bound);
}

static void tell(unsigned value)
{
    text[me].hash = text[me].hash * 31 + value + 1;
}

static struct timespec soon(unsigned milliseconds)
{
    struct timespec when;
    clock_gettime(CLOCK_REALTIME, &when);
    when.tv_nsec += (long)milliseconds * 1000000;
    when.tv_sec += when.tv_nsec / 1000000000;
    when.tv_nsec %= 1000000000;
    return when;
}

static void use(unsigned thing)
{
    tell(var[thing]);
    var[thing] = var[thing] * 5 + me + 1;
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

static void conds(const struct action *a)
{
    struct timespec when = { 0 };
    pthread_mutex_lock(&mutex[a->thing]);
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

/* A lock of its own, which another thread may find in a list: where it stands hangs on who has allocated what. */
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
    case RANDOM:
        tell((unsigned)rand() % 16); /* the same in each run, but for who gets which */
        break;
    default:
        break;
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
    return NULL;
}

static void at_exit(void)
{
    if (pthread_mutex_trylock(&mutex[0]) == 0) {
        dprintf(out, "exit %u\n", var[0]);
        pthread_mutex_unlock(&mutex[0]);
    } else {
        dprintf(out, "exit busy\n");
    }
}

static void make_text(unsigned workers)
{
    static const enum kind all[] = { LOCKS, CONDS, SEMS, RWLOCKS, BARRIERS, ONCES, TIME, HEAP, RANDOM };
    enum { KINDS = sizeof all / sizeof *all };
    /* Of the kinds, a few: programs of one kind have more to say about it. */
    uint64_t chosen = kinds;
    while (draw(2) && !(chosen & (chosen - 1) & (MAKES - 1)))
        chosen = kinds;
    for (unsigned t = 0; t <= workers; t++) {
        text[t].count = t ? 1 + draw(ACTIONS - (workers == 3)) : draw(2);
        text[t].joined = draw(4) || !(kinds & EXITS);
        for (unsigned i = 0; i < text[t].count; i++) {
            struct action *a = &text[t].action[i];
            do
                a->kind = all[draw(KINDS)];
            while (!(a->kind & chosen) && (chosen & (MAKES - 1)));
            a->what = draw(64);
            a->thing = draw(3) == 0;
            a->inner = draw(2);
            a->more = draw(64);
        }
    }
}

int main(int argc, char **argv)
{
    state = argc > 1 ? strtoull(argv[1], NULL, 0) : 0;
    kinds = argc > 2 ? strtoull(argv[2], NULL, 0) : LOCKS;
    out = open(argc > 3 ? argv[3] : "/dev/stdout", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    unsigned workers = 2 + !draw(3), nested = kinds & MAKES ? draw(3) == 0 : 0;
    make_text(workers);
    if (nested)
        text[1].makes = workers;
    pthread_barrier_init(&barrier, NULL, 2);
    for (unsigned i = 0; i < THINGS; i++)
        sem_init(&sem[i], 0, draw(2));
    if (kinds & EXITS)
        atexit(at_exit);
    unsigned mine = workers - nested;
    for (unsigned i = 1; i <= mine; i++)
        pthread_create(&text[i].made, NULL, worker, (void *)(uintptr_t)i);
    run();
    unsigned hash = text[0].hash;
    for (unsigned i = 1; i <= mine; i++) {
        if (!text[i].joined)
            continue;
        pthread_join(text[i].made, NULL);
        hash = hash * 131 + text[i].hash;
    }
    dprintf(out, "%u\n", hash);
    return 0;
}
