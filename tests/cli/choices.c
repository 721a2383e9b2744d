/* Asks for numbers by <pct/script.h>: 2 ways, then 3 in each of two threads. The argument: the sum that fails. */
#include <pct/script.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static unsigned sum;

static void *work(void *unused)
{
    unsigned number = pct_choose(3);
    pthread_mutex_lock(&mutex);
    sum = sum * 3 + number;
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t a, b;
    unsigned first = pct_choose(2);
    pthread_create(&a, NULL, work, NULL);
    pthread_create(&b, NULL, work, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    pct_assert(argc < 2 || first * 10 + sum != strtoul(argv[1], NULL, 10));
    return 0;
}
