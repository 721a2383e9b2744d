// Threads poll a counter that another one raises, in turn. Where maple held the one that raises it, and a thread at its
// low priority polled, that one alone was let go: the run never ended. Random program 300113 hung in one run of five.
//
// RUN: pct run -q -s 1 -n 3 -S maple --memory=atomics --timeout 20 --state none -- %p
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

enum { THREADS = 5, ROUNDS = 3 };
static atomic_uint word[THREADS];

static void take(atomic_uint *counter, unsigned way)
{
    for (;;) {
        unsigned value = atomic_load(counter);
        while (value)
            if (atomic_compare_exchange_weak(counter, &value, value - 1))
                return;
        if (way % 2)
            usleep(way);
        else
            sched_yield();
    }
}

static void *pass_on(void *argument)
{
    atomic_uint *mine = argument;
    unsigned role = (unsigned)(mine - word);
    for (unsigned i = 0; i < ROUNDS; i++) {
        if (role || i)
            take(mine, role);
        atomic_fetch_add(&word[(role + 1) % THREADS], 1);
    }
    return NULL;
}

int main(void)
{
    pthread_t thread[THREADS];
    for (int i = THREADS; i-- > 0;)
        pthread_create(&thread[i], NULL, pass_on, &word[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    return atomic_load(&word[0]) != 1;
}
