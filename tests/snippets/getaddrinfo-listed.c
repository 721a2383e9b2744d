/* A name that the machine has in its own list: its address, and the descriptors that others make meanwhile have the
 * numbers that the schedule gives them, whatever libc opens. */
/* tests: getaddrinfo gethostbyname */
/* ops: READ WRITE */
#define _GNU_SOURCE
#include "check.h"
#include <arpa/inet.h>
#include <netdb.h>

enum { ROUNDS = 4 };

static void *resolve(void *name)
{
    const struct addrinfo hints = { .ai_family = AF_INET, .ai_socktype = SOCK_STREAM };
    for (int i = 0; i < ROUNDS; i++) {
        struct addrinfo *found;
        CHECK_EQ(getaddrinfo(name, "80", &hints, &found), 0);
        const struct sockaddr_in *address = (const struct sockaddr_in *)found->ai_addr;
        CHECK_EQ(ntohl(address->sin_addr.s_addr), INADDR_LOOPBACK);
        CHECK_EQ(ntohs(address->sin_port), 80);
        freeaddrinfo(found);
    }
    return NULL;
}

static void *move(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        int fds[2];
        char byte = 0;
        CHECK_OK(pipe(fds));
        CHECK_EQ(write(fds[1], "x", 1), 1);
        CHECK_EQ(read(fds[0], &byte, 1), 1);
        CHECK_EQ(byte, 'x');
        CHECK_OK(close(fds[0]));
        CHECK_OK(close(fds[1]));
    }
    return unused;
}

int main(void)
{
    pthread_t threads[3];
    CHECK_OK(pthread_create(&threads[0], NULL, resolve, "localhost"));
    CHECK_OK(pthread_create(&threads[1], NULL, move, NULL));
    CHECK_OK(pthread_create(&threads[2], NULL, resolve, "LocalHost"));
    for (int i = 0; i < 3; i++)
        CHECK_OK(pthread_join(threads[i], NULL));
    const struct hostent *host = gethostbyname("localhost");
    CHECK(host != NULL);
    CHECK_EQ(host->h_addrtype, AF_INET);
    return 0;
}
