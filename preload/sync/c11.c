/* C11 threads. libc's own call its internal names, so they get rows of their own; here each is the POSIX function with
 * C11's results. GLIBC: mtx_t, cnd_t and once_flag are pthread_mutex_t, pthread_cond_t and pthread_once_t inside. */
#include <preload/core/real.h>
#include "once.h"
#include <preload/thread/thread.h>
#include <errno.h>

static int result(int error)
{
    switch (error) {
    case 0:
        return thrd_success;
    case ENOMEM:
        return thrd_nomem;
    case ETIMEDOUT:
        return thrd_timedout;
    case EBUSY:
        return thrd_busy;
    default:
        return thrd_error;
    }
}

/* The wrappers of the POSIX functions, within this library. */
#define MUTEX(m) ((pthread_mutex_t *)(m))
#define COND(c) ((pthread_cond_t *)(c))

PCT_EXPORT int thrd_create(thrd_t *thread, thrd_start_t function, void *argument)
{
    int error = pct_thread_create(thread, NULL, (void *(*)(void *))(void *)function, argument, true);
    return error == EAGAIN ? thrd_nomem : result(error);
}

PCT_EXPORT int thrd_join(thrd_t thread, int *value)
{
    void *returned;
    int error = pthread_join(thread, &returned);
    if (!error && value)
        *value = (int)(intptr_t)returned;
    return result(error);
}

PCT_EXPORT int thrd_detach(thrd_t thread)
{
    return result(pthread_detach(thread));
}

PCT_EXPORT void thrd_exit(int value)
{
    pthread_exit((void *)(intptr_t)value);
}

PCT_EXPORT void thrd_yield(void)
{
    sched_yield();
}

PCT_EXPORT int thrd_sleep(const struct timespec *duration, struct timespec *left)
{
    int error = clock_nanosleep(CLOCK_REALTIME, 0, duration, left);
    return error == EINTR ? -1 : error ? -2 : 0;
}

/* GLIBC: 2.36, at least, takes any type that it does not know for mtx_plain. Libc says whether it still does. */
static bool takes(int type)
{
    mtx_t mutex;
    if (REAL(mtx_init)(&mutex, type) != thrd_success)
        return false;
    REAL(mtx_destroy)(&mutex);
    return true;
}

PCT_EXPORT int mtx_init(mtx_t *mutex, int type)
{
    pthread_mutexattr_t attr;
    const bool recursive = (type & ~mtx_timed) == mtx_recursive;
    if (type & ~(mtx_timed | mtx_recursive) && !takes(type))
        return thrd_error;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_settype(&attr, recursive ? PTHREAD_MUTEX_RECURSIVE : PTHREAD_MUTEX_NORMAL);
    return result(pthread_mutex_init(MUTEX(mutex), &attr));
}

PCT_EXPORT void mtx_destroy(mtx_t *mutex)
{
    pthread_mutex_destroy(MUTEX(mutex));
}

PCT_EXPORT int mtx_lock(mtx_t *mutex)
{
    return result(pthread_mutex_lock(MUTEX(mutex)));
}

PCT_EXPORT int mtx_trylock(mtx_t *mutex)
{
    return result(pthread_mutex_trylock(MUTEX(mutex)));
}

PCT_EXPORT int mtx_timedlock(mtx_t *mutex, const struct timespec *when)
{
    return result(pthread_mutex_timedlock(MUTEX(mutex), when));
}

PCT_EXPORT int mtx_unlock(mtx_t *mutex)
{
    return result(pthread_mutex_unlock(MUTEX(mutex)));
}

PCT_EXPORT int cnd_init(cnd_t *cond)
{
    return result(pthread_cond_init(COND(cond), NULL));
}

PCT_EXPORT void cnd_destroy(cnd_t *cond)
{
    pthread_cond_destroy(COND(cond));
}

PCT_EXPORT int cnd_wait(cnd_t *cond, mtx_t *mutex)
{
    return result(pthread_cond_wait(COND(cond), MUTEX(mutex)));
}

PCT_EXPORT int cnd_timedwait(cnd_t *cond, mtx_t *mutex, const struct timespec *when)
{
    return result(pthread_cond_timedwait(COND(cond), MUTEX(mutex), when));
}

PCT_EXPORT int cnd_signal(cnd_t *cond)
{
    return result(pthread_cond_signal(COND(cond)));
}

PCT_EXPORT int cnd_broadcast(cnd_t *cond)
{
    return result(pthread_cond_broadcast(COND(cond)));
}

static int real_call_once(pthread_once_t *control, void (*routine)(void))
{
    REAL(call_once)((once_flag *)control, routine);
    return 0;
}

PCT_EXPORT void call_once(once_flag *flag, void (*routine)(void))
{
    pct_once((pthread_once_t *)flag, routine, real_call_once);
}
