/* Two bugs that a coin at every step hardly finds: one thread must run to its end before the other begins. For the
 * measurements of bench/. Arguments: m and n, the steps of thread 1 and of thread 2 (20 and 20).
 *
 * Source: the PCT paper, figure 5 and section 2.4.
 * Bug: thread 1 asserts b != 0 at its beginning and sets a to 0 at its end, thread 2 asserts a != 0 at its beginning
 *   and sets b to 0 at its end. Each assertion fails if the other thread is through first.
 * Depth 1, each: (thread 2 sets b) before (thread 1 reads b), or (thread 1 sets a) before (thread 2 reads a). PCT
 *   meets the one or the other with every assignment of priorities. A scheduler that flips a coin at each step must
 *   win about m (or n) times in a row, and any bias towards the one bug is a bias against the other.
 * Shows as: a failed assertion in thread 1 or thread 2.
 * FIXED: a barrier after the assertions. */
#include "shared.h"

static struct shared_int a = SHARED_INT(1);
static struct shared_int b = SHARED_INT(1);
static struct shared_int progress[2] = { SHARED_INT(0), SHARED_INT(0) };
static int m, n;

#ifdef FIXED
static pthread_barrier_t asserted;
#endif

static void both_asserted(void)
{
#ifdef FIXED
    pthread_barrier_wait(&asserted);
#endif
}

static void steps(struct shared_int *mine, int count)
{
    for (int i = 0; i < count; i++) {
        local_work(5);
        shared_add(mine, 1);
    }
}

static void *thread1(void *unused)
{
    (void)unused;
    int value = shared_read(&b); /* culprit */
    assert(value != 0);
    both_asserted();
    steps(&progress[0], m);
    shared_write(&a, 0);
    return NULL;
}

static void *thread2(void *unused)
{
    (void)unused;
    int value = shared_read(&a);
    assert(value != 0);
    both_asserted();
    steps(&progress[1], n);
    shared_write(&b, 0); /* culprit */
    return NULL;
}

int main(int argc, char **argv)
{
    m = argument(argc, argv, 1, 20, 0, 100000);
    n = argument(argc, argv, 2, 20, 0, 100000);
#ifdef FIXED
    setup_check(pthread_barrier_init(&asserted, NULL, 2), "cannot make a barrier");
#endif
    pthread_t first = thread_start(thread1, NULL);
    pthread_t second = thread_start(thread2, NULL);
    thread_join(first);
    thread_join(second);
    return 0;
}
