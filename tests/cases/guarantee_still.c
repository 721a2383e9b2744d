/* With time=still each run has slack, whatever its seed: half of them are no runs in which deadlines come in their
 * order, of which the guarantee spoke.
 *
 * RUN: pct run -n 8 -s 1 -d 1 -S pct,time=still --state none -- %p 2>&1 | grep 'no guarantee .* time=still'
 * RUN: pct run -n 8 -s 1 -d 1 -S pct --state none -- %p 2>&1 | grep 'order of their deadlines, as in one run of 2'
 * RUN: for seed in {1..8}; do pct run -s $seed -S pct,time=still -- %p; done 2>&1 | grep -c ',slack=20ms' | grep -x 8
 */
#include <pthread.h>
#include <unistd.h>

static void *sleeps(void *unused)
{
    usleep(1000);
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, sleeps, NULL);
    usleep(2000);
    return pthread_join(thread, NULL);
}
