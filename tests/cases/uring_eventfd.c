/* A ring counts its completions in an eventfd, for which a thread waits, as event loops do: nobody but the kernel ends
 * that wait, which was called a deadlock.
 *
 * BUILD: gcc -O1 -g -pthread -o %p %s -luring
 * RUN: pct run -q -n 4 -s 1 --timeout 60 --state none -- %p
 */
#include <assert.h>
#include <errno.h>
#include <liburing.h>
#include <sys/eventfd.h>

int main(void)
{
    struct io_uring ring;
    struct io_uring_cqe *completion;
    struct __kernel_timespec limit = { .tv_nsec = 50000000 };
    eventfd_t count;
    int event = eventfd(0, 0);
    if (io_uring_queue_init(2, &ring, 0))
        return 0; /* a kernel without */
    assert(!io_uring_register_eventfd(&ring, event));
    io_uring_prep_timeout(io_uring_get_sqe(&ring), &limit, 0, 0);
    assert(io_uring_submit(&ring) == 1);
    assert(!eventfd_read(event, &count) && count == 1);
    assert(!io_uring_peek_cqe(&ring, &completion) && completion->res == -ETIME);
    io_uring_queue_exit(&ring);
    return 0;
}
