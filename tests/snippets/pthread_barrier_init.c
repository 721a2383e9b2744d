/* pthread_barrier_init: refuses a count of 0 and one beyond what it can count; memory can be used again. */
/* ops: BARRIER_INIT BARRIER_DESTROY */
#define _GNU_SOURCE
#include "check.h"
#include <limits.h>

static pthread_barrier_t barrier;

static void *meet(void *unused)
{
    int result = pthread_barrier_wait(&barrier);
    CHECK(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
    return unused;
}

int main(void)
{
    pthread_t threads[5];
    CHECK_RESULT(pthread_barrier_init(&barrier, NULL, 0), EINVAL);
    CHECK_RESULT(pthread_barrier_init(&barrier, NULL, UINT_MAX), EINVAL);
    for (unsigned count = 1; count <= 5; count++) {
        CHECK_OK(pthread_barrier_init(&barrier, NULL, count));
        for (unsigned i = 0; i < count; i++)
            threads[i] = check_spawn(meet, NULL);
        for (unsigned i = 0; i < count; i++)
            check_join(threads[i]);
        CHECK_OK(pthread_barrier_destroy(&barrier));
    }
    pthread_barrierattr_t attr;
    CHECK_EQ(pthread_barrierattr_init(&attr), 0);
    CHECK_OK(pthread_barrier_init(&barrier, &attr, 1));
    CHECK_EQ(pthread_barrierattr_destroy(&attr), 0);
    meet(NULL);
    CHECK_OK(pthread_barrier_destroy(&barrier));
    return 0;
}
