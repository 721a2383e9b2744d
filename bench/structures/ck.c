/* Concurrency Kit's structures (Debian's libck-dev), for `pct explore`: ck STRUCTURE THREADS. Built by
 * bench/structures/run, with the compiler's atomic operations in place of inline assembly (CK_USE_CC_BUILTINS), which
 * pct-cc does not see into. */
#include <assert.h>
#include <ck_fifo.h>
#include <ck_ring.h>
#include <ck_spinlock.h>
#include <ck_stack.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4 };
static int n;

/* A counter in a critical section. */
static int count;
static ck_spinlock_fas_t fas = CK_SPINLOCK_FAS_INITIALIZER;
static ck_spinlock_cas_t cas = CK_SPINLOCK_CAS_INITIALIZER;
static ck_spinlock_ticket_t ticket = CK_SPINLOCK_TICKET_INITIALIZER;
static ck_spinlock_mcs_t mcs;
static void lock_fas(int me)
{
    (void)me;
    ck_spinlock_fas_lock(&fas);
    count++;
    ck_spinlock_fas_unlock(&fas);
}

static void lock_cas(int me)
{
    (void)me;
    ck_spinlock_cas_lock(&cas);
    count++;
    ck_spinlock_cas_unlock(&cas);
}

static void lock_ticket(int me)
{
    (void)me;
    ck_spinlock_ticket_lock(&ticket);
    count++;
    ck_spinlock_ticket_unlock(&ticket);
}

static void lock_mcs(int me)
{
    static ck_spinlock_mcs_context_t nodes[MOST];
    ck_spinlock_mcs_lock(&mcs, &nodes[me]);
    count++;
    ck_spinlock_mcs_unlock(&mcs, &nodes[me]);
}

static void check_count(void)
{
    assert(count == n);
}

/* Thread 0 puts in what the others have to get, each once. */
static int got[MOST];
static ck_ring_t ring;
static ck_ring_buffer_t buffer[4];
static int values[MOST];
static void ring_spmc(int me)
{
    void *value;
    if (!me)
        for (int i = 1; i < n; i++)
            assert(ck_ring_enqueue_spmc(&ring, buffer, &values[i]));
    else if (ck_ring_dequeue_spmc(&ring, buffer, &value))
        __atomic_fetch_add(&got[(int *)value - values], 1, __ATOMIC_SEQ_CST);
}

static ck_stack_t stack = CK_STACK_INITIALIZER;
static ck_stack_entry_t entries[MOST];
static void stack_upmc(int me)
{
    ck_stack_push_upmc(&stack, &entries[me]);
    const ck_stack_entry_t *entry = ck_stack_pop_upmc(&stack);
    assert(entry);
    __atomic_fetch_add(&got[entry - entries], 1, __ATOMIC_SEQ_CST);
}

static void check_at_most_once(void)
{
    for (int i = 0; i < n; i++)
        assert(got[i] <= 1);
}

static const struct {
    const char *name;
    void (*does)(int me);
    void (*check)(void);
} structures[] = { { "spinlock-fas", lock_fas, check_count },       { "spinlock-cas", lock_cas, check_count },
                   { "spinlock-ticket", lock_ticket, check_count }, { "spinlock-mcs", lock_mcs, check_count },
                   { "ring-spmc", ring_spmc, check_at_most_once },  { "stack-upmc", stack_upmc, check_at_most_once } };
static unsigned which;

static void *run(void *me)
{
    structures[which].does((int)(long)me);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[MOST];
    n = argc > 2 ? atoi(argv[2]) : 2;
    while (argc > 1 && which < sizeof structures / sizeof *structures && strcmp(argv[1], structures[which].name))
        which++;
    if (argc < 2 || which == sizeof structures / sizeof *structures || n < 2 || n > MOST)
        return 2;
    ck_ring_init(&ring, 4);
    for (long i = 0; i < n; i++)
        pthread_create(&threads[i], NULL, run, (void *)i);
    for (int i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    structures[which].check();
    return 0;
}
