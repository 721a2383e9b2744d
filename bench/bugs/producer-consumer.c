/* A consumer that does not look again after its wait: the product was taken by another. For the measurements of
 * bench/.
 *
 * Source: the demonic testing paper, figure 5, with the monitor's mutex that the figure leaves out.
 * Bug: consume() waits with `if`: it takes for granted that there is a product when the wait returns. Between the
 *   signal and the return another consumer can take the product.
 * Depth 3: (consumer 1 begins to wait) before (main makes the first product), (consumer 2 takes it) before (consumer
 *   1 returns from its wait), and that before (main makes the second product, which would make it good). Each of the
 *   three threads but consumer 2 has to be held back, main twice. That consumer 2 comes after the first product
 *   needs no constraint: main starts it then.
 * Shows as: a failed assertion in consumer 1.
 * FIXED: the wait is repeated while there is no product. */
#include "shared.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond_var = PTHREAD_COND_INITIALIZER;
static int product; /* under mutex */

static void produce(void)
{
    pthread_mutex_lock(&mutex);
    product = product + 1;
    if (product == 1)
        pthread_cond_signal(&cond_var);
    pthread_mutex_unlock(&mutex);
}

static void *consume(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&mutex);
#ifdef FIXED
    while (product == 0)
#else
    if (product == 0)
#endif
        pthread_cond_wait(&cond_var, &mutex); /* culprit */
    assert(product > 0);
    product = product - 1;
    pthread_mutex_unlock(&mutex);
    return NULL;
}

int main(void)
{
    pthread_t consumer1 = thread_start(consume, NULL);
    produce();
    local_work(20);
    pthread_t consumer2 = thread_start(consume, NULL);
    produce();
    thread_join(consumer1);
    thread_join(consumer2);
    assert(product == 0);
    return 0;
}
