/* vmsplice() on a pipe's end to read takes what is there, and waits for that. It was taken for one that gives, and
 * failed with EAGAIN where the pipe was empty.
 *
 * RUN: pct run -q -n 20 -s 1 --timeout 60 --state none -- %p
 */
#define _GNU_SOURCE
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static int ends[2];

static void *gives(void *unused)
{
    assert(write(ends[1], "hello", 5) == 5);
    return unused;
}

int main(void)
{
    pthread_t thread;
    char got[8];
    struct iovec part = { got, sizeof got };
    assert(!pipe(ends));
    pthread_create(&thread, NULL, gives, NULL);
    assert(vmsplice(ends[0], &part, 1, 0) == 5 && !memcmp(got, "hello", 5));
    pthread_join(thread, NULL);
    return 0;
}
