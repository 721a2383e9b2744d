/* Moving data without seeing it: sendfile, splice, tee, vmsplice; each waits for data and for room. */
/* tests: sendfile sendfile64 splice tee vmsplice */
/* ops: READ WRITE */
#define _GNU_SOURCE
#include "check.h"
#include <fcntl.h>
#include <stdlib.h>
#include <sys/sendfile.h>
#include <sys/uio.h>

enum { LARGE = 200000 };

static int in[2], out[2];
static char large[LARGE];

static void *write_later(void *unused)
{
    CHECK_EQ(write(in[1], "spliced", 7), 7);
    return unused;
}

static void *take_all(void *unused)
{
    static char copy[LARGE];
    size_t got = 0;
    while (got < LARGE) {
        ssize_t part = read(out[0], copy + got, 5000);
        CHECK(part > 0);
        got += (size_t)part;
    }
    CHECK(!memcmp(copy, large, LARGE));
    return unused;
}

int main(void)
{
    char text[16];
    CHECK_OK(pipe(in));
    CHECK_OK(pipe(out));
    pthread_t thread = check_spawn(write_later, NULL);
    CHECK_EQ(splice(in[0], NULL, out[1], NULL, 7, 0), 7);
    check_join(thread);
    CHECK_EQ(read(out[0], text, 16), 7);
    CHECK(!memcmp(text, "spliced", 7));
    CHECK_FAILS(splice(in[0], NULL, out[1], NULL, 7, SPLICE_F_NONBLOCK), EAGAIN);

    thread = check_spawn(write_later, NULL);
    CHECK_EQ(tee(in[0], out[1], 7, 0), 7);
    check_join(thread);
    CHECK_EQ(read(out[0], text, 16), 7);
    CHECK_EQ(read(in[0], text, 16), 7);

    struct iovec part = { text, 7 };
    CHECK_EQ(vmsplice(out[1], &part, 1, 0), 7);
    CHECK_EQ(read(out[0], text, 16), 7);

    char path[] = "/tmp/snippet-XXXXXX";
    int file = mkstemp(path);
    CHECK(file >= 0);
    CHECK_OK(unlink(path));
    for (int i = 0; i < LARGE; i++)
        large[i] = (char)(i * 11);
    CHECK_EQ(write(file, large, LARGE), LARGE);
    off_t offset = 0;
    off64_t offset64 = 100000;
    thread = check_spawn(take_all, NULL);
    while (offset < 100000)
        CHECK(sendfile(out[1], file, &offset, (size_t)(100000 - offset)) > 0);
    while (offset64 < LARGE)
        CHECK(sendfile64(out[1], file, &offset64, LARGE) > 0);
    CHECK_EQ(offset, 100000);
    check_join(thread);
    CHECK_FAILS(sendfile(1000, file, NULL, 10), EBADF);
    return 0;
}
