// Two workers of a server wait until somebody has called, and accept. A third thread calls, then tells them to stop.
//
// Bug: the socket blocks: one caller ends the poll() of both workers, and who accepts second waits for a caller that
// never comes.
// Shows as: a deadlock.
// FIXED: the socket does not block.
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

enum { WORKERS = 2 };

static int listening, stop;

static void *work(void *arg)
{
    struct pollfd fds[] = { { .fd = listening, .events = POLLIN }, { .fd = stop, .events = POLLIN } };
    for (;;) {
        poll(fds, 2, -1); // culprit
        if (fds[0].revents) {
            int caller = accept(listening, NULL, NULL); // culprit
            if (caller < 0)
                continue;
            if (write(caller, "hello", 5) != 5)
                abort();
            close(caller);
        } else if (fds[1].revents) {
            return arg;
        }
    }
}

static void call(const struct sockaddr_in *address)
{
    char greeting[5];
    int s = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(s, (const struct sockaddr *)address, sizeof *address) || read(s, greeting, 5) != 5)
        abort();
    close(s);
}

int main(void)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t length = sizeof address;
    pthread_t workers[WORKERS];
    listening = socket(AF_INET, SOCK_STREAM, 0);
    stop = eventfd(0, 0);
    if (bind(listening, (struct sockaddr *)&address, length) || listen(listening, 8) ||
        getsockname(listening, (struct sockaddr *)&address, &length))
        abort();
#ifdef FIXED
    fcntl(listening, F_SETFL, O_NONBLOCK);
#endif
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&workers[i], NULL, work, NULL);
    call(&address);
    if (write(stop, &(uint64_t){ 1 }, sizeof(uint64_t)) != sizeof(uint64_t))
        abort();
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i], NULL);
    puts("stopped");
}
