/* poll, select and their relatives: several descriptors, timeouts, masks, interruption. */
/* tests: poll __poll_chk ppoll __ppoll_chk select pselect */
/* ops: POLL */
#define _GNU_SOURCE
#include "check.h"
#include "nag.h"
#include <poll.h>
#include <sys/select.h>

int __poll_chk(struct pollfd *fds, nfds_t count, int timeout, size_t size);
int __ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask, size_t size);

static int a[2], b[2];

static void *write_to(void *fd)
{
    CHECK_EQ(write(*(int *)fd, "x", 1), 1);
    return NULL;
}

static void drain(int fd)
{
    char c;
    CHECK_EQ(read(fd, &c, 1), 1);
}

/* Which of the two is found ready, by each of the calls. */
static int ask(int how)
{
    struct pollfd fds[2] = { { .fd = a[0], .events = POLLIN }, { .fd = b[0], .events = POLLIN } };
    struct timespec hour = { .tv_sec = 3600 };
    struct timeval minute = { .tv_sec = 60 };
    fd_set set;
    FD_ZERO(&set);
    FD_SET(a[0], &set);
    FD_SET(b[0], &set);
    int most = (a[0] > b[0] ? a[0] : b[0]) + 1;
    if (how == 0)
        CHECK_EQ(poll(fds, 2, -1), 1);
    else if (how == 1)
        CHECK_EQ(__poll_chk(fds, 2, 100000, sizeof fds), 1);
    else if (how == 2)
        CHECK_EQ(ppoll(fds, 2, &hour, NULL), 1);
    else if (how == 3)
        CHECK_EQ(__ppoll_chk(fds, 2, NULL, NULL, sizeof fds), 1);
    else if (how == 4)
        CHECK_EQ(select(most, &set, NULL, NULL, &minute), 1);
    else
        CHECK_EQ(pselect(most, &set, NULL, NULL, &hour, NULL), 1);
    if (how < 4)
        return fds[0].revents == POLLIN ? a[0] : b[0];
    return FD_ISSET(a[0], &set) ? a[0] : b[0];
}

static void *interrupted(void *how)
{
    struct nag nag;
    struct pollfd fd = { .fd = a[0], .events = POLLIN };
    fd_set set;
    FD_ZERO(&set);
    FD_SET(a[0], &set);
    nag_start(&nag, SA_RESTART); /* these are interrupted even so */
    if (how)
        CHECK_FAILS(poll(&fd, 1, -1), EINTR);
    else
        CHECK_FAILS(select(a[0] + 1, &set, NULL, NULL, NULL), EINTR);
    nag_stop(&nag);
    return NULL;
}

static void *wait_for_ever(void *unused)
{
    struct pollfd fd = { .fd = a[0], .events = POLLIN };
    for (;;)
        poll(&fd, 1, -1);
    return unused;
}

int main(void)
{
    CHECK_OK(pipe(a));
    CHECK_OK(pipe(b));
    for (int how = 0; how < 6; how++) {
        int *to = how % 2 ? &a[1] : &b[1];
        pthread_t thread = check_spawn(write_to, to);
        int from = ask(how);
        CHECK_EQ(from, how % 2 ? a[0] : b[0]);
        drain(from);
        check_join(thread);
    }
    /* Nothing comes: no earlier than the deadline, and not never. */
    struct pollfd fd = { .fd = a[0], .events = POLLIN };
    int64_t began = check_now(CLOCK_MONOTONIC);
    CHECK_EQ(poll(&fd, 1, 30), 0);
    CHECK(check_now(CLOCK_MONOTONIC) - began >= 30000000);
    began = check_now(CLOCK_MONOTONIC);
    struct timeval moment = { .tv_usec = 20000 };
    CHECK_EQ(select(0, NULL, NULL, NULL, &moment), 0);
    CHECK(check_now(CLOCK_MONOTONIC) - began >= 20000000);
    CHECK_EQ(moment.tv_sec + moment.tv_usec, 0);
    CHECK_EQ(poll(&fd, 1, 0), 0);
    CHECK_EQ(poll(NULL, 0, 10), 0);

    fd.events = POLLOUT;
    fd.fd = a[1];
    CHECK_EQ(poll(&fd, 1, -1), 1);
    fd.fd = 1000;
    CHECK_EQ(poll(&fd, 1, -1), 1);
    CHECK_EQ(fd.revents, POLLNVAL);
    fd_set set;
    FD_ZERO(&set);
    FD_SET(50, &set);
    CHECK_FAILS(select(51, &set, NULL, NULL, NULL), EBADF);
    struct timespec wrong = { .tv_nsec = 1000000000 };
    CHECK_FAILS(ppoll(&fd, 1, &wrong, NULL), EINVAL);
    CHECK_FAILS(pselect(0, NULL, NULL, NULL, &wrong, NULL), EINVAL);

    /* A signal that is blocked everywhere but in the wait. */
    struct sigaction action = { .sa_handler = nag_handler };
    sigset_t blocked, open;
    CHECK_OK(sigaction(SIGUSR2, &action, NULL));
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR2);
    CHECK_EQ(pthread_sigmask(SIG_BLOCK, &blocked, &open), 0);
    sigdelset(&open, SIGUSR2);
    CHECK_OK(raise(SIGUSR2));
    nag_count = 0;
    fd = (struct pollfd){ .fd = a[0], .events = POLLIN };
    CHECK_FAILS(ppoll(&fd, 1, NULL, &open), EINTR);
    CHECK_EQ(nag_count, 1);

    interrupted(NULL);
    check_join(check_spawn(interrupted, &fd));
    pthread_t thread = check_spawn(wait_for_ever, NULL);
    CHECK_EQ(pthread_cancel(thread), 0);
    CHECK(check_join(thread) == PTHREAD_CANCELED);
    return 0;
}
