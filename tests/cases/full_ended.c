/* A datagram waits for room in another UNIX socket's queue, of which poll() knows nothing: a handler and SO_SNDTIMEO
 * end that wait, too. Under pct it was tried again for ever, which was called a livelock.
 *
 * RUN: pct run -q -n 4 -s 1 --timeout 60 --state none -- %p
 */
#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

static void handle(int number)
{
    (void)number;
}

int main(void)
{
    struct sockaddr_un name = { .sun_family = AF_UNIX };
    struct sigaction action = { .sa_handler = handle };
    const struct itimerval soon = { .it_value = { .tv_usec = 20000 } };
    const struct timeval limit = { .tv_usec = 20000 }, none = { 0 };
    socklen_t size = sizeof name;
    int to = socket(AF_UNIX, SOCK_DGRAM, 0), from = socket(AF_UNIX, SOCK_DGRAM, 0);
    assert(!bind(to, (struct sockaddr *)&name, sizeof name.sun_family)); /* the kernel gives it a name */
    assert(!getsockname(to, (struct sockaddr *)&name, &size));
    /* From many sockets, so that the queue is full before any of their buffers. */
    for (int sent = 100; sent == 100;) {
        int other = socket(AF_UNIX, SOCK_DGRAM, 0);
        for (sent = 0; sent < 100; sent++)
            if (sendto(other, "x", 1, MSG_DONTWAIT, (struct sockaddr *)&name, size) != 1)
                break;
        close(other);
    }
    assert(!setsockopt(from, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit));
    assert(sendto(from, "x", 1, 0, (struct sockaddr *)&name, size) == -1 && errno == EAGAIN);
    assert(!setsockopt(from, SOL_SOCKET, SO_SNDTIMEO, &none, sizeof none));
    assert(!sigaction(SIGALRM, &action, NULL) && !setitimer(ITIMER_REAL, &soon, NULL));
    assert(sendto(from, "x", 1, 0, (struct sockaddr *)&name, size) == -1 && errno == EINTR);
    return 0;
}
