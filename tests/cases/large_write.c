/* A write of more than a pipe or socket has room for goes in pieces, and others run in between: each is a step, so a
 * recorded trace says when, and can be followed. So are the pieces of a read with MSG_WAITALL, and a connection that is
 * being made.
 * RUN: for what in pipe socket waitall connect; do for seed in 1 2 3 4 5 6;
 *     do pct run -q -s $seed -S random-walk -t %t/trace -- %p $what; [ $? = 7 ] || exit 1;
 *     pct replay %t/trace -- %p $what > %t/log 2>&1; [ $? = 7 ] || exit 1; ! grep -q "did NOT" %t/log || exit 1; done;
 *     done
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LARGE = 400000, PART = 30000, SMALL = 1000 };

static int from, to;
static char large[LARGE];
static struct sockaddr_in address = { .sin_family = AF_INET };
static const char *what;

static void *send_all(void *unused)
{
    if (!strcmp(what, "connect"))
        connect(to, (struct sockaddr *)&address, sizeof address);
    if (!strcmp(what, "waitall"))
        for (int i = 0; i < LARGE; i += PART)
            write(to, large, LARGE - i < PART ? LARGE - i : PART);
    else
        write(to, large,
              strcmp(what, "connect") ? LARGE : SMALL); /* how much fits into TCP's windows is the machine's */
    close(to);
    return unused;
}

static long receive(void)
{
    static char part[LARGE];
    if (!strcmp(what, "waitall"))
        return recv(from, part, LARGE, MSG_WAITALL);
    return read(from, part, PART);
}

int main(int argc, char **argv)
{
    pthread_t thread;
    int ends[2], listener = -1;
    (void)argc;
    what = argv[1];
    if (!strcmp(what, "connect")) {
        socklen_t length = sizeof address;
        listener = socket(AF_INET, SOCK_STREAM, 0);
        to = socket(AF_INET, SOCK_STREAM, 0);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        bind(listener, (struct sockaddr *)&address, sizeof address);
        listen(listener, 1);
        getsockname(listener, (struct sockaddr *)&address, &length);
    } else if (!strcmp(what, "pipe")) {
        pipe(ends);
        from = ends[0], to = ends[1];
    } else {
        socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
        from = ends[0], to = ends[1];
    }
    pthread_create(&thread, NULL, send_all, NULL);
    if (listener >= 0)
        from = accept(listener, NULL, NULL);
    long got, all = 0;
    while ((got = receive()) > 0)
        all += got;
    pthread_join(thread, NULL);
    return all == (listener < 0 ? LARGE : SMALL) ? 7 : 1;
}
