/* Another thread changes what a poll() is about that waits: the kernel has a copy, and so that is for the next call.
 * Under pct the copy was ready, what it was made from not, and the call asked one and the other for ever.
 *
 * RUN: pct run -q -n 20 -s 1 --timeout 20 --state none -- %p
 */
#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

static int ends[2];
static struct pollfd polled;

static void *changes(void *unused)
{
    polled.fd = -1;
    assert(write(ends[1], "x", 1) == 1);
    return unused;
}

int main(void)
{
    pthread_t thread;
    assert(!pipe(ends));
    polled = (struct pollfd){ .fd = ends[0], .events = POLLIN };
    pthread_create(&thread, NULL, changes, NULL);
    if (polled.fd >= 0) /* else it has not begun to wait */
        assert(poll(&polled, 1, -1) == 1 && polled.revents == POLLIN);
    pthread_join(thread, NULL);
    return 0;
}
