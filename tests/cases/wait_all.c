/* MSG_WAITALL into several parts, or with MSG_PEEK: the call returned with what there was first.
 *
 * RUN: pct run -q -n 40 -s 1 --timeout 60 --state none -- %p
 */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SIZE = 6 };
static const char sent[] = "abcdef";
static int ends[2];

static void *sends(void *unused)
{
    for (int times = 0; times < 3; times++)
        for (int i = 0; i < SIZE; i += 2)
            assert(send(ends[0], sent + i, 2, 0) == 2);
    assert(send(ends[0], sent, 2, 0) == 2 && !shutdown(ends[0], SHUT_WR));
    return unused;
}

int main(void)
{
    pthread_t thread;
    char first[1], second[2], third[SIZE], whole[SIZE];
    struct iovec parts[] = { { first, 1 }, { second, 2 }, { third, SIZE - 3 } };
    struct msghdr message = { .msg_iov = parts, .msg_iovlen = 3 };
    assert(!socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
    pthread_create(&thread, NULL, sends, NULL);
    assert(recvmsg(ends[1], &message, MSG_WAITALL) == SIZE);
    assert(*first == 'a' && !memcmp(second, "bc", 2) && !memcmp(third, "def", 3));
    assert(recv(ends[1], whole, SIZE, MSG_WAITALL | MSG_PEEK) == SIZE && !memcmp(whole, sent, SIZE));
    assert(recv(ends[1], third, SIZE, MSG_WAITALL) == SIZE && !memcmp(third, sent, SIZE));
    assert(recv(ends[1], third, SIZE, MSG_WAITALL) == SIZE && !memcmp(third, sent, SIZE));
    assert(recv(ends[1], third, SIZE, MSG_WAITALL | MSG_PEEK) == 2);
    assert(recvmsg(ends[1], &message, MSG_WAITALL) == 2);
    pthread_join(thread, NULL);
    return 0;
}
