/* poll() and select() of no descriptors, and ppoll() that lets a signal in: they wait for a signal, which another
 * process sends. It was called a deadlock.
 *
 * RUN: for kind in poll select ppoll; do rm -f %t/id;
 *      { until [ -s %t/id ]; do sleep 0.1; done; while kill -USR1 $(cat %t/id); do sleep 0.2; done; } 2> /dev/null &
 *      pct run -q -s 1 --timeout 60 --state none -- %p $kind %t/id; status=$?; wait; [ $status = 0 ] || exit; done
 */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/select.h>
#include <unistd.h>

static volatile sig_atomic_t seen;

static void handle(int number)
{
    seen = number;
}

static int wait_as(const char *kind)
{
    struct pollfd end;
    sigset_t none;
    int ends[2];
    if (!strcmp(kind, "poll"))
        return poll(NULL, 0, -1);
    if (!strcmp(kind, "select"))
        return select(0, NULL, NULL, NULL, NULL);
    assert(!pipe(ends));
    end = (struct pollfd){ .fd = ends[0], .events = POLLIN };
    sigemptyset(&none);
    return ppoll(&end, 1, NULL, &none);
}

int main(int count, char **arguments)
{
    struct sigaction action = { .sa_handler = handle };
    assert(count == 3 && !sigaction(SIGUSR1, &action, NULL));
    FILE *file = fopen(arguments[2], "w");
    assert(file && fprintf(file, "%d", (int)getpid()) > 0 && !fclose(file));
    while (!seen)
        assert(wait_as(arguments[1]) == -1 && errno == EINTR);
    return 0;
}
