/* pthread_rwlock_tryrdlock: succeeds beside readers, EBUSY beside a writer, and behind one that is preferred. */
/* ops: RWLOCK_TRYRDLOCK */
#define _GNU_SOURCE
#include "check.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static void *expect(void *error)
{
    CHECK_RESULT(pthread_rwlock_tryrdlock(&lock), *(int *)error);
    if (*(int *)error == 0)
        CHECK_OK(pthread_rwlock_unlock(&lock));
    return NULL;
}

static int acquired;

/* Nothing but the try lets the writer go on. */
static void *spin(void *unused)
{
    while (pthread_rwlock_tryrdlock(&lock) != 0)
        ;
    acquired++;
    CHECK_OK(pthread_rwlock_unlock(&lock));
    return unused;
}

static pthread_rwlock_t fair = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;

static void *write_once(void *unused)
{
    CHECK_OK(pthread_rwlock_wrlock(&fair));
    CHECK_OK(pthread_rwlock_unlock(&fair));
    return unused;
}

/* Where writers go first, one that waits keeps new readers out, although readers have the lock. */
static void behind_writer(void)
{
    CHECK_OK(pthread_rwlock_rdlock(&fair));
    pthread_t writer = check_spawn(write_once, NULL);
    int error;
    while ((error = pthread_rwlock_tryrdlock(&fair)) == 0) {
        CHECK_OK(pthread_rwlock_unlock(&fair));
        usleep(1000);
    }
    CHECK_EQ(error, EBUSY);
    CHECK_OK(pthread_rwlock_unlock(&fair));
    check_join(writer);
    CHECK_OK(pthread_rwlock_tryrdlock(&fair));
    CHECK_OK(pthread_rwlock_unlock(&fair));
}

int main(void)
{
    behind_writer();
    int ok = 0, busy = EBUSY;
    CHECK_OK(pthread_rwlock_tryrdlock(&lock));
    CHECK_OK(pthread_rwlock_tryrdlock(&lock));
    check_join(check_spawn(expect, &ok));
    CHECK_OK(pthread_rwlock_unlock(&lock));
    CHECK_OK(pthread_rwlock_unlock(&lock));

    CHECK_OK(pthread_rwlock_wrlock(&lock));
    CHECK_RESULT(pthread_rwlock_tryrdlock(&lock), EBUSY);
    check_join(check_spawn(expect, &busy));
    pthread_t thread = check_spawn(spin, NULL);
    CHECK_EQ(acquired, 0);
    CHECK_OK(pthread_rwlock_unlock(&lock));
    check_join(thread);
    CHECK_EQ(acquired, 1);
    return 0;
}
