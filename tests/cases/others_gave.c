// What other processes have sent is there, so no thread waits for it, and the call does not say who it was: an
// inherited pipe, datagrams that are read by read(), readv() or a recvmsg() without an address, datagrams of a UNIX
// socket, a named pipe that was opened to read and to write, also by fopen(). It was not counted, and a guarantee
// given. What the process has sent itself is not the world's.
//
//     others_gave given N                            reads from descriptor N, of which there is enough
//     others_gave read|readv|recvmsg|local PATH      hears of a client
//     others_gave ask KIND PATH                      that client, until it is killed
//     others_gave open|fopen PATH                    a named pipe, in which something is
//     others_gave own KIND PATH                      local, open, fopen: sends it itself
//
// RUN: mkfifo %t/p; exec 5<>%t/p; printf '%01000d' 0 >&5; pct run -n 3 -s 1 -S pct --state none -- %p given 5
//      > %t/out 2>&1; grep '3 waits that were left to the outside world' %t/out && grep 'no guarantee' %t/out
// RUN: for kind in read readv recvmsg local; do rm -f %t/s; %p ask $kind %t/s & client=$!;
//      pct run -n 3 -s 1 -S pct --state none -- %p $kind %t/s > %t/$kind 2>&1; kill $client;
//      grep '3 waits that were left to the outside world' %t/$kind && grep 'no guarantee' %t/$kind || exit; done
// RUN: mkfifo %t/p; exec 5<>%t/p; printf '%060000d' 0 >&5; for kind in open fopen; do
//      pct run -n 3 -s 1 -S pct --state none -- %p $kind %t/p > %t/$kind 2>&1 5>&-;
//      grep '3 waits that were left to the outside world' %t/$kind && grep 'no guarantee' %t/$kind || exit; done
// RUN: for kind in local open fopen; do
//      pct run -n 60 -s 1 -S pct -d 1 --explore=0 --state none -- %p own $kind %t/o > %t/out 2>&1 || exit;
//      ! grep 'not controlled\|no guarantee' %t/out || exit; done
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

union address {
    struct sockaddr any;
    struct sockaddr_un local;
    struct sockaddr_in internet;
};

static const char *kind, *path;
static int fd = -1;
static FILE *file;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static int is(const char *name)
{
    return !strcmp(kind, name);
}

/* A socket for datagrams, and the server's name; the port of one of the Internet stands in the file. */
static int prepare(union address *address, socklen_t *size)
{
    memset(address, 0, sizeof *address);
    *size = is("local") ? sizeof address->local : sizeof address->internet;
    address->any.sa_family = is("local") ? AF_UNIX : AF_INET;
    if (is("local"))
        snprintf(address->local.sun_path, sizeof address->local.sun_path, "%s", path);
    else
        address->internet.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return socket(address->any.sa_family, SOCK_DGRAM, 0);
}

static void ask(void)
{
    union address address;
    socklen_t size;
    int port = 0, from = prepare(&address, &size);
    FILE *said = is("local") ? NULL : fopen(path, "r");
    if (said) {
        port = fscanf(said, "%d", &port) == 1 ? port : 0;
        fclose(said);
    }
    if (!is("local"))
        address.internet.sin_port = htons(port);
    if (is("local") || port)
        (void)!sendto(from, "x", 1, MSG_DONTWAIT, &address.any, size);
    close(from);
}

static void begin(int waits)
{
    union address address;
    socklen_t size;
    int there = 0;
    fd = prepare(&address, &size);
    unlink(path);
    assert(!bind(fd, &address.any, size) && !getsockname(fd, &address.any, &size));
    if (!is("local")) {
        FILE *says = fopen(path, "w");
        fprintf(says, "%d", ntohs(address.internet.sin_port));
        fclose(says);
    }
    while (waits && !there) /* alone, and in real time */
        assert(!ioctl(fd, FIONREAD, &there));
}

static void *take(void *unused)
{
    char byte;
    struct iovec part = { &byte, 1 };
    struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
    if (is("fopen") && fd < 0) /* else the stream is to write */
        assert(fgetc(file) != EOF);
    else if (is("recvmsg"))
        assert(recvmsg(fd, &message, 0) == 1);
    else
        assert((is("readv") ? readv(fd, &part, 1) : read(fd, &byte, 1)) == 1);
    return unused;
}

static void *give(void *unused)
{
    if (is("local"))
        ask();
    else if (is("fopen"))
        assert(fputs("x", file) >= 0 && !fflush(file));
    else
        assert(write(fd, "x", 1) == 1);
    return unused;
}

static void run(void *(*other)(void *))
{
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, take, NULL);
    if (other)
        pthread_create(&threads[1], NULL, other, NULL);
    for (int i = 0; i < 5; i++) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
    pthread_join(threads[0], NULL);
    if (other)
        pthread_join(threads[1], NULL);
}

int main(int count, char **arguments)
{
    assert(count > 2);
    const int own = !strcmp(arguments[1], "own");
    kind = arguments[count - 2], path = arguments[count - 1];
    if (!strcmp(arguments[1], "ask"))
        for (;; usleep(2000))
            ask();
    if (is("given")) {
        fd = atoi(path);
    } else if (is("open") || is("fopen")) {
        if (own) {
            unlink(path);
            assert(!mkfifo(path, 0600));
        }
        if (is("fopen"))
            assert((file = fopen(path, "r+")));
        if (is("open") || own)
            assert((fd = open(path, O_RDWR)) >= 0);
    } else {
        begin(!own);
    }
    run(own ? give : NULL);
    return 0;
}
