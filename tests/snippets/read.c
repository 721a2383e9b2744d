/* read and write on pipes: a reader waits for data, gets what there is, sees the end; large writes go through whole. */
/* tests: read write __read_chk pipe pipe2 readv writev close */
/* ops: READ WRITE CLOSE */
#define _GNU_SOURCE
#include "check.h"
#include "nag.h"
#include <fcntl.h>
#include <limits.h>
#include <sys/uio.h>

ssize_t __read_chk(int fd, void *buffer, size_t size, size_t room);

enum { ROUNDS = 20, LARGE = 300000 };

static int there[2], back[2];
static char large[LARGE], copy[LARGE];

static void *echo(void *unused)
{
    char c;
    while (read(there[0], &c, 1) == 1) {
        c++;
        CHECK_EQ(write(back[1], &c, 1), 1);
    }
    CHECK_OK(close(back[1]));
    return unused;
}

static void *take(void *unused)
{
    size_t got = 0;
    ssize_t part;
    while ((part = read(there[0], copy + got, LARGE - got < 1000 ? LARGE - got : 1000)) > 0)
        got += (size_t)part;
    CHECK_EQ(part, 0);
    CHECK_EQ(got, LARGE);
    return unused;
}

static void *take_vector(void *unused)
{
    char a[3], b[5];
    struct iovec parts[2] = { { a, sizeof a }, { b, sizeof b } };
    CHECK_EQ(readv(there[0], parts, 2), 8);
    CHECK(!memcmp(a, "abc", 3) && !memcmp(b, "defgh", 5));
    return unused;
}

static void *interrupted(void *unused)
{
    struct nag nag;
    char c;
    nag_start(&nag, 0);
    CHECK_FAILS(read(there[0], &c, 1), EINTR);
    nag_stop(&nag);
    return unused;
}

static void *wait_for_ever(void *unused)
{
    char c;
    read(there[0], &c, 1);
    return unused;
}

int main(void)
{
    char c;
    CHECK_OK(pipe(there));
    CHECK_OK(pipe2(back, O_CLOEXEC));
    pthread_t thread = check_spawn(echo, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        c = (char)('a' + i);
        CHECK_EQ(write(there[1], &c, 1), 1);
        CHECK_EQ(__read_chk(back[0], &c, 1, 1), 1);
        CHECK_EQ(c, 'b' + i);
    }
    CHECK_OK(close(there[1]));
    CHECK_EQ(read(back[0], &c, 1), 0);
    check_join(thread);
    CHECK_OK(close(there[0]));
    CHECK_OK(close(back[0]));

    CHECK_OK(pipe(there));
    for (int i = 0; i < LARGE; i++)
        large[i] = (char)(i * 7);
    thread = check_spawn(take, NULL);
    CHECK_EQ(write(there[1], large, LARGE), LARGE);
    CHECK_OK(close(there[1]));
    check_join(thread);
    CHECK(!memcmp(large, copy, LARGE));
    CHECK_OK(close(there[0]));

    /* The same by vector. */
    CHECK_OK(pipe(there));
    memset(copy, 0, LARGE);
    thread = check_spawn(take, NULL);
    struct iovec parts[3] = { { large, 10 }, { large + 10, LARGE - 20 }, { large + LARGE - 10, 10 } };
    CHECK_EQ(writev(there[1], parts, 3), LARGE);
    CHECK_OK(close(there[1]));
    check_join(thread);
    CHECK(!memcmp(large, copy, LARGE));
    CHECK_OK(close(there[0]));

    CHECK_OK(pipe(there));
    CHECK_EQ(write(there[1], "abcdefgh", 8), 8);
    check_join(check_spawn(take_vector, NULL));
    CHECK_EQ(write(there[1], "", 0), 0);
    CHECK_EQ(read(there[0], &c, 0), 0);

    interrupted(NULL);
    check_join(check_spawn(interrupted, NULL));
    thread = check_spawn(wait_for_ever, NULL);
    CHECK_EQ(pthread_cancel(thread), 0);
    CHECK(check_join(thread) == PTHREAD_CANCELED);

    CHECK_OK(fcntl(there[0], F_SETFL, O_NONBLOCK));
    CHECK_FAILS(read(there[0], &c, 1), EAGAIN);
    CHECK_FAILS(read(-1, &c, 1), EBADF);
    CHECK_FAILS(write(1000, &c, 1), EBADF);
    CHECK_FAILS(read(there[1], &c, 1), EBADF);
    CHECK_OK(close(there[0]));
    CHECK_FAILS(close(there[0]), EBADF);
    /* Nobody reads: the signal is ignored, the error remains. */
    signal(SIGPIPE, SIG_IGN);
    CHECK_FAILS(write(there[1], &c, 1), EPIPE);
    return 0;
}
