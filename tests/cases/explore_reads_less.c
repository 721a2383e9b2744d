// A call that was to be tried before another thread's write was taken to read all that it had read behind that, and
// other orders were left out for its sake. It read less there, so that run was like an earlier one and ended where one
// who slept went on: the others were never tried, and `pct explore` said "verified".
//
// BUILD: pct-cc -g -pthread -o %p %s
// RUN 1: pct explore -q -- %p
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>

enum { LENGTH = 24 };

static char text[LENGTH + 1] __attribute__((aligned(8)));
static volatile size_t length = LENGTH;
static sem_t begun;

static void *fill(void *unused)
{
    sem_post(&begun);
    memset(text, 'a', length);
    return unused;
}

static void *measure(void *unused)
{
    (void)unused;
    return (void *)strlen(text);
}

int main(void)
{
    pthread_t filler, measurer;
    void *measured;
    assert(!pthread_create(&filler, NULL, fill, NULL));
    assert(!pthread_create(&measurer, NULL, measure, NULL));
    sem_wait(&begun);
    text[LENGTH - 8] = 'b';
    assert(!pthread_join(filler, NULL));
    assert(!pthread_join(measurer, &measured));
    assert(measured || text[LENGTH - 8] != 'b');
    return 0;
}
