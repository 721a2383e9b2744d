/* Things to wait for whose data is moved between descriptors, without or with other calls than read() and write(). */
#include "random.h"
#include "../libc_names.h"
#include <poll.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>

static void drop_descriptors(struct thing *t)
{
    for (unsigned i = 0; i < 4; i++)
        if (t->fd[i] > 0)
            CHECK_OK(close(t->fd[i]));
}

/* --- Pipes ------------------------------------------------------------------------------------------------------- */

static char letter = 'm';

/* A pipe, another one behind it, and a file that has the letter. */
static void make_moved(struct thing *t)
{
    CHECK_OK(pipe(t->fd));
    CHECK_OK(pipe(t->fd + 2));
    t->id = memfd_create("letter", MFD_CLOEXEC);
    CHECK(t->id >= 0);
    CHECK_EQ(write(t->id, &letter, 1), 1);
}

static void drop_moved(struct thing *t)
{
    drop_descriptors(t);
    CHECK_OK(close(t->id));
}

/* Linux: what tee() has waited for may be gone, if others take it; then it has copied nothing. */
static ssize_t copied(int from, int to)
{
    ssize_t done;
    do
        done = RESTARTED(tee(from, to, 1, 0));
    while (!done);
    return done;
}

static bool wait_moved(struct thing *t, int64_t us, unsigned way)
{
    char byte = 0;
    (void)us;
    switch (way % 3) {
    case 0:
        CHECK_EQ(RESTARTED(splice(t->fd[0], NULL, t->fd[3], NULL, 1, 0)), 1);
        CHECK_EQ(RESTARTED(read(t->fd[2], &byte, 1)), 1);
        break;
    case 1: /* the one that is copied is not always the one that is then taken: they are alike */
        CHECK_EQ(copied(t->fd[0], t->fd[3]), 1);
        CHECK_EQ(RESTARTED(read(t->fd[2], &byte, 1)), 1);
        CHECK_EQ(RESTARTED(read(t->fd[0], &byte, 1)), 1);
        break;
    case 2:
        CHECK_EQ(RESTARTED(__read_chk(t->fd[0], &byte, 1, 1)), 1);
        break;
    }
    CHECK_EQ(byte, letter);
    return true;
}

static void wake_moved(struct thing *t, unsigned way)
{
    struct iovec part = { &letter, 1 };
    off_t from = 0;
    off64_t from64 = 0;
    switch (way % 3) {
    case 0:
        CHECK_EQ(RESTARTED(vmsplice(t->fd[1], &part, 1, 0)), 1);
        break;
    case 1:
        CHECK_EQ(RESTARTED(sendfile(t->fd[1], t->id, &from, 1)), 1);
        break;
    case 2:
        CHECK_EQ(RESTARTED(sendfile64(t->fd[1], t->id, &from64, 1)), 1);
        break;
    }
}

/* --- Sockets ----------------------------------------------------------------------------------------------------- */

static void make_datagrams(struct thing *t)
{
    int size = 1 << 16;
    CHECK_OK(socketpair(AF_UNIX, SOCK_DGRAM, 0, t->fd));
    CHECK_OK(setsockopt(t->fd[1], SOL_SOCKET, SO_SNDBUF, &size, sizeof size));
}

static bool wait_datagrams(struct thing *t, int64_t us, unsigned way)
{
    int64_t wait_us = us < 0 ? FAR * INT64_C(1000000) : us;
    struct pollfd one = { .fd = t->fd[0], .events = POLLIN };
    struct timespec limit = interval_of(wait_us);
    char text[4] = "";
    if (us >= 0 || way & 32) {
        int ready = way & 1 ? AGAIN(__poll_chk(&one, 1, (int)((wait_us + 999) / 1000), sizeof one))
                            : AGAIN(__ppoll_chk(&one, 1, &limit, NULL, sizeof one));
        if (ready != 1)
            return false;
    }
    CHECK_EQ(way & 2 ? RESTARTED(__recv_chk(t->fd[0], text, 2, sizeof text, 0))
                     : RESTARTED(__recvfrom_chk(t->fd[0], text, 2, sizeof text, 0, NULL, NULL)),
             2);
    CHECK(!strcmp(text, "dg"));
    return true;
}

static void wake_datagrams(struct thing *t, unsigned way)
{
    char text[] = "dg";
    struct iovec part = { text, 2 };
    struct mmsghdr message = { .msg_hdr = { .msg_iov = &part, .msg_iovlen = 1 } };
    CHECK_EQ(way & 1 ? RESTARTED(sendto(t->fd[1], text, 2, 0, NULL, 0))
                     : RESTARTED(sendmmsg(t->fd[1], &message, 1, 0)) + 1,
             2);
}

/* The end of a stream of data. */
static void make_stream_socket(struct thing *t)
{
    CHECK_OK(socketpair(AF_UNIX, SOCK_STREAM, 0, t->fd));
}

static bool wait_shutdown(struct thing *t, int64_t us, unsigned way)
{
    char byte;
    (void)us, (void)way;
    CHECK_EQ(RESTARTED(recv(t->fd[0], &byte, 1, 0)), 0);
    return true;
}

static void wake_shutdown(struct thing *t, unsigned way)
{
    CHECK_OK(way & 1 ? shutdown(t->fd[1], SHUT_WR) : shutdown(t->fd[0], SHUT_RD));
}

const struct kind moving_kinds[] = {
    { "moved data", CANCEL | HANDLER | PROCESS, make_moved, drop_moved, wait_moved, wake_moved },
    { "datagrams", TIMED | CANCEL | HANDLER | PROCESS, make_datagrams, drop_descriptors, wait_datagrams,
      wake_datagrams },
    { "shutdown", CANCEL | HANDLER | PROCESS | ONCE | SINGLE, make_stream_socket, drop_descriptors, wait_shutdown,
      wake_shutdown },
    { NULL, 0, NULL, NULL, NULL, NULL },
};
