// A call that was to be tried before another thread's write was taken to read all that it had read behind that. It read
// less there, so who slept for having nothing to do with it slept on, and others were left out for its sake: the one
// class of schedules in which the assertion fails was never tried, no run was like an earlier one, and `pct explore`
// said "verified".
//
// BUILD: pct-cc -g -pthread -o %p %s
// RUN 119: pct explore -q -- %p
#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static uint64_t cell[6];
static volatile size_t three = 3 * sizeof *cell;

static void *fill(void *unused)
{
    memset(&cell[2], 'a', three);
    return unused;
}

static void *write_last(void *unused)
{
    *(volatile uint64_t *)&cell[4] = 1;
    return unused;
}

static void *write_first(void *unused)
{
    *(volatile uint64_t *)&cell[2] = 1;
    return unused;
}

static void *measure(void *unused)
{
    (void)unused;
    return (void *)strlen((char *)&cell[3]);
}

int main(void)
{
    void *(*const does[])(void *) = { fill, write_last, write_first, measure };
    pthread_t thread[4];
    void *measured;
    for (int i = 0; i < 4; i++)
        assert(!pthread_create(&thread[i], NULL, does[i], NULL));
    for (int i = 0; i < 4; i++)
        assert(!pthread_join(thread[i], &measured));
    assert(measured || cell[2] == 1 || cell[4] != 1);
    return 0;
}
