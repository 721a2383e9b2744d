/* System V's message queues: full, empty, types, removal, an interrupted wait. */
/* tests: msgsnd msgrcv msgctl msgget */
/* ops: MESSAGE */
#define _GNU_SOURCE
#include "check.h"
#include "nag.h"
#include <limits.h>
#include <sys/ipc.h>
#include <sys/msg.h>

enum { MESSAGES = 20 };

struct message {
    long type;
    char text[8];
};

static int queue;

static void *send_all(void *unused)
{
    struct message message = { .type = 1 };
    for (char i = 0; i < MESSAGES; i++) {
        message.text[0] = i;
        CHECK_OK(msgsnd(queue, &message, 4, 0));
    }
    return unused;
}

/* By this type, a message with this text comes. */
struct wish {
    long type;
    int flags;
    char text;
};

static void *receive(void *arg)
{
    const struct wish *wish = arg;
    struct message message;
    CHECK_EQ(msgrcv(queue, &message, sizeof message.text, wish->type, wish->flags), 1);
    CHECK_EQ(message.text[0], wish->text);
    return NULL;
}

/* The queue is removed, before this waits or while it does. */
static void *receive_nothing(void *unused)
{
    struct message message;
    CHECK_EQ(msgrcv(queue, &message, sizeof message.text, 77, 0), -1);
    CHECK(errno == EIDRM || errno == EINVAL);
    return unused;
}

static void *interrupted(void *unused)
{
    struct nag nag;
    struct message message;
    nag_start(&nag, SA_RESTART); /* no matter to System V's calls */
    CHECK_FAILS(msgrcv(queue, &message, sizeof message.text, 78, 0), EINTR);
    nag_stop(&nag);
    return unused;
}

static void put(long type, char text)
{
    struct message message = { .type = type, .text = { text } };
    CHECK_OK(msgsnd(queue, &message, 1, 0));
}

int main(void)
{
    struct message message;
    struct msqid_ds state;
    pthread_t threads[3];
    queue = msgget(IPC_PRIVATE, 0600);
    CHECK(queue >= 0);
    CHECK_FAILS(msgrcv(queue, &message, sizeof message.text, 0, IPC_NOWAIT), ENOMSG);

    /* Room for three messages of four bytes. */
    CHECK_OK(msgctl(queue, IPC_STAT, &state));
    state.msg_qbytes = 12;
    CHECK_OK(msgctl(queue, IPC_SET, &state));
    threads[0] = check_spawn(send_all, NULL);
    for (int i = 0; i < MESSAGES; i++) {
        CHECK_EQ(msgrcv(queue, &message, sizeof message.text, 0, 0), 4);
        CHECK_EQ(message.text[0], i);
    }
    check_join(threads[0]);
    message.type = 1;
    CHECK_FAILS(msgsnd(queue, &message, 13, IPC_NOWAIT), EAGAIN);
    CHECK_FAILS(msgsnd(queue, &message, SIZE_MAX, 0), EINVAL);
    message.type = 0;
    CHECK_FAILS(msgsnd(queue, &message, 13, 0), EINVAL);

    /* Each gets its own, whichever of them waits first. */
    struct wish wishes[] = { { 4, 0, 'd' }, { -3, 0, 'c' }, { 4, MSG_EXCEPT, 'e' } };
    for (int i = 0; i < 2; i++)
        threads[i] = check_spawn(receive, &wishes[i]);
    put(9, 'n');
    put(3, 'c');
    put(4, 'd');
    for (int i = 0; i < 2; i++)
        check_join(threads[i]);
    CHECK_EQ(msgrcv(queue, &message, sizeof message.text, LONG_MIN, 0), 1);
    CHECK_EQ(message.text[0], 'n');
    put(4, 'd');
    threads[2] = check_spawn(receive, &wishes[2]);
    put(5, 'e');
    check_join(threads[2]);
    CHECK_FAILS(msgrcv(queue, &message, 0, 4, 0), E2BIG);
    CHECK_EQ(msgrcv(queue, &message, 0, 4, MSG_NOERROR), 0);

    interrupted(NULL);
    threads[0] = check_spawn(receive_nothing, NULL);
    CHECK_OK(msgctl(queue, IPC_RMID, NULL));
    check_join(threads[0]);
    CHECK_FAILS(msgrcv(queue, &message, sizeof message.text, 0, 0), EINVAL);
    CHECK_FAILS(msgctl(queue, IPC_RMID, NULL), EINVAL);
    return 0;
}
