/* A socket that is to have eight bytes before a read returns. */
/* tests: setsockopt */
/* ops: READ WRITE */
#define _GNU_SOURCE
#include "check.h"
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

static int client;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

enum { HALVES = 24 };

/* Two more than are read: where a read has taken the first half of eight bytes, Linux wakes it only when eight more are
 * there (tcp_data_ready()). */
static void *send_halves(void *unused)
{
    for (int i = 0; i < HALVES + 2; i++)
        CHECK_EQ(write(client, "half", 4), 4);
    return unused;
}

int main(void)
{
    struct sockaddr_in name = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
    socklen_t length = sizeof name;
    int least = 8, at_once = 1, listener = socket(AF_INET, SOCK_STREAM, 0);
    char text[8192];
    CHECK_OK(bind(listener, (struct sockaddr *)&name, length));
    CHECK_OK(listen(listener, 1));
    CHECK_OK(getsockname(listener, (struct sockaddr *)&name, &length));
    client = socket(AF_INET, SOCK_STREAM, 0);
    CHECK_OK(connect(client, (struct sockaddr *)&name, length));
    int server = accept(listener, NULL, NULL);
    CHECK(server >= 0);
    CHECK_OK(setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once));
    CHECK_OK(setsockopt(server, SOL_SOCKET, SO_RCVLOWAT, &least, sizeof least));
    pthread_t thread = check_spawn(send_halves, NULL);
    for (ssize_t got, all = 0, i = 0; all < HALVES * 4; all += got, i++) {
        /* So that the read is not the first thing that it does once it is its turn. */
        CHECK_OK(pthread_mutex_lock(&mutex));
        CHECK_OK(pthread_mutex_unlock(&mutex));
        got = read(server, text, i % 2 ? 16 : sizeof text);
        CHECK(got >= 8);
        CHECK_EQ(got % 4, 0);
        CHECK(!memcmp(text, "halfhalf", 8));
    }
    check_join(thread);
    CHECK_FAILS(setsockopt(-1, SOL_SOCKET, SO_RCVLOWAT, &least, sizeof least), EBADF);
    return 0;
}
