// A program's own server, reached by a name that is not the one it is bound to: another address of the machine, another
// path of the socket, or the same one from another working directory. It was taken for another process's.
//
//     own_names path DIRECTORY | messages DIRECTORY | address ADDRESS | mapped ADDRESS
//
// RUN: for how in path messages; do rm -f %t/s;
//      pct run -n 40 -s 1 -S pct -d 1 --explore=0 --state none -- %p $how %t > %t/out 2>&1 || exit;
//      ! grep 'not controlled\|no guarantee' %t/out || exit; done
// RUN: pct run -n 40 -s 1 -S pct -d 1 --explore=0 --state none -- %p mapped 127.0.0.1 > %t/out 2>&1 || exit;
//      ! grep 'not controlled\|no guarantee' %t/out
// NEED: hostname -I | grep -q '^[0-9]*[.]'
// RUN: pct run -n 40 -s 1 -S pct -d 1 --explore=0 --state none -- %p address $(hostname -I | cut -d " " -f 1) > %t/out
//      2>&1 || exit; ! grep 'not controlled\|no guarantee' %t/out
#include <arpa/inet.h>
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static union {
    struct sockaddr any;
    struct sockaddr_un local;
    struct sockaddr_in internet;
    struct sockaddr_in6 six;
} address;
static int listener, messages;

static void *serve(void *unused)
{
    char byte;
    int fd = messages ? listener : accept(listener, NULL, NULL);
    assert(fd >= 0 && recv(fd, &byte, 1, 0) == 1);
    close(fd);
    return unused;
}

int main(int count, char **arguments)
{
    const char *where = arguments[count - 1];
    const int mapped = !strcmp(arguments[1], "mapped");
    const int local = !mapped && strcmp(arguments[1], "address") != 0;
    socklen_t size = local ? sizeof address.local : sizeof address.internet;
    pthread_t server;
    messages = !strcmp(arguments[1], "messages");
    listener = socket(local ? AF_UNIX : AF_INET, messages ? SOCK_DGRAM : SOCK_STREAM, 0);
    if (local) {
        address.local = (struct sockaddr_un){ .sun_family = AF_UNIX, .sun_path = "./s" };
        assert(!chdir(where));
        unlink("s");
    } else {
        address.internet.sin_family = AF_INET;
        if (mapped)
            address.internet.sin_addr.s_addr = inet_addr(where);
    }
    assert(!bind(listener, &address.any, size) && (messages || !listen(listener, 8)));
    assert(!getsockname(listener, &address.any, &size));
    if (mapped) {
        in_port_t port = address.internet.sin_port;
        address.six = (struct sockaddr_in6){ .sin6_family = AF_INET6, .sin6_port = port };
        char name[64];
        snprintf(name, sizeof name, "::ffff:%s", where);
        assert(inet_pton(AF_INET6, name, &address.six.sin6_addr) == 1);
        size = sizeof address.six;
    } else if (!local)
        address.internet.sin_addr.s_addr = inet_addr(where);
    else if (messages)
        strcpy(address.local.sun_path, "s");
    else
        snprintf(address.local.sun_path, sizeof address.local.sun_path, "%s/s", where);
    if (local && !messages)
        assert(!chdir("/"));
    pthread_create(&server, NULL, serve, NULL);
    int fd = socket(local ? AF_UNIX : mapped ? AF_INET6 : AF_INET, messages ? SOCK_DGRAM : SOCK_STREAM, 0);
    assert(!connect(fd, &address.any, local ? sizeof address.local : size));
    assert(send(fd, "x", 1, 0) == 1);
    pthread_join(server, NULL);
    return 0;
}
