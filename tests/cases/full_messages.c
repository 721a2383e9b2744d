// poll() calls a UNIX socket of messages full when a fourth of its buffer is used, but a message does not wait before
// all of it is: a program that nobody reads from was called a deadlock. And of the queue of a socket that another one
// is not connected to, poll() says nothing: a message to a full one was tried for ever, without a scheduling point.
//
//     full_messages datagram|seqpacket|queue
//
// RUN: for how in datagram seqpacket; do %p $how && pct run -s 1 -n 6 --explore=0 -- %p $how &&
//         pct run -s 1 -n 4 --sites -- %p $how && pct run -s 1 -n 4 --exec -S round-robin -- %p $how || exit; done
// RUN: %p queue && pct run -s 1 -n 20 --timeout 30 -- %p queue && pct run -s 1 -n 4 --timeout 30 --sites -- %p queue
// RUN: for how in datagram queue; do PCT_SEED=2 PCT_TRACE=%t/trace LD_PRELOAD=$LIBPCT %p $how &&
//         pct replay %t/trace -- %p $how || exit; done
#include <assert.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { MESSAGES = 20, SIZE = 4000, LONG_QUEUE = 1200 };

static int ends[2];
static char bytes[SIZE];
static struct sockaddr_un name = { .sun_family = AF_UNIX };
static socklen_t length = sizeof(sa_family_t); /* of the name: at first, any that is free */

static void *fill(void *unused)
{
    for (int i = 0; i < MESSAGES; i++)
        assert((i & 1 ? write(ends[1], bytes, SIZE) : send(ends[1], bytes, SIZE, 0)) == SIZE);
    return unused;
}

/* From many sockets, so that the queue is full before any of their buffers. */
static void *overfill(void *unused)
{
    for (int i = 0; i < LONG_QUEUE;) {
        int from = socket(AF_UNIX, SOCK_DGRAM, 0);
        for (int k = 0; k < 100 && i < LONG_QUEUE; k++, i++)
            assert(sendto(from, bytes, 1, 0, (struct sockaddr *)&name, length) == 1);
        close(from);
    }
    return unused;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    const int queue = !strcmp(how, "queue");
    pthread_t thread;
    if (queue) {
        ends[0] = socket(AF_UNIX, SOCK_DGRAM, 0);
        assert(!bind(ends[0], (struct sockaddr *)&name, length));
        length = sizeof name;
        assert(!getsockname(ends[0], (struct sockaddr *)&name, &length));
    } else {
        assert(!socketpair(AF_UNIX, strcmp(how, "seqpacket") ? SOCK_DGRAM : SOCK_SEQPACKET, 0, ends));
    }
    pthread_create(&thread, NULL, queue ? overfill : fill, NULL);
    for (int i = 0; queue && i < LONG_QUEUE; i++)
        assert(recv(ends[0], bytes, SIZE, 0) == 1);
    pthread_join(thread, NULL);
    for (int i = 0; !queue && i < MESSAGES; i++)
        assert(recv(ends[0], bytes, SIZE, 0) == SIZE);
    return 0;
}
