/* An uncontended lock and unlock in a function, while another thread stands before a lock of its own: for scripts whose
 * answer such a thread may become. Prints ns a pair, the median of nine.
 *     stands [PAIRS] */
#include "measure.h"
#include <pthread.h>
#include <stdio.h>

static struct box {
    pthread_mutex_t lock;
} boxes[2] = { { PTHREAD_MUTEX_INITIALIZER }, { PTHREAD_MUTEX_INITIALIZER } };
static struct box *volatile head = &boxes[0];
static struct shelf {
    struct box *head;
} *volatile shelf;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, own = PTHREAD_MUTEX_INITIALIZER;

static void *stand(void *argument)
{
    pthread_mutex_lock(&own);
    pthread_mutex_unlock(&own);
    return argument;
}

__attribute__((noinline)) static void work(double ns[9], long pairs)
{
    for (int round = 0; round < 9; round++) {
        double start = real_ns();
        for (long i = 0; i < pairs; i++) {
            pthread_mutex_lock(&mutex);
            pthread_mutex_unlock(&mutex);
        }
        ns[round] = (real_ns() - start) / (double)pairs;
    }
}

int main(int argc, char **argv)
{
    long pairs = argc > 1 ? atol(argv[1]) : 3000;
    pthread_t thread;
    double ns[9];
    shelf = malloc(sizeof *shelf);
    if (!shelf)
        return 1;
    shelf->head = head;
    pthread_create(&thread, NULL, stand, NULL);
    work(ns, pairs);
    printf("%.3f\n", median(ns, 9));
    pthread_mutex_lock(&shelf->head->lock);
    pthread_mutex_unlock(&shelf->head->lock);
    pthread_join(thread, NULL);
    return 0;
}
