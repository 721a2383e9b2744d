/* Futexes in memory that a parent and its child share: waiting, waking, moving those who wait. */
/* tests: syscall */
/* ops: FUTEX_WAKE */
/* outside: when the child takes and gives is not a matter of this schedule */
#define _GNU_SOURCE
#include "check.h"
#include "child.h"
#include <linux/futex.h>
#include <sys/syscall.h>

enum { ROUNDS = 50, WAITERS = 3 };

struct shared {
    uint32_t turn;
    uint32_t gate, hall; /* threads that wait at the gate are moved to the hall */
    uint32_t arrived, through;
};

static long futex(uint32_t *word, int op, uint32_t value, uintptr_t other, uint32_t *second, uint32_t third)
{
    return syscall(SYS_futex, word, op, value, other, second, third);
}

static void take_turns(struct shared *shared, uint32_t me)
{
    for (int i = 0; i < ROUNDS; i++) {
        uint32_t now;
        while ((now = __atomic_load_n(&shared->turn, __ATOMIC_ACQUIRE)) % 2 != me)
            futex(&shared->turn, FUTEX_WAIT, now, 0, NULL, 0);
        __atomic_store_n(&shared->turn, now + 1, __ATOMIC_RELEASE);
        CHECK(futex(&shared->turn, FUTEX_WAKE, 1, 0, NULL, 0) >= 0);
    }
}

static void *pass_gate(void *object)
{
    struct shared *shared = object;
    __atomic_fetch_add(&shared->arrived, 1, __ATOMIC_SEQ_CST);
    CHECK_EQ(futex(&shared->gate, FUTEX_WAIT, 0, 0, NULL, 0), 0);
    __atomic_fetch_add(&shared->through, 1, __ATOMIC_SEQ_CST);
    return NULL;
}

static void child_part(void *object)
{
    pthread_t threads[WAITERS];
    take_turns(object, 1);
    for (int i = 0; i < WAITERS; i++)
        threads[i] = check_spawn(pass_gate, object);
    for (int i = 0; i < WAITERS; i++)
        check_join(threads[i]);
    _exit(0);
}

int main(void)
{
    struct shared *shared = child_shared(sizeof *shared);
    struct timespec pause = { .tv_nsec = 1000000 };
    long moved = 0;
    pid_t child = child_start(child_part, shared);
    take_turns(shared, 0);
    CHECK_FAILS(futex(&shared->gate, FUTEX_CMP_REQUEUE, 0, WAITERS, &shared->hall, 1), EAGAIN);
    /* Threads of the child come to the gate; nobody is woken there, so all of them can be moved. */
    while (moved < WAITERS) {
        long more = futex(&shared->gate, FUTEX_CMP_REQUEUE, 0, WAITERS, &shared->hall, 0);
        CHECK(more >= 0);
        moved += more;
        nanosleep(&pause, NULL);
    }
    CHECK_EQ(__atomic_load_n(&shared->through, __ATOMIC_SEQ_CST), 0);
    CHECK_EQ(futex(&shared->gate, FUTEX_WAKE, WAITERS, 0, NULL, 0), 0);
    CHECK_EQ(futex(&shared->hall, FUTEX_WAKE, WAITERS, 0, NULL, 0), WAITERS);
    CHECK_EXITED(child_wait(child), 0);
    CHECK_EQ(shared->through, WAITERS);
    return 0;
}
