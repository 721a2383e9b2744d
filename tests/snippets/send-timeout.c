/* SO_SNDTIMEO ends also a send that has sent a part, with what it has sent; and a connect, which goes on. */
/* tests: send sendmsg write writev connect */
#define _GNU_SOURCE
#include "check.h"
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>

enum { LARGE = 4 << 20 };
static char large[LARGE];
static int pair[2];

static ssize_t transmit(int how)
{
    struct iovec part = { large, LARGE };
    struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
    switch (how) {
    case 0:
        return send(pair[0], large, LARGE, 0);
    case 1:
        return sendmsg(pair[0], &message, 0);
    case 2:
        return write(pair[0], large, LARGE);
    default:
        return writev(pair[0], &part, 1);
    }
}

/* To one whose queue is full. */
static void connect_in_vain(const struct timeval *limit)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t length = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0), first = socket(AF_INET, SOCK_STREAM, 0);
    int second = socket(AF_INET, SOCK_STREAM, 0);
    CHECK_OK(bind(listener, (struct sockaddr *)&address, length));
    CHECK_OK(listen(listener, 0));
    CHECK_OK(getsockname(listener, (struct sockaddr *)&address, &length));
    CHECK_OK(connect(first, (struct sockaddr *)&address, length));
    CHECK_OK(setsockopt(second, SOL_SOCKET, SO_SNDTIMEO, limit, sizeof *limit));
    CHECK_FAILS(connect(second, (struct sockaddr *)&address, length), EINPROGRESS);
    CHECK_FAILS(connect(second, (struct sockaddr *)&address, length), EALREADY);
}

int main(void)
{
    const struct timeval limit = { .tv_usec = 1000 };
    connect_in_vain(&limit);
    for (int how = 0; how < 4; how++) {
        CHECK_OK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
        CHECK_OK(setsockopt(pair[0], SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit));
        ssize_t sent = transmit(how);
        CHECK(sent > 0 && sent < LARGE);
        CHECK_FAILS(transmit(how), EAGAIN);
        CHECK_OK(close(pair[0]));
        CHECK_OK(close(pair[1]));
    }
    return 0;
}
