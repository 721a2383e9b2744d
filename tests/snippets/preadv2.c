/* preadv2 and pwritev2 on pipes: at the offset -1 they wait as readv and writev do, unless RWF_NOWAIT says
 * otherwise. */
/* tests: preadv2 preadv64v2 pwritev2 pwritev64v2 */
/* ops: READ WRITE */
#define _GNU_SOURCE
#include "check.h"
#include "nag.h"
#include <fcntl.h>
#include <sys/uio.h>

enum { LARGE = 300000 };

static int ends[2];
static char large[LARGE], copy[LARGE];

static void *take(void *unused)
{
    size_t got = 0;
    while (got < LARGE) {
        struct iovec part = { copy + got, LARGE - got < 1000 ? LARGE - got : 1000 };
        ssize_t some = preadv2(ends[0], &part, 1, -1, 0);
        CHECK(some > 0);
        got += (size_t)some;
    }
    return unused;
}

static void *take_both(void *unused)
{
    char a[3], b[5];
    struct iovec parts[2] = { { a, sizeof a }, { b, sizeof b } };
    CHECK_EQ(preadv64v2(ends[0], parts, 2, -1, RWF_HIPRI), 8);
    CHECK(!memcmp(a, "abc", 3) && !memcmp(b, "defgh", 5));
    return unused;
}

static void *wait_for_ever(void *unused)
{
    char c;
    struct iovec part = { &c, 1 };
    preadv2(ends[0], &part, 1, -1, 0);
    return unused;
}

int main(void)
{
    char c;
    struct iovec part = { &c, 1 };
    CHECK_OK(pipe(ends));
    for (int i = 0; i < LARGE; i++)
        large[i] = (char)(i * 7);
    pthread_t thread = check_spawn(take, NULL);
    struct iovec whole[2] = { { large, 10 }, { large + 10, LARGE - 10 } };
    CHECK_EQ(pwritev2(ends[1], whole, 2, -1, RWF_DSYNC), LARGE);
    check_join(thread);
    CHECK(!memcmp(large, copy, LARGE));

    thread = check_spawn(take_both, NULL);
    struct iovec eight = { "abcdefgh", 8 };
    CHECK_EQ(pwritev64v2(ends[1], &eight, 1, -1, 0), 8);
    check_join(thread);

    /* A pipe has no offsets, and these do not wait. */
    CHECK_FAILS(preadv2(ends[0], &part, 1, 0, 0), ESPIPE);
    CHECK_FAILS(pwritev2(ends[1], &part, 1, 0, 0), ESPIPE);
    CHECK_EQ(preadv2(ends[0], NULL, 0, -1, 0), 0);
    CHECK_FAILS(preadv2(ends[0], &part, 1, -1, 1 << 30), EOPNOTSUPP);
    CHECK_FAILS(preadv2(-1, &part, 1, -1, 0), EBADF);
    ssize_t got = preadv2(ends[0], &part, 1, -1, RWF_NOWAIT);
    CHECK(got == -1 && (errno == EAGAIN || errno == EOPNOTSUPP)); /* the latter before Linux 6.4 */

    struct nag nag;
    nag_start(&nag, 0);
    CHECK_FAILS(preadv2(ends[0], &part, 1, -1, 0), EINTR);
    nag_stop(&nag);
    thread = check_spawn(wait_for_ever, NULL);
    CHECK_EQ(pthread_cancel(thread), 0);
    CHECK(check_join(thread) == PTHREAD_CANCELED);

    /* A file has offsets, and does not wait. */
    FILE *file = tmpfile();
    CHECK(file != NULL);
    eight.iov_base = copy;
    CHECK_EQ(pwritev2(fileno(file), &eight, 1, 4, 0), 8);
    CHECK_EQ(preadv2(fileno(file), &part, 1, 11, 0), 1);
    CHECK_EQ(preadv2(fileno(file), &part, 1, 12, 0), 0);
    CHECK_OK(fclose(file));
    return 0;
}
