/* The position of a vehicle, published by one thread and read by others without a lock: the number is odd while it is
 * written, and another one behind.
 *
 * Bug: the reader looks whether the number is odd before it reads, and not whether it is the same behind that.
 * Shows as: a failed assertion: one coordinate is new, the other old.
 * FIXED: it looks again. */
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

static atomic_uint number;
static atomic_int east, north;

static void publish(int e, int n)
{
    atomic_fetch_add(&number, 1); /* culprit */
    atomic_store(&east, e);       /* culprit */
    atomic_store(&north, n);      /* culprit */
    atomic_fetch_add(&number, 1);
}

static void get(int *e, int *n)
{
    unsigned before;
    do {
        while ((before = atomic_load(&number)) % 2) /* culprit */
            sched_yield();
        *e = atomic_load(&east);  /* culprit */
        *n = atomic_load(&north); /* culprit */
#ifdef FIXED
    } while (atomic_load(&number) != before);
#else
    } while (0);
#endif
}

static void *drive(void *arg)
{
    for (int i = 1; i <= 3; i++)
        publish(i, -i);
    return arg;
}

static void *watch(void *arg)
{
    for (int i = 0; i < 2; i++) {
        int e, n;
        get(&e, &n);
        assert(e == -n);
    }
    return arg;
}

int main(void)
{
    pthread_t driver, watchers[2];
    pthread_create(&driver, NULL, drive, NULL);
    for (int i = 0; i < 2; i++)
        pthread_create(&watchers[i], NULL, watch, NULL);
    pthread_join(driver, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(watchers[i], NULL);
    return 0;
}
