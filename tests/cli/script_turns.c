/* Two threads that come through sections 1,200 times each, and then take two locks and end with them. */
#include <pthread.h>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;

static void *take(void *own)
{
    for (int i = 0; i < 1200; i++) {
        pthread_mutex_lock(&first);
        pthread_mutex_unlock(&first);
    }
    pthread_mutex_lock(own);
    pthread_mutex_lock(own == &a ? &b : &a);
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, take, &a);
    pthread_create(&threads[1], NULL, take, &b);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
