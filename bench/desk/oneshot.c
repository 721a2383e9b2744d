// Two workers share an epoll descriptor. A client sends messages of a length and a body, which the workers add up.
//
// Bug: the descriptor of the client is not EPOLLONESHOT, so that both workers may read from it, one the length and the
// other the body.
// Shows as: an assertion: a length that is none.
// FIXED: EPOLLONESHOT, armed again behind the body.
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

enum { WORKERS = 2, MESSAGES = 4, BODY = 1000 };

#ifdef FIXED
#define EVENTS (EPOLLIN | EPOLLONESHOT)
#else
#define EVENTS EPOLLIN
#endif

static int poller, client, server, stop;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int messages, sum;

static int receive(void)
{
    int value = 0;
    return recv(server, &value, sizeof value, MSG_DONTWAIT) == sizeof value ? value : -1;
}

static void handle(void)
{
    int length = receive(); // culprit
    if (length >= 0) {
        assert(length == 1);
        int body = receive(); // culprit
        pthread_mutex_lock(&lock);
        sum += body;
        if (++messages == MESSAGES)
            eventfd_write(stop, 1);
        pthread_mutex_unlock(&lock);
    }
#ifdef FIXED
    epoll_ctl(poller, EPOLL_CTL_MOD, server, &(struct epoll_event){ .events = EVENTS, .data.fd = server });
#endif
}

static void *work(void *arg)
{
    struct epoll_event event;
    for (;;) {
        if (epoll_wait(poller, &event, 1, -1) != 1)
            continue;
        if (event.data.fd == stop)
            return arg;
        handle();
    }
}

int main(void)
{
    int pair[2];
    pthread_t workers[WORKERS];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
        abort();
    client = pair[0];
    server = pair[1];
    stop = eventfd(0, 0);
    poller = epoll_create1(0);
    epoll_ctl(poller, EPOLL_CTL_ADD, server, &(struct epoll_event){ .events = EVENTS, .data.fd = server });
    epoll_ctl(poller, EPOLL_CTL_ADD, stop, &(struct epoll_event){ .events = EPOLLIN, .data.fd = stop });
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&workers[i], NULL, work, NULL);
    for (int i = 0; i < MESSAGES; i++)
        if (send(client, (int[]){ 1, BODY + i }, 2 * sizeof(int), 0) != 2 * sizeof(int))
            abort();
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i], NULL);
    printf("%d\n", sum);
    return sum == MESSAGES * BODY + 6 ? 0 : 1;
}
