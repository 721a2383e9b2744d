// A call that makes a thread of libc's own (aio, SIGEV_THREAD, mq_notify) is two steps. Where the first filled a block
// of the trace, the second stood behind its end: the trace was refused as damaged, or the run ended as an error of
// pct's.
//
// RUN: for n in $(seq 488 514); do for what in aio timer;
//     do pct run -q -S round-robin --slack=0 --state none -- %p $what $n || exit 1; done; done
// RUN: for n in $(seq 488 514); do pct run -q -n 2 -S pos --state none -- %p mq $n || exit 1; done
#include <aio.h>
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static sem_t done;

static void notice(union sigval unused)
{
    (void)unused;
    sem_post(&done);
}

static void *nothing(void *unused)
{
    return unused;
}

int main(int argc, char **argv)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static char text[8];
    struct sigevent event = { .sigev_notify = SIGEV_THREAD, .sigev_notify_function = notice };
    struct aiocb read_it = { .aio_buf = text, .aio_nbytes = sizeof text, .aio_sigevent = event };
    struct itimerspec soon = { .it_value.tv_nsec = 1000 };
    struct mq_attr small = { .mq_maxmsg = 1, .mq_msgsize = 1 };
    char name[32];
    pthread_t thread;
    timer_t timer;
    if (argc != 3)
        return 2;
    sem_init(&done, 0, 0);
    pthread_create(&thread, NULL, nothing, NULL);
    pthread_join(thread, NULL);
    for (int left = atoi(argv[2]); left > 0; left -= 2) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
        if (left == 1)
            sem_trywait(&done);
    }
    if (atoi(argv[2]) % 2)
        sem_trywait(&done);
    if (!strcmp(argv[1], "aio")) {
        read_it.aio_fildes = open("/dev/zero", O_RDONLY);
        if (aio_read(&read_it))
            return 1;
    } else if (!strcmp(argv[1], "timer")) {
        if (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &soon, NULL))
            return 1;
    } else {
        snprintf(name, sizeof name, "/block_end-%d", getpid());
        mqd_t queue = mq_open(name, O_CREAT | O_RDWR, 0600, &small);
        mq_unlink(name);
        if (queue < 0 || mq_notify(queue, &event) || mq_send(queue, "", 1, 0))
            return 1;
    }
    while (sem_wait(&done))
        ;
    return 0;
}
