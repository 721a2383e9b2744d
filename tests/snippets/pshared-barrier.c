/* Process-shared barriers between a parent, its threads and a child. */
/* tests: pthread_barrier_init pthread_barrier_wait pthread_barrier_destroy */
/* outside: when the child takes and gives is not a matter of this schedule */
#define _GNU_SOURCE
#include "check.h"
#include "child.h"

enum { PARTIES = 3, ROUNDS = 8 };

struct shared {
    pthread_barrier_t barrier;
    int arrived[ROUNDS];
    int serial[ROUNDS];
};

static void *meet(void *object)
{
    struct shared *shared = object;
    for (int i = 0; i < ROUNDS; i++) {
        __atomic_fetch_add(&shared->arrived[i], 1, __ATOMIC_RELAXED);
        int result = pthread_barrier_wait(&shared->barrier);
        CHECK_EQ(__atomic_load_n(&shared->arrived[i], __ATOMIC_RELAXED), PARTIES);
        if (result == PTHREAD_BARRIER_SERIAL_THREAD)
            __atomic_fetch_add(&shared->serial[i], 1, __ATOMIC_RELAXED);
        else
            CHECK_EQ(result, 0);
    }
    return NULL;
}

static void child_part(void *shared)
{
    meet(shared);
    _exit(0);
}

int main(void)
{
    struct shared *shared = child_shared(sizeof(*shared));
    pthread_barrierattr_t attr;
    CHECK_EQ(pthread_barrierattr_init(&attr), 0);
    CHECK_EQ(pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED), 0);
    CHECK_OK(pthread_barrier_init(&shared->barrier, &attr, PARTIES));
    pid_t child = child_start(child_part, shared);
    pthread_t thread = check_spawn(meet, shared);
    meet(shared);
    check_join(thread);
    CHECK_EXITED(child_wait(child), 0);
    for (int i = 0; i < ROUNDS; i++)
        CHECK_EQ(shared->serial[i], 1);
    CHECK_OK(pthread_barrier_destroy(&shared->barrier));
    return 0;
}
