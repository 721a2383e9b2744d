/* A byte through a pipe, written and read by the same thread while another exists: nothing waits. Prints ns a pair. */
#include "measure.h"
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum { PAIRS = 100000, ROUNDS = 5 };

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;

static void *wait_for_end(void *unused)
{
    pthread_mutex_lock(&held);
    return unused;
}

int main(void)
{
    pthread_t other;
    int fds[2];
    char c = 'x';
    double rounds[ROUNDS];
    if (pipe(fds))
        return 1;
    pthread_mutex_lock(&held);
    pthread_create(&other, NULL, wait_for_end, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        double start = real_ns();
        for (int pair = 0; pair < PAIRS; pair++)
            if (write(fds[1], &c, 1) != 1 || read(fds[0], &c, 1) != 1)
                return 1;
        rounds[i] = (real_ns() - start) / PAIRS;
    }
    pthread_mutex_unlock(&held);
    pthread_join(other, NULL);
    printf("%.1f\n", median(rounds, ROUNDS));
    return 0;
}
