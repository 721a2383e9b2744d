/* pthread_rwlock_init: from attributes of each kind, and the static initialisers; memory can be used again. */
/* ops: RWLOCK_INIT RWLOCK_RDLOCK RWLOCK_WRLOCK RWLOCK_UNLOCK RWLOCK_DESTROY */
#define _GNU_SOURCE
#include "check.h"

static void *expect_readable(void *lock)
{
    CHECK_RESULT(pthread_rwlock_trywrlock(lock), EBUSY);
    CHECK_OK(pthread_rwlock_tryrdlock(lock));
    CHECK_OK(pthread_rwlock_unlock(lock));
    return NULL;
}

static void *expect_locked(void *lock)
{
    CHECK_RESULT(pthread_rwlock_tryrdlock(lock), EBUSY);
    CHECK_RESULT(pthread_rwlock_trywrlock(lock), EBUSY);
    return NULL;
}

static void check_lock(pthread_rwlock_t *lock)
{
    CHECK_OK(pthread_rwlock_rdlock(lock));
    CHECK_OK(pthread_rwlock_rdlock(lock)); /* readers may come in again */
    check_join(check_spawn(expect_readable, lock));
    CHECK_OK(pthread_rwlock_unlock(lock));
    check_join(check_spawn(expect_readable, lock));
    CHECK_OK(pthread_rwlock_unlock(lock));
    CHECK_OK(pthread_rwlock_wrlock(lock));
    check_join(check_spawn(expect_locked, lock));
    CHECK_OK(pthread_rwlock_unlock(lock));
}

int main(void)
{
    static pthread_rwlock_t fixed = PTHREAD_RWLOCK_INITIALIZER;
    static pthread_rwlock_t writers_first = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
    static const int kinds[] = { PTHREAD_RWLOCK_PREFER_READER_NP, PTHREAD_RWLOCK_PREFER_WRITER_NP,
                                 PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP };
    pthread_rwlock_t lock;
    check_lock(&fixed);
    check_lock(&writers_first);
    CHECK_OK(pthread_rwlock_destroy(&fixed));

    CHECK_OK(pthread_rwlock_init(&lock, NULL));
    check_lock(&lock);
    CHECK_OK(pthread_rwlock_destroy(&lock));
    for (int i = 0; i < 3; i++) {
        pthread_rwlockattr_t attr;
        CHECK_EQ(pthread_rwlockattr_init(&attr), 0);
        CHECK_EQ(pthread_rwlockattr_setkind_np(&attr, kinds[i]), 0);
        CHECK_OK(pthread_rwlock_init(&lock, &attr));
        CHECK_EQ(pthread_rwlockattr_destroy(&attr), 0);
        check_lock(&lock);
        CHECK_OK(pthread_rwlock_destroy(&lock));
    }
    return 0;
}
