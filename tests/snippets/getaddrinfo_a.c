/* Names looked up asynchronously: both modes, every way to wait and to be notified. Addresses in digits, which ask
 * nobody. */
/* tests: getaddrinfo_a gai_error gai_suspend gai_cancel */
/* ops: REQUEST REQUEST_WAIT */
#define _GNU_SOURCE
#include "check.h"
#include <arpa/inet.h>
#include <netdb.h>
#include <semaphore.h>
#include <signal.h>

static sem_t notified;

static void notify(union sigval value)
{
    CHECK_EQ(value.sival_int, 5);
    CHECK_EQ(sem_post(&notified), 0);
}

static void check_result(struct gaicb *request)
{
    CHECK_EQ(gai_error(request), 0);
    const struct sockaddr_in *address = (const struct sockaddr_in *)request->ar_result->ai_addr;
    CHECK_EQ(ntohl(address->sin_addr.s_addr), INADDR_LOOPBACK);
    freeaddrinfo(request->ar_result);
}

int main(void)
{
    const struct addrinfo digits = { .ai_flags = AI_NUMERICHOST, .ai_family = AF_INET, .ai_socktype = SOCK_STREAM };
    struct gaicb one[3];
    struct gaicb *list[] = { &one[0], NULL, &one[1], &one[2] };
    CHECK_EQ(sem_init(&notified, 0, 0), 0);
    for (int i = 0; i < 3; i++)
        one[i] = (struct gaicb){ .ar_name = "127.0.0.1", .ar_request = &digits };
    CHECK_EQ(getaddrinfo_a(GAI_WAIT, list, 4, NULL), 0);
    for (int i = 0; i < 3; i++)
        check_result(&one[i]);
    CHECK_EQ(gai_cancel(&one[0]), EAI_ALLDONE);
    CHECK_EQ(gai_suspend((const struct gaicb *const *)list, 4, NULL), EAI_ALLDONE);

    CHECK_EQ(getaddrinfo_a(GAI_NOWAIT, list, 4, NULL), 0);
    for (int i = 0; i < 3; i++) {
        const struct gaicb *each = &one[i];
        struct timespec long_enough = { .tv_sec = 1000 };
        while (gai_error(&one[i]) == EAI_INPROGRESS) {
            int result = gai_suspend(&each, 1, &long_enough);
            CHECK(result == 0 || result == EAI_ALLDONE || result == EAI_INTR);
        }
        check_result(&one[i]);
    }

    struct sigevent event = { .sigev_notify = SIGEV_THREAD, .sigev_notify_function = notify };
    event.sigev_value.sival_int = 5;
    CHECK_EQ(getaddrinfo_a(GAI_NOWAIT, list, 4, &event), 0);
    CHECK_EQ(sem_wait(&notified), 0);
    for (int i = 0; i < 3; i++)
        check_result(&one[i]);

    one[0].ar_name = "not an address";
    CHECK_EQ(getaddrinfo_a(GAI_WAIT, list, 1, NULL), 0);
    CHECK_EQ(gai_error(&one[0]), EAI_NONAME);
    CHECK_EQ(getaddrinfo_a(77, list, 1, NULL), EAI_SYSTEM);
    CHECK_EQ(errno, EINVAL);
    return 0;
}
