/* For explore.bats: two threads that talk by sockets, to whom the first argument says: one that this process listens on
 * (inside), or one of the port that the second argument has, by connect() or sendto(). */
#include <arpa/inet.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct sockaddr_in address = { .sin_family = AF_INET };
static int type;

static void *talk(void *unused)
{
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    int fd = socket(AF_INET, type, 0);
    if (type == SOCK_STREAM)
        (void)!connect(fd, (const struct sockaddr *)&address, sizeof address);
    else
        (void)!sendto(fd, "x", 1, 0, (const struct sockaddr *)&address, sizeof address);
    close(fd);
    return unused;
}

int main(int argc, char **argv)
{
    socklen_t length = sizeof address;
    pthread_t thread;
    type = argc > 1 && !strcmp(argv[1], "sendto") ? SOCK_DGRAM : SOCK_STREAM;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (argc > 2) {
        address.sin_port = htons((uint16_t)atoi(argv[2]));
    } else {
        int here = socket(AF_INET, type, 0);
        if (bind(here, (const struct sockaddr *)&address, length) || (type == SOCK_STREAM && listen(here, 4)) ||
            getsockname(here, (struct sockaddr *)&address, &length))
            return 1;
    }
    if (pthread_create(&thread, NULL, talk, NULL))
        return 1;
    talk(NULL);
    return pthread_join(thread, NULL);
}
