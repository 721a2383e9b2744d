/* aio_init: one thread performs requests, and begins none before the one that waits is over. */
/* ops: REQUEST REQUEST_WAIT */
#define _GNU_SOURCE
#include "check.h"
#include <aio.h>
#include <sys/mman.h>

int main(void)
{
    struct aioinit one = { .aio_threads = 1, .aio_num = 4 };
    int ends[2], file = memfd_create("snippet", 0);
    char c[2];
    aio_init(&one);
    CHECK_EQ(pipe(ends), 0);
    CHECK_EQ(pwrite(file, "x", 1, 0), 1);
    struct aiocb first = { .aio_fildes = ends[0], .aio_buf = &c[0], .aio_nbytes = 1 };
    struct aiocb second = { .aio_fildes = file, .aio_buf = &c[1], .aio_nbytes = 1 };
    CHECK_EQ(aio_read(&first), 0);
    CHECK_EQ(aio_read(&second), 0);
    usleep(1000);
    CHECK_EQ(aio_error(&second), EINPROGRESS);
    one.aio_threads = 2; /* too late */
    aio_init(&one);
    const struct aiocb *const list[] = { &second };
    const struct timespec soon = { .tv_nsec = 1000000 };
    CHECK_FAILS(aio_suspend(list, 1, &soon), EAGAIN);
    CHECK_EQ(aio_error(&second), EINPROGRESS);
    CHECK_EQ(write(ends[1], "y", 1), 1);
    while (aio_error(&second) == EINPROGRESS)
        aio_suspend(list, 1, NULL);
    CHECK_EQ(aio_return(&first), 1);
    CHECK_EQ(aio_return(&second), 1);
    CHECK(c[0] == 'y' && c[1] == 'x');
    return 0;
}
