/* Memory is limited: the runs with points at memory accesses that a campaign makes unasked had too little of it, which
 * was called a failure of the program.
 *
 * RUN: pct run -n 40 -s 1 --explore=0 --state none --memory-limit 100M -- %p
 * RUN: pct campaign -n 40 -s 1 --explore=0 --memory-limit 100M --db %t/db -- %p
 */
#include <assert.h>
#include <pthread.h>

enum { ROUNDS = 3 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void *work(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&mutex);
        count++;
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        assert(!pthread_create(&threads[i], NULL, work, NULL));
    for (int i = 0; i < 2; i++)
        assert(!pthread_join(threads[i], NULL));
    assert(count == 2 * ROUNDS);
    return 0;
}
