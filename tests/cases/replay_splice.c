/* A descriptor that a call waits for without a step of its own has a number all the same, in a run and in its replay: a
 * pipe's end that only splice() and tee() read from did not, where nothing was due in the run. Then objects that were
 * met later had other numbers in the replay of a trace, which ended as one that went another way.
 *
 *     RUN: for s in 1 2 3 4 5 6 7 8; do pct run -q -s $s -S pct -t %t/trace -- %p || exit;
 *         pct replay -q %t/trace -- %p || exit; done
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <unistd.h>

static sem_t done;
static int from[2], to[2];

static void check(int fine)
{
    if (!fine)
        abort();
}

static void *move(void *unused)
{
    sem_t own; /* met behind the two pipes */
    char two[2];
    check(write(from[1], "ab", 2) == 2);
    check(tee(from[0], to[1], 1, 0) == 1);
    check(splice(from[0], NULL, to[1], NULL, 1, 0) == 1);
    check(!sem_init(&own, 0, 1));
    check(!sem_wait(&own));
    check(read(to[0], two, 2) == 2);
    check(!sem_destroy(&own));
    check(!sem_post(&done));
    return unused;
}

int main(void)
{
    pthread_t thread;
    check(!pipe(from) && !pipe(to));
    check(!sem_init(&done, 0, 0));
    check(!pthread_create(&thread, NULL, move, NULL));
    check(!sem_wait(&done));
    check(!pthread_join(thread, NULL));
    return 0;
}
