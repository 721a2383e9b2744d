/* Names of hosts: numbers need nobody, names may have to be asked for; other threads go on meanwhile. */
/* tests: getaddrinfo getnameinfo gethostbyname */
/* outside: name servers */
#define _GNU_SOURCE
#include "check.h"
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

static void *resolve(void *name)
{
    struct addrinfo hints = { .ai_family = AF_INET, .ai_socktype = SOCK_STREAM }, *found;
    if (!strcmp(name, "127.0.0.1"))
        hints.ai_flags = AI_NUMERICHOST;
    CHECK_EQ(getaddrinfo(name, "80", &hints, &found), 0);
    const struct sockaddr_in *address = (const struct sockaddr_in *)(const void *)found->ai_addr;
    CHECK_EQ(ntohl(address->sin_addr.s_addr), INADDR_LOOPBACK);
    CHECK_EQ(ntohs(address->sin_port), 80);
    char host[100];
    CHECK_EQ(getnameinfo(found->ai_addr, found->ai_addrlen, host, sizeof host, NULL, 0, NI_NUMERICHOST), 0);
    CHECK(!strcmp(host, "127.0.0.1"));
    CHECK_EQ(getnameinfo(found->ai_addr, found->ai_addrlen, host, sizeof host, NULL, 0, 0), 0);
    freeaddrinfo(found);
    return NULL;
}

int main(void)
{
    pthread_t a = check_spawn(resolve, "127.0.0.1"), b = check_spawn(resolve, "localhost");
    check_join(a);
    check_join(b);
    const struct hostent *host = gethostbyname("localhost");
    CHECK(host && host->h_addrtype == AF_INET);
    return 0;
}
