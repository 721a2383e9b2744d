/* Sockets between the threads of one process: a pair, and a connection over the loopback and over a local name. */
/* tests: socket socketpair accept accept4 connect recv __recv_chk recvfrom __recvfrom_chk recvmsg recvmmsg send sendto
 * sendmsg sendmmsg shutdown */
/* ops: READ WRITE ACCEPT CONNECT SHUTDOWN */
#define _GNU_SOURCE
#include "check.h"
#include "nag.h"
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

ssize_t __recv_chk(int fd, void *buffer, size_t size, size_t room, int flags);
ssize_t __recvfrom_chk(int fd, void *buffer, size_t size, size_t room, int flags, struct sockaddr *address,
                       socklen_t *length);

enum { LARGE = 1000000 };

static int pair[2], listener;
static struct sockaddr *name;
static socklen_t name_length;
static char large[LARGE], copy[LARGE];

static void *send_pieces(void *unused)
{
    for (int i = 0; i < 10; i++)
        CHECK_EQ(send(pair[1], "0123456789" + i, 1, 0), 1);
    return unused;
}

static void *send_large(void *unused)
{
    CHECK_EQ(send(pair[1], large, LARGE, 0), LARGE);
    return unused;
}

static void *serve(void *unused)
{
    struct sockaddr_storage from;
    socklen_t length = sizeof from;
    char text[5];
    int fd = accept4(listener, (struct sockaddr *)&from, &length, SOCK_CLOEXEC);
    CHECK(fd >= 0);
    CHECK_EQ(recv(fd, text, 5, MSG_WAITALL), 5);
    CHECK_EQ(send(fd, text, 5, MSG_NOSIGNAL), 5);
    CHECK_EQ(recv(fd, text, 5, 0), 0);
    CHECK_OK(close(fd));
    fd = accept(listener, NULL, NULL);
    CHECK(fd >= 0);
    CHECK_OK(close(fd));
    return unused;
}

static void converse(int domain)
{
    pthread_t thread = check_spawn(serve, NULL);
    char text[5];
    int fd = socket(domain, SOCK_STREAM, 0);
    CHECK_OK(connect(fd, name, name_length));
    CHECK_EQ(send(fd, "he", 2, 0), 2);
    CHECK_EQ(send(fd, "llo", 3, 0), 3);
    CHECK_EQ(__recv_chk(fd, text, 5, 5, MSG_WAITALL), 5);
    CHECK(!memcmp(text, "hello", 5));
    CHECK_OK(shutdown(fd, SHUT_WR));
    CHECK_EQ(recv(fd, text, 5, 0), 0);
    CHECK_OK(close(fd));
    fd = socket(domain, SOCK_STREAM, 0);
    CHECK_OK(connect(fd, name, name_length));
    check_join(thread);
    CHECK_OK(close(fd));
    CHECK_OK(close(listener));
    fd = socket(domain, SOCK_STREAM, 0);
    CHECK_FAILS(connect(fd, name, name_length), ECONNREFUSED);
    CHECK_OK(close(fd));
}

static void *send_datagrams(void *unused)
{
    struct iovec part = { "three", 5 };
    struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
    struct mmsghdr several[2] = { { .msg_hdr = message }, { .msg_hdr = message } };
    CHECK_EQ(sendto(pair[1], "one", 3, 0, NULL, 0), 3);
    CHECK_EQ(sendmsg(pair[1], &message, 0), 5);
    CHECK_EQ(sendmmsg(pair[1], several, 2, 0), 2);
    CHECK_EQ(several[1].msg_len, 5);
    return unused;
}

static void *interrupted(void *unused)
{
    struct nag nag;
    char c;
    nag_start(&nag, 0);
    CHECK_FAILS(recv(pair[0], &c, 1, 0), EINTR);
    nag_stop(&nag);
    return unused;
}

int main(void)
{
    char text[16];
    CHECK_OK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
    pthread_t thread = check_spawn(send_pieces, NULL);
    CHECK_EQ(recv(pair[0], text, 10, MSG_WAITALL), 10);
    CHECK(!memcmp(text, "0123456789", 10));
    check_join(thread);

    for (int i = 0; i < LARGE; i++)
        large[i] = (char)(i * 13);
    thread = check_spawn(send_large, NULL);
    for (size_t got = 0; got < LARGE;) {
        ssize_t part = recvfrom(pair[0], copy + got, LARGE - got, 0, NULL, NULL);
        CHECK(part > 0);
        got += (size_t)part;
    }
    check_join(thread);
    CHECK(!memcmp(copy, large, LARGE));

    CHECK_FAILS(recv(pair[0], text, 1, MSG_DONTWAIT), EAGAIN);
    struct timeval limit = { .tv_usec = 20000 };
    CHECK_OK(setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit));
    int64_t began = check_now(CLOCK_MONOTONIC);
    CHECK_FAILS(recv(pair[0], text, 1, 0), EAGAIN);
    /* The socket's timeouts count in ticks of the kernel. */
    CHECK(check_now(CLOCK_MONOTONIC) - began >= 15000000);
    limit.tv_usec = 0;
    CHECK_OK(setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit));
    interrupted(NULL);
    check_join(check_spawn(interrupted, NULL));
    CHECK_FAILS(recv(1000, text, 1, 0), EBADF);
    CHECK_FAILS(recv(0, text, 1, 0), ENOTSOCK);

    CHECK_OK(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair));
    thread = check_spawn(send_datagrams, NULL);
    struct iovec part = { text, sizeof text };
    struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
    char other[16];
    struct iovec second = { other, sizeof other };
    struct mmsghdr several[2] = { { .msg_hdr = message }, { .msg_hdr = { .msg_iov = &second, .msg_iovlen = 1 } } };
    CHECK_EQ(__recvfrom_chk(pair[0], text, 16, 16, 0, NULL, NULL), 3);
    CHECK_EQ(recvmsg(pair[0], &message, 0), 5);
    CHECK_EQ(recvmmsg(pair[0], several, 2, 0, NULL), 2);
    CHECK_EQ(several[1].msg_len, 5);
    CHECK(!memcmp(other, "three", 5));
    check_join(thread);

    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    name = (struct sockaddr *)&address;
    name_length = sizeof address;
    listener = socket(AF_INET, SOCK_STREAM, 0);
    CHECK_OK(bind(listener, name, name_length));
    CHECK_OK(listen(listener, 1));
    CHECK_OK(getsockname(listener, name, &name_length));
    converse(AF_INET);

    struct sockaddr_un local = { .sun_family = AF_UNIX };
    snprintf(local.sun_path + 1, sizeof local.sun_path - 1, "pct-snippet-%d", (int)getpid());
    name = (struct sockaddr *)&local;
    name_length = sizeof local;
    listener = socket(AF_UNIX, SOCK_STREAM, 0);
    CHECK_OK(bind(listener, name, name_length));
    CHECK_OK(listen(listener, 2));
    converse(AF_UNIX);
    return 0;
}
