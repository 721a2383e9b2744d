/* A local time, of which two threads share the buffer.
 *
 * Source: the Concurrit paper, table 1 and appendix A, "mozilla-nspr1": RADBench's bug 4, MT_safe_localtime() of NSPR.
 *   Debian's libnspr4 is mended.
 * Bug: the function takes its lock only if the library says that it is initialized. A thread that asked before goes on
 *   without the lock, and overwrites the buffer of one that has it.
 * Shows as: a failed assertion: a thread gets the other one's time.
 * FIXED: it always takes the lock. */
#include "../bugs/shared.h"

static pthread_mutex_t monitor = PTHREAD_MUTEX_INITIALIZER;
static volatile int initialized, buffer;

static int *local_time(int clock)
{
    buffer = clock;
    return (int *)&buffer;
}

static int mt_safe_localtime(int clock)
{
#ifdef FIXED
    int need_lock = 1;
#else
    int need_lock = initialized;
#endif
    if (need_lock)
        pthread_mutex_lock(&monitor);
    int result = *local_time(clock);
    if (need_lock)
        pthread_mutex_unlock(&monitor);
    return result;
}

static void *early(void *unused)
{
    assert(mt_safe_localtime(1) == 1);
    return unused;
}

static void *late(void *unused)
{
    initialized = 1;
    assert(mt_safe_localtime(2) == 2);
    return unused;
}

int main(void)
{
    pthread_t a = thread_start(early, NULL), b = thread_start(late, NULL);
    thread_join(a);
    thread_join(b);
    return 0;
}
