/* Threads that use main()'s stack, for tests/explored/awaits: two count there, and one may count in vain; with an
 * argument, the other one only reads what stood there before it began. */
#include <pthread.h>
#include <stdlib.h>

static volatile int taken;

static void *count(void *at)
{
    volatile int *there = at;
    int counted = *there;
    *there = counted + 1;
    return NULL;
}

static void *take(void *at)
{
    const volatile int *there = at;
    taken = *there;
    return NULL;
}

int main(int argc, char **argv)
{
    volatile int counted = 0;
    pthread_t thread;
    (void)argv;
    pthread_create(&thread, NULL, argc > 1 ? take : count, (void *)&counted);
    if (argc == 1)
        counted = counted + 1;
    pthread_join(thread, NULL);
    if (counted != (argc > 1 ? 0 : 2))
        abort();
    return 0;
}
