// What commutes with a wait for the kernel that was to be tried was left out for its sake. Where the wait turned out
// not to be possible yet, all of that was never tried, and `pct explore` said "verified".
//
// RUN 1: pct explore -q -- %p
#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <unistd.h>

static int ends[2], drawn;
static sem_t polls, writes, draws;

static void *poll_it(void *unused)
{
    struct pollfd asked = { .fd = ends[0], .events = POLLIN };
    sem_wait(&polls);
    assert(poll(&asked, 1, -1) == 1);
    return unused;
}

static void *write_it(void *unused)
{
    char byte = 0;
    sem_wait(&writes);
    sem_post(&polls);
    sem_post(&draws);
    assert(write(ends[1], &byte, 1) == 1);
    rand();
    return unused;
}

static void *draw(void *unused)
{
    sem_post(&writes);
    sem_wait(&draws);
    drawn = rand();
    return unused;
}

int main(void)
{
    void *(*const does[])(void *) = { poll_it, write_it, draw };
    pthread_t thread[3];
    srand(1);
    int first = rand();
    srand(1);
    assert(!pipe(ends));
    for (int i = 0; i < 3; i++)
        assert(!pthread_create(&thread[i], NULL, does[i], NULL));
    for (int i = 0; i < 3; i++)
        assert(!pthread_join(thread[i], NULL));
    return drawn == first;
}
