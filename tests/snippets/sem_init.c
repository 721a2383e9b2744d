/* sem_init: the first value, and the largest. */
/* tests: sem_getvalue */
/* ops: SEM_INIT SEM_TRYWAIT SEM_DESTROY */
#define _GNU_SOURCE
#include "check.h"
#include <limits.h>
#include <semaphore.h>

int main(void)
{
    sem_t sem;
    for (unsigned value = 0; value < 4; value++) {
        int now = -1;
        CHECK_OK(sem_init(&sem, 0, value));
        CHECK_OK(sem_getvalue(&sem, &now));
        CHECK_EQ(now, value);
        for (unsigned i = 0; i < value; i++)
            CHECK_OK(sem_trywait(&sem));
        CHECK_FAILS(sem_trywait(&sem), EAGAIN);
        CHECK_OK(sem_destroy(&sem));
    }
    CHECK_OK(sem_init(&sem, 0, SEM_VALUE_MAX));
    CHECK_OK(sem_trywait(&sem));
    CHECK_OK(sem_destroy(&sem));
    CHECK_FAILS(sem_init(&sem, 0, (unsigned)SEM_VALUE_MAX + 1), EINVAL);
    return 0;
}
