/* A pipe has something for a thread that waits for it in ppoll(), and then a signal comes for it, whose handler reads
 * that: ppoll() fails with EINTR. It waited on, for ever.
 *
 * RUN: for kind in ppoll pselect epoll; do
 *      pct run -q -s 1 -n 30 -S random-walk --timeout 20 --state none -- %p $kind || exit; done
 */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <unistd.h>

static int ends[2];

static void take(int signal)
{
    char byte;
    int error = errno;
    (void)signal;
    (void)!read(ends[0], &byte, 1);
    errno = error;
}

static void *wait_for_it(void *kind)
{
    struct pollfd fd = { .fd = ends[0], .events = POLLIN };
    struct epoll_event event = { .events = EPOLLIN };
    int epoll = epoll_create1(0), result;
    sigset_t none;
    fd_set set;
    FD_ZERO(&set);
    FD_SET(ends[0], &set);
    sigemptyset(&none);
    assert(!epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event));
    if (!strcmp(kind, "ppoll"))
        result = ppoll(&fd, 1, NULL, &none);
    else if (!strcmp(kind, "pselect"))
        result = pselect(ends[0] + 1, &set, NULL, NULL, NULL, &none);
    else
        result = epoll_pwait(epoll, &event, 1, -1, &none);
    assert(result == 1 || (result == -1 && errno == EINTR));
    return NULL;
}

int main(int argc, char **argv)
{
    const struct sigaction action = { .sa_handler = take };
    sigset_t one;
    pthread_t thread;
    sigemptyset(&one);
    sigaddset(&one, SIGUSR1);
    assert(argc == 2 && !pthread_sigmask(SIG_BLOCK, &one, NULL) && !sigaction(SIGUSR1, &action, NULL));
    assert(!pipe2(ends, O_NONBLOCK) && !pthread_create(&thread, NULL, wait_for_it, argv[1]));
    assert(write(ends[1], "x", 1) == 1 && !pthread_kill(thread, SIGUSR1));
    assert(!pthread_join(thread, NULL));
    return 0;
}
