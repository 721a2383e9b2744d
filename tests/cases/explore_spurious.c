/* A signal that comes before the wait is lost. Where the seed draws that this wait ends by itself, no schedule fails:
 * so `pct explore` does not take --spurious, with which it called this program verified.
 *
 * RUN 1: pct explore -q -s 7 -- %p
 * RUN 2: pct explore -q -s 7 --spurious -- %p
 * RUN 2: PCT_SPURIOUS=on pct explore -q -s 7 -- %p
 */
#include <pthread.h>
#include <stdbool.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, flag = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool ready;

static bool is_ready(void)
{
    pthread_mutex_lock(&flag);
    bool is = ready;
    pthread_mutex_unlock(&flag);
    return is;
}

static void *wait(void *unused)
{
    pthread_mutex_lock(&mutex);
    if (!is_ready())
        pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(void)
{
    pthread_t waiter;
    pthread_create(&waiter, NULL, wait, NULL);
    pthread_mutex_lock(&flag);
    ready = true;
    pthread_mutex_unlock(&flag);
    pthread_cond_signal(&changed);
    return pthread_join(waiter, NULL);
}
