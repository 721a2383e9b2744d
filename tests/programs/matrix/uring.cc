/* The matrix: what orders two threads by way of an io_uring, from the submission of a request to its completion. A row
 * that finds io_uring forbidden ends with NOT_HERE. */
#include "matrix.h"

#if __has_include(<liburing.h>)
#include <liburing.h>

namespace
{

io_uring ring, other_ring;
int ends[2];
char byte;

void make_ring(io_uring *made, unsigned flags)
{
    const int error = io_uring_queue_init(8, made, flags);
    if (error == -ENOSYS || error == -EPERM || error == -EINVAL) {
        fprintf(stderr, "io_uring_setup: %s\n", strerror(-error));
        _exit(NOT_HERE);
    }
    MUST(error);
}

void make_rings()
{
    make_ring(&ring, 0);
    make_ring(&other_ring, 0);
    MUST(pipe(ends));
}

/* Its requests only complete while the thread that made it waits for them in the kernel. */
void make_deferring_ring()
{
    make_ring(&ring, IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN);
}

void request_nothing(io_uring *to)
{
    io_uring_prep_nop(io_uring_get_sqe(to));
    MUST(io_uring_submit(to));
}

void request_read()
{
    io_uring_prep_read(io_uring_get_sqe(&ring), ends[0], &byte, 1, 0);
    MUST(io_uring_submit(&ring));
}

void wait_for(io_uring *from)
{
    io_uring_cqe *completion;
    MUST(io_uring_wait_cqe(from, &completion));
    io_uring_cqe_seen(from, completion);
}

/* Without a call: the program's own code looks at the end of the queue. */
void look_for(io_uring *at)
{
    io_uring_cqe *completion;
    while (io_uring_peek_cqe(at, &completion))
        pause_a_little();
    io_uring_cqe_seen(at, completion);
}

const char rings[] = "libtsan does not know io_uring";

const row uring_rows[] = {
    unknown(
        "uring-wait", rings, [] { WRITE, request_nothing(&ring); }, [] { wait_for(&ring), READ; }, make_rings),
    unknown(
        "uring-look", rings, [] { WRITE, request_nothing(&ring); }, [] { look_for(&ring), READ; }, make_rings),
    unordered(
        "uring-late", [] { request_nothing(&ring), WRITE; }, [] { wait_for(&ring), READ; }, make_rings),
    unordered(
        "uring-time", [] { WRITE; },
        [] {
            __kernel_timespec soon = { 0, SOON };
            io_uring_cqe *completion;
            if (io_uring_wait_cqe_timeout(&ring, &completion, &soon) == -ETIME)
                READ;
        },
        make_rings),
    unordered(
        "uring-other", [] { WRITE, request_nothing(&ring); }, [] { wait_for(&other_ring), READ; },
        [] { make_rings(), request_nothing(&other_ring); }),
    unknown(
        "uring-write", rings,
        [] {
            WRITE;
            io_uring_prep_write(io_uring_get_sqe(&ring), ends[1], "x", 1, 0);
            MUST(io_uring_submit(&ring));
        },
        [] {
            MUST(read(ends[0], &byte, 1));
            READ;
        },
        make_rings),
    unknown(
        "uring-read", rings,
        [] {
            WRITE;
            MUST(write(ends[1], "x", 1));
        },
        [] { request_read(), wait_for(&ring), READ; }, make_rings),
    unknown(
        "uring-read-look", rings,
        [] {
            await(1);
            WRITE;
            MUST(write(ends[1], "x", 1));
            advance(2);
        },
        [] { request_read(), advance(1), await(2), look_for(&ring), READ; }, make_rings),
    unknown(
        "uring-read-deferred", rings,
        [] {
            WRITE;
            MUST(write(ends[1], "x", 1));
        },
        [] { make_deferring_ring(), request_read(), wait_for(&ring), READ; }, [] { MUST(pipe(ends)); }),
};

} // namespace

const table uring_table = { uring_rows, sizeof uring_rows / sizeof *uring_rows };
#else
const table uring_table = { nullptr, 0 };
#endif
