/* io_uring through liburing: reads of a pipe that another thread writes to, timeouts, several completions at once. */
/* tests: io_uring_submit_and_wait io_uring_submit_and_wait_timeout io_uring_wait_cqes io_uring_wait_cqe_timeout */
/* tests: __io_uring_get_cqe */
/* ops: POLL WRITE */
/* build: -luring */
/* outside: the kernel completes requests when it likes */
#define _GNU_SOURCE
#include "check.h"
#include <liburing.h>

static int ends[2];

static void *write_one(void *byte)
{
    CHECK_EQ(write(ends[1], byte, 1), 1);
    return NULL;
}

static void prepare_read(struct io_uring *ring, char *byte, uint64_t number)
{
    struct io_uring_sqe *request = io_uring_get_sqe(ring);
    CHECK(request);
    io_uring_prep_read(request, ends[0], byte, 1, 0);
    io_uring_sqe_set_data64(request, number);
}

/* The completion that must be there: which request it is of. */
static uint64_t take(struct io_uring *ring, struct io_uring_cqe *completion)
{
    CHECK(completion);
    CHECK_EQ(completion->res, 1);
    uint64_t number = io_uring_cqe_get_data64(completion);
    io_uring_cqe_seen(ring, completion);
    return number;
}

int main(void)
{
    struct io_uring ring;
    struct io_uring_cqe *completion = NULL;
    struct __kernel_timespec soon = { .tv_nsec = 20000000 }, late = { .tv_sec = 1000 };
    char bytes[4], a = 'a', b = 'b';
    int failed = io_uring_queue_init(8, &ring, 0);
    if (failed == -ENOSYS || failed == -EPERM)
        return 0; /* forbidden here: nobody can wait for one */
    CHECK_OK(failed);
    CHECK_OK(pipe(ends));

    /* Another thread brings the completion about. */
    prepare_read(&ring, bytes, 1);
    CHECK_EQ(io_uring_submit(&ring), 1);
    CHECK_EQ(io_uring_wait_cqe_timeout(&ring, &completion, &soon), -ETIME);
    pthread_t writer = check_spawn(write_one, &a);
    CHECK_OK(io_uring_wait_cqe(&ring, &completion));
    CHECK_EQ(take(&ring, completion), 1);
    CHECK_EQ(bytes[0], 'a');
    check_join(writer);

    /* Two at once. */
    prepare_read(&ring, bytes, 2);
    prepare_read(&ring, bytes + 1, 3);
    pthread_t writers[2] = { check_spawn(write_one, &a), check_spawn(write_one, &b) };
    CHECK_EQ(io_uring_submit_and_wait(&ring, 2), 2);
    CHECK_EQ(io_uring_cq_ready(&ring), 2);
    CHECK_OK(io_uring_wait_cqes(&ring, &completion, 2, &late, NULL));
    uint64_t sum = take(&ring, completion);
    CHECK_OK(io_uring_peek_cqe(&ring, &completion));
    CHECK_EQ(sum + take(&ring, completion), 5);
    CHECK_EQ(bytes[0] + bytes[1], 'a' + 'b');
    check_join(writers[0]);
    check_join(writers[1]);

    /* A deadline passes without a completion, and not when there is one. */
    prepare_read(&ring, bytes, 4);
    CHECK_EQ(io_uring_submit_and_wait_timeout(&ring, &completion, 1, &soon, NULL), 1); /* it was submitted */
    CHECK(!completion);
    CHECK_EQ(io_uring_submit_and_wait_timeout(&ring, &completion, 1, &soon, NULL), -ETIME);
    CHECK(!completion);
    writer = check_spawn(write_one, &b);
    CHECK_OK(io_uring_wait_cqe_timeout(&ring, &completion, &late));
    CHECK_EQ(take(&ring, completion), 4);
    check_join(writer);
    CHECK_EQ(io_uring_peek_cqe(&ring, &completion), -EAGAIN);
    io_uring_queue_exit(&ring);
    return 0;
}
