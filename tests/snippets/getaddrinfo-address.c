/* Addresses in digits are nobody's to tell: what threads do around them is a matter of the schedule. */
/* tests: getaddrinfo */
/* ops: MUTEX_LOCK */
#define _GNU_SOURCE
#include "check.h"
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

enum { ROUNDS = 5 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *resolve(void *address)
{
    int family = strchr(address, ':') ? AF_INET6 : AF_INET;
    for (int i = 0; i < ROUNDS; i++) {
        struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *found;
        CHECK_EQ(getaddrinfo(address, "80", &hints, &found), 0);
        CHECK_EQ(found->ai_family, family);
        CHECK(!found->ai_next);
        freeaddrinfo(found);
        hints.ai_family = AF_INET + AF_INET6 - family;
        CHECK_EQ(getaddrinfo(address, NULL, &hints, &found), EAI_ADDRFAMILY);
        pthread_mutex_lock(&lock);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[] = { check_spawn(resolve, "127.0.0.1"), check_spawn(resolve, "::1"),
                            check_spawn(resolve, "10.1") };
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++)
        check_join(threads[i]);
    return 0;
}
