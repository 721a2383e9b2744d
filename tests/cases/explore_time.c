/* It trusts that a millisecond is enough for another thread. `pct explore` has its own time, and deadlines that may
 * come early, whatever PCT_TIME says: with that, it called this program verified.
 *
 * RUN 1: pct explore -q -- %p
 * RUN 1: PCT_TIME=real pct explore -q -- %p
 */
#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static bool done;

static void *works(void *unused)
{
    pthread_mutex_lock(&mutex);
    done = true;
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, works, NULL);
    usleep(1000); /* it has done it by now */
    pthread_mutex_lock(&mutex);
    bool is = done;
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, NULL);
    return !is;
}
