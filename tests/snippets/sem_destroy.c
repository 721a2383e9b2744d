/* sem_destroy: by the thread that waited, at once; then the memory is gone, while the poster may not have left
 * sem_post. */
/* ops: SEM_DESTROY SEM_POST SEM_WAIT */
#define _GNU_SOURCE
#include "check.h"
#include <semaphore.h>
#include <stdlib.h>

static void *post(void *sem)
{
    CHECK_OK(sem_post(sem));
    return NULL;
}

int main(void)
{
    sem_t sem;
    CHECK_OK(sem_init(&sem, 0, 3));
    CHECK_OK(sem_destroy(&sem));
    for (int i = 0; i < 8; i++) {
        sem_t *own = malloc(sizeof(*own));
        CHECK(own != NULL);
        CHECK_OK(sem_init(own, 0, 0));
        pthread_t thread = check_spawn(post, own);
        CHECK_OK(sem_wait(own));
        CHECK_OK(sem_destroy(own));
        memset(own, 0xa5, sizeof(*own));
        free(own);
        check_join(thread);
    }
    return 0;
}
