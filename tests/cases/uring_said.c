// What a thread of the process brings about the kernel completes in a ring a moment later: a token of such a run
// replayed in 8 of 10 cases, and nothing said why.
//
// BUILD: gcc -O1 -g -pthread -o %p %s -luring
// RUN: pct run -n 20 -s 1 -S random-walk --explore=0 --state none -- %p > %t/out 2>&1;
//      grep 'waits\? that w.* left to the outside world' %t/out || grep 'no io_uring' %t/out
#include <assert.h>
#include <liburing.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static int ends[2];

static void *write_one(void *unused)
{
    assert(write(ends[1], "x", 1) == 1);
    return unused;
}

int main(void)
{
    struct io_uring ring;
    struct io_uring_cqe *completion;
    pthread_t writer;
    char byte;
    if (io_uring_queue_init(2, &ring, 0)) {
        fputs("no io_uring\n", stderr);
        return 1;
    }
    assert(!pipe(ends));
    io_uring_prep_read(io_uring_get_sqe(&ring), ends[0], &byte, 1, 0);
    assert(io_uring_submit(&ring) == 1);
    pthread_create(&writer, NULL, write_one, NULL);
    assert(!io_uring_wait_cqe(&ring, &completion) && completion->res == 1);
    io_uring_cqe_seen(&ring, completion);
    pthread_join(writer, NULL);
    io_uring_queue_exit(&ring);
    return 0;
}
