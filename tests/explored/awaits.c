/* Programs whose threads wait in loops on memory, for tests/explored/awaits: awaits PROGRAM [N]. With -DTWIN a thread
 * whose round made no progress waits for ever instead, by a call: what the loops are to be worth. Written for
 * pct-cc. */
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 4 };
static int n = 2;
static bool broken;

#ifdef TWIN
static sem_t never;
#define AGAIN sem_wait(&never)
#else
#define AGAIN
#endif

/* In a location of its own. */
static struct {
    _Alignas(8) _Atomic int threads;
    int unused;
} inside;
static void critical(void)
{
    assert(!inside.threads++);
    inside.threads--;
}

/* --- Locks -------------------------------------------------------------------------------------------------------- */

static _Atomic int flag[2], turn;
static void peterson(int me)
{
    int other = !me;
    if (broken) {
        turn = other;
        flag[me] = 1;
    } else {
        flag[me] = 1;
        turn = other;
    }
    while (flag[other] && turn == other)
        AGAIN;
    critical();
    flag[me] = 0;
}

static _Atomic int lock;
static void ttas(int me)
{
    (void)me;
    for (;;) {
        while (lock)
            AGAIN;
        if (broken) {
            lock = 1;
            break;
        }
        if (!atomic_exchange(&lock, 1))
            break;
        AGAIN;
    }
    critical();
    lock = 0;
}

/* What a round changes is the thread's own, and stands in memory: the top that it has seen. */
static struct node {
    struct node *next;
} nodes[MOST], *top;
static void push(int me)
{
    nodes[me].next = __atomic_load_n(&top, __ATOMIC_SEQ_CST);
    while (!__atomic_compare_exchange_n(&top, &nodes[me].next, &nodes[me], false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        ;
    __atomic_store_n(&top, nodes[me].next, __ATOMIC_SEQ_CST);
}

static void exchange(int me)
{
    (void)me;
    while (broken ? atomic_load(&lock) : atomic_exchange(&lock, 1))
        AGAIN;
    if (broken)
        lock = 1;
    critical();
    lock = 0;
}

/* What was found is put on the thread's own stack, and changed back there. */
static void compare(int me)
{
    (void)me;
    int found = 0;
    while (broken ? atomic_load(&lock) : !atomic_compare_exchange_strong(&lock, &found, 1)) {
        found = 0;
        AGAIN;
    }
    if (broken)
        lock = 1;
    critical();
    lock = 0;
}

static _Atomic unsigned tickets, serving;
static void ticket(int me)
{
    (void)me;
    unsigned mine = broken ? tickets : tickets++;
    if (broken)
        tickets = mine + 1;
    while (serving != mine)
        AGAIN;
    critical();
    serving = mine + 1;
}

/* --- Values ------------------------------------------------------------------------------------------------------- */

static _Atomic unsigned sequence;
static _Atomic int words[2];
static void seqlock(int me)
{
    unsigned before;
    int first, second;
    if (!me) {
        sequence++;
        words[0] = 1;
        words[1] = 1;
        sequence++;
        return;
    }
    for (;;) {
        before = sequence;
        if (before & 1) {
            AGAIN;
            continue;
        }
        first = words[0];
        second = words[1];
        if (broken || sequence == before)
            break;
    }
    assert(first == second);
}

/* It reads two places in a round, which change one after the other. */
static _Atomic int left, right;
static void both(int me)
{
    if (!me) {
        left = 0;
        right = 1;
        return;
    }
    while (left != 1 || right != 1)
        AGAIN;
    assert(!broken);
}

/* Plain accesses, and a yield in between. */
static int ready;
static void yields(int me)
{
    if (!me) {
        __atomic_store_n(&ready, 1, __ATOMIC_SEQ_CST);
        return;
    }
    while (!__atomic_load_n(&ready, __ATOMIC_SEQ_CST)) {
        sched_yield();
        AGAIN;
    }
    assert(!broken);
}

/* --- Loops that are not the same in each round -------------------------------------------------------------------- */

static void counts(int me)
{
    if (!me) {
        lock = 1;
        return;
    }
    for (int i = 0; !lock; i++)
        if (i == 3)
            assert(!broken);
}

static __attribute__((noinline)) void look(volatile int *rounds)
{
    while (!lock)
        if (++*rounds == 3)
            assert(!broken);
}

static void counts_on_stack(int me)
{
    volatile int rounds = 0;
    if (me)
        look(&rounds);
    else
        lock = 1;
}

static int rounds;
static void counts_in_memory(int me)
{
    if (!me) {
        lock = 1;
        return;
    }
    while (!lock)
        if (++rounds == 3)
            assert(!broken);
}

/* Another thread looks at what a round changes on the stack. */
static int *_Atomic seen;
static void peeks(int me)
{
    int found = 0;
    if (me) {
        int *there = seen;
        if (there)
            assert(*there < 2);
        lock = 0;
        return;
    }
    seen = &found;
    while (!atomic_compare_exchange_strong(&lock, &found, 1))
        found = 0;
}

/* A loop that counts its rounds, and ends by itself. */
static void gives_up(int me)
{
    int rounds = 0;
    if (me) {
        lock = 1;
        return;
    }
    while (rounds < 40 && !lock)
        rounds++;
    assert(!broken || rounds != 33);
}

/* It is written once nothing but time can go on. */
static void sleeps(int me)
{
    if (!me) {
        sleep(1);
        lock = 1;
        return;
    }
    while (!lock)
        AGAIN;
    assert(!broken);
}

/* main waits for it. */
static void first(int me)
{
    if (!me)
        lock = 1;
}

/* Nobody ever writes it. */
static void forever(int me)
{
    if (me)
        while (!lock)
            AGAIN;
}

static const struct {
    const char *name;
    void (*does)(int me);
} programs[] = { { "peterson", peterson },
                 { "ttas", ttas },
                 { "exchange", exchange },
                 { "push", push },
                 { "ticket", ticket },
                 { "seqlock", seqlock },
                 { "both", both },
                 { "yields", yields },
                 { "compare", compare },
                 { "peeks", peeks },
                 { "gives-up", gives_up },
                 { "counts", counts },
                 { "counts-on-stack", counts_on_stack },
                 { "counts-in-memory", counts_in_memory },
                 { "forever", forever },
                 { "sleeps", sleeps },
                 { "first", first } };

static void (*does)(int me);
static void *run(void *me)
{
    does((int)(long)me);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[MOST];
    for (unsigned i = 0; argc > 1 && i < sizeof programs / sizeof *programs; i++)
        if (!strcmp(argv[1], programs[i].name))
            does = programs[i].does;
    if (!does)
        return 2;
    n = argc > 2 ? atoi(argv[2]) : 2;
    broken = argc > 3;
    left = 1;
    lock = does == peeks;
#ifdef TWIN
    sem_init(&never, 0, 0);
#endif
    for (long i = 0; i < n; i++)
        pthread_create(&threads[i], NULL, run, (void *)i);
    while (does == first && !lock)
        AGAIN;
    assert(does != first || !broken);
    for (int i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
