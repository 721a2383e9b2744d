/* pthread_mutex_init: every type and protocol from attributes; static initialisers behave as their types. */
/* ops: MUTEX_INIT MUTEX_LOCK MUTEX_TRYLOCK MUTEX_UNLOCK MUTEX_DESTROY */
#define _GNU_SOURCE
#include "check.h"

static void *expect_busy(void *mutex)
{
    CHECK_RESULT(pthread_mutex_trylock(mutex), EBUSY);
    return NULL;
}

/* What tells the types apart: what its owner gets from trying again. */
static void check_type(pthread_mutex_t *mutex, int type, bool plain)
{
    CHECK_OK(pthread_mutex_lock(mutex));
    check_join(check_spawn(expect_busy, mutex));
    switch (type) {
    case PTHREAD_MUTEX_RECURSIVE:
        CHECK_OK(pthread_mutex_lock(mutex));
        CHECK_OK(pthread_mutex_trylock(mutex));
        CHECK_OK(pthread_mutex_unlock(mutex));
        CHECK_OK(pthread_mutex_unlock(mutex));
        break;
    case PTHREAD_MUTEX_ERRORCHECK:
        CHECK_RESULT(pthread_mutex_lock(mutex), EDEADLK);
        /* GLIBC: not POSIX's EBUSY if the mutex is robust or has a protocol. */
        CHECK_RESULT(pthread_mutex_trylock(mutex), plain ? EBUSY : EDEADLK);
        break;
    default:
        CHECK_RESULT(pthread_mutex_trylock(mutex), EBUSY);
        break;
    }
    check_join(check_spawn(expect_busy, mutex));
    CHECK_OK(pthread_mutex_unlock(mutex));
    if (type == PTHREAD_MUTEX_RECURSIVE || type == PTHREAD_MUTEX_ERRORCHECK)
        CHECK_RESULT(pthread_mutex_unlock(mutex), EPERM);
}

static pthread_mutex_t normal = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_mutex_t errorcheck = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static pthread_mutex_t adaptive = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;

int main(void)
{
    static const int types[] = { PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK,
                                 PTHREAD_MUTEX_ADAPTIVE_NP };
    pthread_mutex_t mutex;
    pthread_mutexattr_t attr;

    check_type(&normal, PTHREAD_MUTEX_NORMAL, true);
    check_type(&recursive, PTHREAD_MUTEX_RECURSIVE, true);
    check_type(&errorcheck, PTHREAD_MUTEX_ERRORCHECK, true);
    check_type(&adaptive, PTHREAD_MUTEX_ADAPTIVE_NP, true);
    CHECK_OK(pthread_mutex_destroy(&normal));

    CHECK_OK(pthread_mutex_init(&mutex, NULL));
    check_type(&mutex, PTHREAD_MUTEX_DEFAULT, true);
    CHECK_OK(pthread_mutex_destroy(&mutex));

    for (unsigned i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        for (int robust = 0; robust < 2; robust++) {
            for (int inherit = 0; inherit < 2; inherit++) {
                CHECK_EQ(pthread_mutexattr_init(&attr), 0);
                CHECK_EQ(pthread_mutexattr_settype(&attr, types[i]), 0);
                if (robust)
                    CHECK_EQ(pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST), 0);
                if (inherit)
                    CHECK_EQ(pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT), 0);
                CHECK_OK(pthread_mutex_init(&mutex, &attr));
                CHECK_EQ(pthread_mutexattr_destroy(&attr), 0);
                check_type(&mutex, types[i], !robust && !inherit);
                CHECK_OK(pthread_mutex_destroy(&mutex));
            }
        }
    }

    /* A priority ceiling is kept; locking such a mutex needs a real-time policy: see pthread_mutex_lock.c. */
    int ceiling = 0;
    CHECK_EQ(pthread_mutexattr_init(&attr), 0);
    CHECK_EQ(pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_PROTECT), 0);
    CHECK_EQ(pthread_mutexattr_setprioceiling(&attr, 5), 0);
    CHECK_OK(pthread_mutex_init(&mutex, &attr));
    CHECK_EQ(pthread_mutex_getprioceiling(&mutex, &ceiling), 0);
    CHECK_EQ(ceiling, 5);
    CHECK_OK(pthread_mutex_destroy(&mutex));
    /* Not implemented by glibc: robust and with a ceiling. */
    CHECK_EQ(pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST), 0);
    CHECK_RESULT(pthread_mutex_init(&mutex, &attr), ENOTSUP);
    CHECK_EQ(pthread_mutexattr_destroy(&attr), 0);
    return 0;
}
