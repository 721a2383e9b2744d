/* sem_open, sem_close: named semaphores, by name and by address, and every error. */
/* tests: sem_open sem_close */
/* ops: SEM_WAIT SEM_POST SEM_TRYWAIT */
#define _GNU_SOURCE
#include "check.h"
#include <fcntl.h>
#include <limits.h>
#include <semaphore.h>

static char name[64];

static void *post(void *sem)
{
    CHECK_OK(sem_post(sem));
    return NULL;
}

int main(void)
{
    snprintf(name, sizeof(name), "/snippet-%d", (int)getpid());

    errno = 0;
    CHECK(sem_open(name, 0) == SEM_FAILED);
    CHECK_EQ(errno, ENOENT);
    errno = 0;
    CHECK(sem_open(name, O_CREAT, 0600, (unsigned)SEM_VALUE_MAX + 1) == SEM_FAILED);
    CHECK_EQ(errno, EINVAL);
    errno = 0;
    CHECK(sem_open("/", O_CREAT, 0600, 0) == SEM_FAILED);
    CHECK_EQ(errno, EINVAL);
    char long_name[NAME_MAX + 8];
    memset(long_name, 'x', sizeof(long_name) - 1);
    long_name[0] = '/';
    long_name[sizeof(long_name) - 1] = 0;
    errno = 0;
    CHECK(sem_open(long_name, O_CREAT, 0600, 0) == SEM_FAILED);
    CHECK(errno == EINVAL || errno == ENAMETOOLONG); /* GLIBC: the first before 2.38 */

    sem_t *sem = sem_open(name, O_CREAT | O_EXCL, 0600, 2);
    CHECK(sem != SEM_FAILED);
    errno = 0;
    CHECK(sem_open(name, O_CREAT | O_EXCL, 0600, 2) == SEM_FAILED);
    CHECK_EQ(errno, EEXIST);
    /* The same semaphore at the same address, its value untouched. */
    CHECK(sem_open(name, O_CREAT, 0600, 7) == sem);
    CHECK(sem_open(name, 0) == sem);
    CHECK_OK(sem_wait(sem));
    CHECK_OK(sem_trywait(sem));
    CHECK_FAILS(sem_trywait(sem), EAGAIN);
    CHECK_OK(sem_close(sem));
    CHECK_OK(sem_close(sem)); /* opened three times: still there */

    pthread_t thread = check_spawn(post, sem);
    CHECK_OK(sem_wait(sem));
    check_join(thread);

    CHECK_OK(sem_unlink(name));
    CHECK_FAILS(sem_unlink(name), ENOENT);
    CHECK_OK(sem_post(sem)); /* lives until it is closed */
    CHECK_OK(sem_wait(sem));
    CHECK_OK(sem_close(sem));
    sem_t unnamed;
    CHECK_OK(sem_init(&unnamed, 0, 0));
    CHECK_FAILS(sem_close(&unnamed), EINVAL);
    CHECK_OK(sem_destroy(&unnamed));
    return 0;
}
