// Real-time priorities order threads natively; pct's schedules do not keep to them, and the doctor says so.
//
// RUN: pct doctor %p | grep "asks for real-time priorities"
// RUN: pct run -q -n 20 -s 1 --state none -- %p
#include <pthread.h>
#include <sched.h>

static void *nothing(void *unused)
{
    return unused;
}

int main(void)
{
    pthread_t thread;
    const struct sched_param first = { .sched_priority = 1 };
    pthread_create(&thread, NULL, nothing, NULL);
    pthread_setschedparam(thread, SCHED_FIFO, &first); /* may be refused */
    pthread_join(thread, NULL);
    return 0;
}
