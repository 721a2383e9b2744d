/* Message queues: full, empty, priorities, deadlines. */
/* tests: mq_send mq_timedsend mq_receive mq_timedreceive */
/* ops: MESSAGE */
#define _GNU_SOURCE
#include "check.h"
#include <fcntl.h>
#include <mqueue.h>

enum { MESSAGES = 20 };

static mqd_t queue;

static void *send_all(void *unused)
{
    for (int i = 0; i < MESSAGES; i++) {
        char c = (char)i;
        CHECK_OK(mq_send(queue, &c, 1, 0));
    }
    return unused;
}

int main(void)
{
    char name[32], c;
    unsigned priority;
    struct mq_attr limits = { .mq_maxmsg = 3, .mq_msgsize = 1 };
    snprintf(name, sizeof name, "/pct-snippet-%d", (int)getpid());
    queue = mq_open(name, O_CREAT | O_EXCL | O_RDWR, 0600, &limits);
    CHECK(queue >= 0);
    CHECK_OK(mq_unlink(name));
    pthread_t thread = check_spawn(send_all, NULL);
    for (int i = 0; i < MESSAGES; i++) {
        CHECK_EQ(mq_receive(queue, &c, 1, &priority), 1);
        CHECK_EQ(c, i);
    }
    check_join(thread);
    CHECK_OK(mq_send(queue, "a", 1, 1));
    CHECK_OK(mq_send(queue, "b", 1, 5));
    CHECK_EQ(mq_receive(queue, &c, 1, &priority), 1);
    CHECK_EQ(c, 'b');
    CHECK_EQ(priority, 5);
    CHECK_EQ(mq_receive(queue, &c, 1, NULL), 1);
    struct timespec soon = check_in_ms(CLOCK_REALTIME, 20), wrong = { .tv_nsec = -1 };
    CHECK_FAILS(mq_timedreceive(queue, &c, 1, NULL, &soon), ETIMEDOUT);
    CHECK(check_reached(CLOCK_REALTIME, &soon));
    CHECK_FAILS(mq_timedreceive(queue, &c, 1, NULL, &wrong), EINVAL);
    for (int i = 0; i < 3; i++)
        CHECK_OK(mq_timedsend(queue, "x", 1, 0, &soon)); /* has room: that it is over does not matter */
    soon = check_in_ms(CLOCK_REALTIME, 20);
    CHECK_FAILS(mq_timedsend(queue, "x", 1, 0, &soon), ETIMEDOUT);
    CHECK_FAILS(mq_send(queue, "xx", 2, 0), EMSGSIZE);
    CHECK_FAILS(mq_receive(1000, &c, 1, NULL), EBADF);
    return 0;
}
