/* pthread_cond_destroy: right after a broadcast, while those that were woken still leave; then the memory is gone. */
/* ops: COND_DESTROY COND_BROADCAST */
#define _GNU_SOURCE
#include "check.h"
#include <stdlib.h>

enum { WAITERS = 4, ROUNDS = 4 };

struct element {
    pthread_cond_t removed;
    char data[64];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t waiting = PTHREAD_COND_INITIALIZER;
static struct element *element;
static int waiters, told;

static void *wait_for_removal(void *unused)
{
    CHECK_OK(pthread_mutex_lock(&lock));
    waiters++;
    CHECK_OK(pthread_cond_signal(&waiting));
    struct element *mine = element;
    while (element == mine) /* compares addresses: when the wait returns, the element may be freed */
        CHECK_OK(pthread_cond_wait(&mine->removed, &lock));
    told++;
    CHECK_OK(pthread_mutex_unlock(&lock));
    return unused;
}

int main(void)
{
    static pthread_cond_t fixed = PTHREAD_COND_INITIALIZER;
    CHECK_OK(pthread_cond_destroy(&fixed)); /* never used */
    CHECK_OK(pthread_cond_init(&fixed, NULL));
    CHECK_OK(pthread_cond_signal(&fixed));
    CHECK_OK(pthread_cond_destroy(&fixed));

    for (int round = 0; round < ROUNDS; round++) {
        pthread_t threads[WAITERS];
        CHECK_OK(pthread_mutex_lock(&lock));
        element = calloc(1, sizeof(*element));
        CHECK(element != NULL);
        CHECK_OK(pthread_cond_init(&element->removed, NULL));
        waiters = told = 0;
        for (int i = 0; i < WAITERS; i++)
            threads[i] = check_spawn(wait_for_removal, NULL);
        while (waiters < WAITERS)
            CHECK_OK(pthread_cond_wait(&waiting, &lock));

        /* POSIX's example: nobody is blocked any more once the broadcast was made, so destroying is allowed, with the
         * mutex or without. */
        struct element *old = element;
        element = NULL;
        CHECK_OK(pthread_cond_broadcast(&old->removed));
        if (round % 2)
            CHECK_OK(pthread_mutex_unlock(&lock));
        CHECK_OK(pthread_cond_destroy(&old->removed));
        memset(old, 0xa5, sizeof(*old));
        free(old);
        if (round % 2 == 0)
            CHECK_OK(pthread_mutex_unlock(&lock));
        for (int i = 0; i < WAITERS; i++)
            check_join(threads[i]);
        CHECK_EQ(told, WAITERS);
    }
    return 0;
}
