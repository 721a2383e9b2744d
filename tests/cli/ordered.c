/* Two threads with much memory that a mutex guards, and a counter that nothing does. */
#include <assert.h>
#include <pthread.h>

static int counter, table[64], sum;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *body(void *unused)
{
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < 64; i++)
        table[i] += i;
    pthread_mutex_unlock(&mutex);
    counter++;
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < 64; i++)
        sum += table[i];
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, body, NULL);
    pthread_create(&b, NULL, body, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(counter == 2);
    return 0;
}
