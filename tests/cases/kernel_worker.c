/* The kernel has threads of its own for a program's requests, whose time is the program's: of this one, which has one
 * thread, it was said that it had others, which pct did not see start.
 *
 * BUILD: gcc -O1 -g -o %p %s -luring
 * RUN: pct run -s 1 -n 20 -S pct -d 2 --state none -- %p > %t/out 2>&1; grep 'at most n=1' %t/out &&
 *     ! grep 'did not see' %t/out
 */
#include <assert.h>
#include <fcntl.h>
#include <liburing.h>

enum { TIMES = 20 };

static char buffer[1 << 20];

int main(void)
{
    struct io_uring ring;
    struct io_uring_cqe *completion;
    int zeros = open("/dev/zero", O_RDONLY);
    assert(zeros >= 0);
    if (io_uring_queue_init(1, &ring, 0))
        return 0; /* a kernel without */
    for (int i = 0; i < TIMES; i++) {
        struct io_uring_sqe *request = io_uring_get_sqe(&ring);
        assert(request);
        io_uring_prep_read(request, zeros, buffer, sizeof buffer, 0);
        request->flags |= IOSQE_ASYNC;
        assert(io_uring_submit(&ring) == 1);
        assert(!io_uring_wait_cqe(&ring, &completion));
        assert(completion->res == sizeof buffer);
        io_uring_cqe_seen(&ring, completion);
    }
    io_uring_queue_exit(&ring);
    return 0;
}
