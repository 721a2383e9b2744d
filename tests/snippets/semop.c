/* System V's semaphores: several operations at once, waits for 0, timeouts, removal, an interrupted wait. */
/* tests: semop semtimedop semctl semget */
/* ops: MESSAGE */
#define _GNU_SOURCE
#include "check.h"
#include "nag.h"
#include <sched.h>
#include <sys/ipc.h>
#include <sys/sem.h>

enum { ROUNDS = 20, FREE = 0, FULL = 1, GATE = 2, LOCK = 3 };

static int set, inside;

static int one(unsigned short number, short change)
{
    struct sembuf operation = { .sem_num = number, .sem_op = change };
    return semop(set, &operation, 1);
}

/* Takes from a buffer with room for two, both semaphores and a lock in one call. */
static void *consumer(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        struct sembuf take[] = { { FULL, -1, 0 }, { LOCK, -1, 0 } }, give[] = { { LOCK, 1, 0 }, { FREE, 1, 0 } };
        CHECK_OK(semop(set, take, 2));
        CHECK_EQ(inside++, 0);
        sched_yield();
        CHECK_EQ(--inside, 0);
        CHECK_OK(semop(set, give, 2));
    }
    return unused;
}

static void *await_zero(void *unused)
{
    CHECK_OK(one(GATE, 0));
    return unused;
}

static void *await_removal(void *unused)
{
    CHECK_FAILS(one(GATE, -1), EIDRM);
    return unused;
}

static void *interrupted(void *unused)
{
    struct nag nag;
    nag_start(&nag, SA_RESTART); /* no matter to System V's calls */
    CHECK_FAILS(one(GATE, -1), EINTR);
    nag_stop(&nag);
    return unused;
}

/* Until this many threads wait. */
static void await_waiters(int command, int count)
{
    while (semctl(set, GATE, command) < count)
        sched_yield();
    CHECK_EQ(semctl(set, GATE, command), count);
}

int main(void)
{
    pthread_t threads[2];
    unsigned short values[] = { 2, 0, 3, 1 };
    set = semget(IPC_PRIVATE, 4, 0600);
    CHECK(set >= 0);
    CHECK_OK(semctl(set, 0, SETALL, values));
    threads[0] = check_spawn(consumer, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        struct sembuf take[] = { { FREE, -1, 0 }, { LOCK, -1, 0 } }, give[] = { { LOCK, 1, 0 }, { FULL, 1, 0 } };
        CHECK_OK(semop(set, take, 2));
        CHECK_EQ(inside++, 0);
        sched_yield();
        CHECK_EQ(--inside, 0);
        CHECK_OK(semop(set, give, 2));
    }
    check_join(threads[0]);

    for (int i = 0; i < 2; i++)
        threads[i] = check_spawn(await_zero, NULL);
    await_waiters(GETZCNT, 2);
    CHECK_EQ(semctl(set, GATE, GETNCNT), 0);
    CHECK_OK(one(GATE, -2));
    CHECK_OK(one(GATE, -1));
    for (int i = 0; i < 2; i++)
        check_join(threads[i]);
    threads[0] = check_spawn(await_zero, NULL);
    CHECK_OK(semctl(set, GATE, SETVAL, 0));
    check_join(threads[0]);

    /* All or nothing: the second would wait, and must not. */
    struct sembuf both[] = { { LOCK, -1, 0 }, { GATE, -1, IPC_NOWAIT } };
    CHECK_FAILS(semop(set, both, 2), EAGAIN);
    CHECK_EQ(semctl(set, LOCK, GETVAL), 1);
    /* As often as there is: by the operations before it. */
    struct sembuf up_and_down[] = { { GATE, 2, 0 }, { GATE, -2, 0 }, { GATE, 0, 0 } };
    CHECK_OK(semop(set, up_and_down, 3));

    struct sembuf take = { .sem_num = GATE, .sem_op = -1 };
    struct timespec moment = { .tv_nsec = 20000000 }, wrong = { .tv_nsec = -1 };
    struct timespec soon = check_in_ms(CLOCK_MONOTONIC, 20);
    CHECK_FAILS(semtimedop(set, &take, 1, &moment), EAGAIN);
    CHECK(check_reached(CLOCK_MONOTONIC, &soon));
    CHECK_FAILS(semtimedop(set, &take, 1, &wrong), EINVAL);
    CHECK_FAILS(semop(set, &take, 0), EINVAL);
    CHECK_FAILS(one(77, -1), EFBIG);
    interrupted(NULL);

    threads[0] = check_spawn(await_removal, NULL);
    await_waiters(GETNCNT, 1);
    CHECK_OK(semctl(set, 0, IPC_RMID));
    check_join(threads[0]);
    CHECK_FAILS(semop(set, &take, 1), EINVAL);
    return 0;
}
