/* A wait that only this process could end, and that others can end by now: its epoll watches one more descriptor, also
 * one in it or by another name, or a child has got the other end of its pipe meanwhile. It was called a deadlock.
 *
 * RUN: for kind in later inner name; do for seed in 1 2 3 4; do
 *      (sleep 1; echo x) | pct run -q -s $seed --timeout 60 --state none -- %p $kind || exit; done; done
 * RUN: pct run -q -s 1 -n 8 --timeout 60 --state none -- %p child
 */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int waited;

static void *hear(void *unused)
{
    struct epoll_event event;
    assert(epoll_wait(waited, &event, 1, -1) == 1);
    return unused;
}

static void *take(void *unused)
{
    char byte;
    assert(read(waited, &byte, 1) == 1 && byte == 'x');
    return unused;
}

static void watch(int epoll, int fd)
{
    struct epoll_event event = { .events = EPOLLIN };
    assert(!epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event));
}

/* Something from outside comes by the standard input. */
static void hears(const char *kind)
{
    pthread_t thread;
    int epoll = epoll_create1(0), inner = epoll_create1(0);
    watch(epoll, eventfd(0, 0));
    watch(epoll, inner);
    waited = strcmp(kind, "name") ? epoll : dup(epoll);
    pthread_create(&thread, NULL, hear, NULL);
    watch(strcmp(kind, "inner") ? epoll : inner, 0);
    pthread_join(thread, NULL);
}

static void takes(void)
{
    pthread_t thread;
    int ends[2];
    char text[64], *arguments[] = { "sh", "-c", text, NULL };
    pid_t child;
    assert(!pipe(ends));
    waited = ends[0];
    snprintf(text, sizeof text, "sleep 0.2; printf x >&%d", ends[1]);
    pthread_create(&thread, NULL, take, NULL);
    assert(!posix_spawn(&child, "/bin/sh", NULL, NULL, arguments, environ));
    pthread_join(thread, NULL);
    assert(waitpid(child, NULL, 0) == child);
}

int main(int count, char **arguments)
{
    assert(count == 2);
    if (!strcmp(arguments[1], "child"))
        takes();
    else
        hears(arguments[1]);
    return 0;
}
