/* What fails is decided by the first of many steps: a search that varies the last ones first does not come to it, and
 * every other random schedule shows it. */
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int first;

static void *turns(void *id)
{
    for (int i = 0; i < 20; i++) {
        pthread_mutex_lock(&mutex);
        if (!first)
            first = *(int *)id;
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    int ids[2] = { 1, 2 };
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, turns, &ids[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return first == 2;
}
