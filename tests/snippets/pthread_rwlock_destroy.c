/* pthread_rwlock_destroy: by the last holder, at once after its unlock, and the memory is gone. */
/* ops: RWLOCK_DESTROY */
#define _GNU_SOURCE
#include "check.h"
#include <stdlib.h>

struct counted {
    pthread_rwlock_t lock;
    int references;
};

static void *drop(void *object)
{
    struct counted *counted = object;
    CHECK_OK(pthread_rwlock_rdlock(&counted->lock));
    CHECK(counted->references > 0);
    CHECK_OK(pthread_rwlock_unlock(&counted->lock));
    CHECK_OK(pthread_rwlock_wrlock(&counted->lock));
    bool last = --counted->references == 0;
    CHECK_OK(pthread_rwlock_unlock(&counted->lock));
    if (last) {
        CHECK_OK(pthread_rwlock_destroy(&counted->lock));
        memset(counted, 0xa5, sizeof(*counted));
        free(counted);
    }
    return NULL;
}

int main(void)
{
    static pthread_rwlock_t fixed = PTHREAD_RWLOCK_INITIALIZER;
    CHECK_OK(pthread_rwlock_destroy(&fixed)); /* never used */
    CHECK_OK(pthread_rwlock_init(&fixed, NULL));
    CHECK_OK(pthread_rwlock_wrlock(&fixed));
    CHECK_OK(pthread_rwlock_unlock(&fixed));
    CHECK_OK(pthread_rwlock_destroy(&fixed));

    for (int round = 0; round < 4; round++) {
        struct counted *counted = malloc(sizeof(*counted));
        CHECK(counted != NULL);
        CHECK_OK(pthread_rwlock_init(&counted->lock, NULL));
        counted->references = 4;
        pthread_t threads[4];
        for (int i = 0; i < 4; i++)
            threads[i] = check_spawn(drop, counted);
        for (int i = 0; i < 4; i++)
            check_join(threads[i]);
    }
    return 0;
}
