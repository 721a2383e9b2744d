/* sem_trywait: EAGAIN and no waiting. */
/* ops: SEM_TRYWAIT */
#define _GNU_SOURCE
#include "check.h"
#include <sched.h>
#include <semaphore.h>

enum { THREADS = 3, ROUNDS = 8 };

static sem_t sem;
static int counter;

static void *count(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        while (sem_trywait(&sem) != 0) {
            CHECK_EQ(errno, EAGAIN);
            sched_yield();
        }
        counter++; /* the semaphore's value is never above 1 */
        CHECK_OK(sem_post(&sem));
    }
    return unused;
}

/* Nothing but the try lets the poster run. */
static void *spin(void *unused)
{
    while (sem_trywait(&sem) != 0)
        ;
    return unused;
}

int main(void)
{
    pthread_t threads[THREADS];
    int value = -1;
    CHECK_OK(sem_init(&sem, 0, 1));
    CHECK_OK(sem_trywait(&sem));
    CHECK_FAILS(sem_trywait(&sem), EAGAIN);
    CHECK_OK(sem_getvalue(&sem, &value));
    CHECK_EQ(value, 0);
    threads[0] = check_spawn(spin, NULL);
    CHECK_OK(sem_post(&sem));
    check_join(threads[0]);
    CHECK_OK(sem_post(&sem));
    for (int i = 0; i < THREADS; i++)
        threads[i] = check_spawn(count, NULL);
    for (int i = 0; i < THREADS; i++)
        check_join(threads[i]);
    CHECK_EQ(counter, THREADS * ROUNDS);
    return 0;
}
