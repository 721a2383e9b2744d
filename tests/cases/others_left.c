// Messages of another process are in a queue, and a semaphore is one that it counts up: no thread waits for it, so it
// was not counted, and a guarantee given. What the process has sent itself is not the world's.
//
//     others_left ask KIND FILE      makes a queue or semaphore, says in the file which it is, and is busy with it
//                                    until it is killed
//     others_left KIND FILE          takes something there; KIND: sysv, posix, semaphore
//     others_left own KIND           from its own
//
// RUN: for kind in sysv posix semaphore; do rm -f %t/id; %p ask $kind %t/id & client=$!;
//      until [ -s %t/id ]; do sleep 0.1; done;
//      pct run -n 3 -s 1 -S pct --state none -- %p $kind %t/id > %t/$kind 2>&1; kill $client; wait $client;
//      grep '3 waits that were left to the outside world' %t/$kind && grep 'no guarantee' %t/$kind || exit; done
// RUN: for kind in sysv posix semaphore; do
//      pct run -n 60 -s 1 -S pct -d 1 --explore=0 --state none -- %p own $kind > %t/out 2>&1 || exit;
//      ! grep 'not controlled\|no guarantee' %t/out || exit; done
#define _GNU_SOURCE
#include <assert.h>
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <unistd.h>

static const char *kind;
static char name[64];
static int id;
static struct {
    long type;
    char text[8];
} message = { .type = 1 };
static volatile sig_atomic_t over;

static int is(const char *one)
{
    return !strcmp(kind, one);
}

static void end(int number)
{
    over = number;
}

static void make(void)
{
    struct mq_attr limits = { .mq_maxmsg = 8, .mq_msgsize = sizeof message.text };
    snprintf(name, sizeof name, "/others-left-%d", (int)getpid());
    id = is("sysv")    ? msgget(IPC_PRIVATE, 0600)
         : is("posix") ? mq_open(name, O_RDWR | O_CREAT | O_EXCL | O_NONBLOCK, 0600, &limits)
                       : semget(IPC_PRIVATE, 1, 0600);
    assert(id >= 0);
}

static void give(void)
{
    struct sembuf up = { .sem_op = 1 };
    if (is("sysv"))
        (void)!msgsnd(id, &message, sizeof message.text, IPC_NOWAIT);
    else if (is("posix"))
        (void)!mq_send(id, message.text, sizeof message.text, 0);
    else
        (void)!semop(id, &up, 1);
}

static void drop(void)
{
    if (is("sysv"))
        msgctl(id, IPC_RMID, NULL);
    else if (is("posix"))
        mq_unlink(name);
    else
        semctl(id, 0, IPC_RMID);
}

static void *take(void *unused)
{
    struct sembuf down = { .sem_op = -1 };
    assert(is("sysv")    ? msgrcv(id, &message, sizeof message.text, 0, 0) >= 0
           : is("posix") ? mq_receive(id, message.text, sizeof message.text, NULL) >= 0
                         : !semop(id, &down, 1));
    return unused;
}

static void *gives(void *unused)
{
    give();
    return unused;
}

static void ask(const char *path)
{
    struct sigaction action = { .sa_handler = end };
    sigaction(SIGTERM, &action, NULL);
    make();
    for (int i = 0; i < 8; i++)
        give();
    FILE *file = fopen(path, "w");
    assert(file && fprintf(file, "%d %s", is("posix") ? 0 : id, name) > 0 && !fclose(file));
    for (; !over; usleep(500))
        give();
    drop();
}

int main(int count, char **arguments)
{
    pthread_t threads[2];
    int own = !strcmp(arguments[1], "own");
    assert(count > 2);
    kind = arguments[own || count > 3 ? 2 : 1];
    if (count > 3) {
        ask(arguments[3]);
        return 0;
    }
    if (own) {
        make();
        if (is("posix")) {
            assert((id = mq_open(name, O_RDWR)) >= 0); /* one that waits */
            drop();
        }
    } else {
        FILE *file = fopen(arguments[2], "r");
        assert(file && fscanf(file, "%d %63s", &id, name) == 2 && !fclose(file));
        if (is("posix"))
            assert((id = mq_open(name, O_RDWR)) >= 0);
    }
    pthread_create(&threads[0], NULL, take, NULL);
    if (own)
        pthread_create(&threads[1], NULL, gives, NULL);
    pthread_join(threads[0], NULL);
    if (own)
        pthread_join(threads[1], NULL);
    if (own && !is("posix"))
        drop();
    return 0;
}
