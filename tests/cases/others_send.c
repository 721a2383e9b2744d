// What other processes send unasked: clients of a server, the writer of a named pipe. When it comes is not pct's to
// choose, but that was not counted, and a guarantee given where the first run, repeated, happened to be the same. What
// a process sends to itself is not the world's, also where the kernel delivers it later, or no point tells of it.
//
//     others_send ask KIND PATH                      a client, until it is killed
//     others_send local|tcp|datagram|pipe PATH       is sent something from outside
//     others_send inside KIND PATH                   sends it to itself: also terminal, files, polled (a named pipe
//                                                    whose end to write does not wait for the other)
//     others_send held PATH                          reads at once from a named pipe that another process has open
//
// RUN: for kind in local tcp datagram pipe; do
//      rm -f %t/s; [ $kind = pipe ] && mkfifo %t/s; %p ask $kind %t/s & client=$!;
//      pct run -n 3 -s 1 -S pct --state none -- %p $kind %t/s > %t/$kind 2>&1; status=$?; kill $client;
//      [ $status = 0 ] && grep '3 waits that were left to the outside world' %t/$kind &&
//      grep 'no guarantee' %t/$kind || exit; done
// RUN: rm -f %t/h; mkfifo %t/h; exec 5<>%t/h; echo 0123456789 >&5;
//      pct run -n 3 -s 1 -S pct --state none -- %p held %t/h > %t/held 2>&1 5>&- &&
//      grep '3 waits that were left to the outside world' %t/held && grep 'no guarantee' %t/held
// RUN: for kind in local tcp datagram pipe terminal files polled; do
//      pct run -n 60 -s 1 -S pct -d 1 --explore=0 --state none -- %p inside $kind %t/i > %t/out 2>&1 || exit;
//      ! grep 'not controlled\|no guarantee' %t/out || exit; done
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <assert.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

union address {
    struct sockaddr any;
    struct sockaddr_un local;
    struct sockaddr_in internet;
};

static const char *kind, *path;
static int listener, ends[2];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static int is(const char *name)
{
    return !strcmp(kind, name);
}

static int is_pipe(void)
{
    return is("pipe") || is("polled") || is("held");
}

static int open_to_write(void)
{
    int fd;
    while ((fd = open(path, O_WRONLY | (is("polled") ? O_NONBLOCK : 0))) < 0 && is("polled"))
        sched_yield();
    return fd;
}

/* A socket of this kind, and where the server's is. */
static int prepare(union address *address, socklen_t *size)
{
    memset(address, 0, sizeof *address);
    if (is("local")) {
        address->local.sun_family = AF_UNIX;
        snprintf(address->local.sun_path, sizeof address->local.sun_path, "%s", path);
        *size = sizeof address->local;
        return socket(AF_UNIX, SOCK_STREAM, 0);
    }
    address->internet.sin_family = AF_INET;
    address->internet.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    *size = sizeof address->internet;
    return socket(AF_INET, is("tcp") ? SOCK_STREAM : SOCK_DGRAM, 0);
}

/* The port stands in the file. */
static void begin(void)
{
    union address address;
    socklen_t size;
    listener = prepare(&address, &size);
    unlink(path);
    assert(!bind(listener, &address.any, size) && (is("datagram") || !listen(listener, 8)));
    if (is("local"))
        return;
    assert(!getsockname(listener, &address.any, &size));
    FILE *file = fopen(path, "w");
    fprintf(file, "%d", ntohs(address.internet.sin_port));
    fclose(file);
}

static void ask(void)
{
    union address address;
    socklen_t size;
    int port = 0, fd = is_pipe() ? open_to_write() : prepare(&address, &size);
    FILE *file = is("local") || is_pipe() ? NULL : fopen(path, "r");
    if (file) {
        port = fscanf(file, "%d", &port) == 1 ? port : 0;
        fclose(file);
    }
    if (!is("local") && !is_pipe())
        address.internet.sin_port = htons(port);
    if (is_pipe() || ((is("local") || port) && !connect(fd, &address.any, size)))
        (void)!write(fd, "x", 1);
    close(fd);
}

static void *serve(void *unused)
{
    char byte;
    int fd = is("datagram") ? listener
             : is_pipe()    ? open(path, O_RDONLY | (is("held") ? O_NONBLOCK : 0))
                            : accept(listener, NULL, NULL);
    struct pollfd asked = { .fd = fd, .events = POLLIN };
    while (poll(&asked, 1, -1) != 1 || (is("datagram") ? recv(fd, &byte, 1, 0) : read(fd, &byte, 1)) < 0)
        ;
    close(fd);
    return unused;
}

static void *asks(void *unused)
{
    ask();
    return unused;
}

static void *types(void *unused)
{
    assert(write(ends[0], "x\n", 2) == 2);
    return unused;
}

static void *reads(void *unused)
{
    char bytes[8];
    assert(read(ends[1], bytes, sizeof bytes) == 2);
    return unused;
}

static void *makes(void *unused)
{
    (void)!creat(path, 0600);
    return unused;
}

static void *hears(void *unused)
{
    struct epoll_event event = { .events = EPOLLIN };
    int epoll = epoll_create1(0);
    assert(!epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event) && epoll_wait(epoll, &event, 1, -1) == 1);
    return unused;
}

static void both(void *(*one)(void *), void *(*other)(void *))
{
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, one, NULL);
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
    kind = arguments[count - 2], path = arguments[count - 1];
    int inside = !strcmp(arguments[1], "inside");
    if (!strcmp(arguments[1], "ask")) {
        signal(SIGPIPE, SIG_IGN);
        for (;; usleep(2000))
            ask();
    }
    if (is("terminal")) {
        ends[0] = posix_openpt(O_RDWR | O_NOCTTY);
        assert(!grantpt(ends[0]) && !unlockpt(ends[0]));
        ends[1] = open(ptsname(ends[0]), O_RDWR | O_NOCTTY);
        both(types, reads);
    } else if (is("files")) {
        char folder[256];
        snprintf(folder, sizeof folder, "%s", path);
        *strrchr(folder, '/') = 0;
        unlink(path);
        ends[0] = inotify_init1(0);
        assert(inotify_add_watch(ends[0], folder, IN_CREATE) >= 0);
        both(makes, hears);
    } else {
        unlink(inside || !is_pipe() ? path : "");
        if (!is_pipe())
            begin();
        else if (inside)
            mkfifo(path, 0600);
        both(serve, inside ? asks : NULL);
    }
    return 0;
}
