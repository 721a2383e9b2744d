/* An error that waits at a socket is told once: a connection that was reset, to the next read or write. Under pct
 * either was tried without waiting, which took the error away, and then made again: a read told of the end, and a write
 * sent SIGPIPE.
 *
 * RUN: for how in pair read write; do pct run -q -n 5 -s 1 -S pct --state none -- %p $how || exit; done
 */
#undef NDEBUG
#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void *nothing(void *unused)
{
    return unused;
}

/* A connection whose other end was reset. */
static int made_and_reset(void)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t length = sizeof at;
    const struct linger now = { .l_onoff = 1 };
    int listener = socket(AF_INET, SOCK_STREAM, 0), here = socket(AF_INET, SOCK_STREAM, 0);
    assert(!bind(listener, (struct sockaddr *)&at, sizeof at) && !listen(listener, 1));
    assert(!getsockname(listener, (struct sockaddr *)&at, &length));
    assert(!connect(here, (struct sockaddr *)&at, sizeof at));
    int there = accept(listener, NULL, NULL);
    assert(there >= 0 && !setsockopt(there, SOL_SOCKET, SO_LINGER, &now, sizeof now) && !close(there));
    return here;
}

int main(int argc, char **argv)
{
    char byte = 'x';
    int ends[2];
    pthread_t thread;
    pthread_create(&thread, NULL, nothing, NULL);
    pthread_join(thread, NULL);
    assert(argc == 2);
    if (!strcmp(argv[1], "pair")) {
        assert(!socketpair(AF_UNIX, SOCK_STREAM, 0, ends) && write(ends[0], &byte, 1) == 1 && !close(ends[1]));
        assert(read(ends[0], &byte, 1) == -1 && errno == ECONNRESET);
    } else if (!strcmp(argv[1], "read")) {
        assert(read(made_and_reset(), &byte, 1) == -1 && errno == ECONNRESET);
    } else {
        assert(write(made_and_reset(), &byte, 1) == -1 && errno == ECONNRESET);
    }
    return 0;
}
