/* Message queues: full, empty, priorities, deadlines; System V's and its semaphores. */
/* tests: mq_send mq_timedsend mq_receive mq_timedreceive msgsnd msgrcv semop semtimedop */
/* ops: MESSAGE */
/* outside: System V's cannot be asked whether they would wait */
#define _GNU_SOURCE
#include "check.h"
#include <fcntl.h>
#include <mqueue.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>

enum { MESSAGES = 20 };

struct message {
    long type;
    char text[8];
};

static mqd_t queue;
static int system_queue, semaphores;

static void *send_all(void *unused)
{
    for (int i = 0; i < MESSAGES; i++) {
        char c = (char)i;
        CHECK_OK(mq_send(queue, &c, 1, 0));
    }
    return unused;
}

static void *receive_later(void *unused)
{
    struct message message;
    CHECK_EQ(msgrcv(system_queue, &message, sizeof message.text, 2, 0), 3);
    CHECK(!strcmp(message.text, "hi"));
    return unused;
}

static void *down(void *unused)
{
    struct sembuf operation = { .sem_op = -1 };
    CHECK_OK(semop(semaphores, &operation, 1));
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

    struct message message = { .type = 2, .text = "hi" };
    system_queue = msgget(IPC_PRIVATE, 0600);
    semaphores = semget(IPC_PRIVATE, 1, 0600);
    CHECK(system_queue >= 0 && semaphores >= 0);
    CHECK_FAILS(msgrcv(system_queue, &message, sizeof message.text, 0, IPC_NOWAIT), ENOMSG);
    thread = check_spawn(receive_later, NULL);
    message = (struct message){ .type = 1, .text = "no" };
    CHECK_OK(msgsnd(system_queue, &message, 3, 0));
    message = (struct message){ .type = 2, .text = "hi" };
    CHECK_OK(msgsnd(system_queue, &message, 3, 0));
    check_join(thread);
    thread = check_spawn(down, NULL);
    struct sembuf up = { .sem_op = 1 }, take = { .sem_op = -1 };
    CHECK_OK(semop(semaphores, &up, 1));
    check_join(thread);
    struct timespec moment = { .tv_nsec = 20000000 };
    CHECK_FAILS(semtimedop(semaphores, &take, 1, &moment), EAGAIN);
    CHECK_OK(msgctl(system_queue, IPC_RMID, NULL));
    CHECK_OK(semctl(semaphores, 0, IPC_RMID));
    CHECK_FAILS(semop(semaphores, &take, 1), EINVAL);
    return 0;
}
