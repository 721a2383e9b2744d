/* What libc performs on threads of its own (asynchronous input and output, names, notification of messages) is
 * performed by threads of the schedule: no false deadlock, no time-out before its time.
 *
 * RUN: for t in cond thread suspend poll socket list gai mq; do %p $t || exit 1; done
 * RUN: for t in cond thread suspend poll socket list gai mq; do for s in portfolio pos;
 *     do pct run -q -s 1 -n $((FULL ? 40 : 12)) --timeout 20 -S $s -- %p $t || exit 1; done; done
 * RUN: for t in cond suspend list mq; do pct run -q -s 3 -t %t/t -- %p $t && pct replay -q %t/t -- %p $t || exit 1;
 *     done
 */
#define _GNU_SOURCE
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <netdb.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

static sem_t told;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int is_done, ends[2];
static char buffer[64];
static struct aiocb request;

static void post(union sigval unused)
{
    (void)unused;
    sem_post(&told);
}

static void signal_cond(union sigval unused)
{
    (void)unused;
    pthread_mutex_lock(&mutex);
    is_done = 1;
    pthread_cond_signal(&cond);
    pthread_mutex_unlock(&mutex);
}

static struct sigevent by_thread(void (*function)(union sigval))
{
    struct sigevent event = { .sigev_notify = SIGEV_THREAD, .sigev_notify_function = function };
    return event;
}

static void prepare(int fd, size_t size)
{
    request = (struct aiocb){ .aio_fildes = fd, .aio_buf = buffer, .aio_nbytes = size };
    request.aio_sigevent.sigev_notify = SIGEV_NONE;
}

static int test_cond(void)
{
    prepare(open("/etc/passwd", O_RDONLY), sizeof buffer);
    request.aio_sigevent = by_thread(signal_cond);
    aio_read(&request);
    pthread_mutex_lock(&mutex);
    while (!is_done)
        pthread_cond_wait(&cond, &mutex);
    pthread_mutex_unlock(&mutex);
    return aio_return(&request) <= 0;
}

static int test_thread(void)
{
    prepare(memfd_create("file", 0), sizeof buffer);
    request.aio_sigevent = by_thread(post);
    aio_write(&request);
    return sem_wait(&told);
}

static int await(void)
{
    const struct aiocb *list = &request;
    while (aio_error(&request) == EINPROGRESS)
        aio_suspend(&list, 1, NULL);
    return aio_error(&request);
}

static int test_suspend(void)
{
    prepare(ends[0], 8);
    aio_read(&request);
    return write(ends[1], "12345678", 8) != 8 || await();
}

/* By looking often, for a second. */
static int test_poll(void)
{
    int i = 0;
    prepare(ends[0], 8);
    aio_read(&request);
    if (write(ends[1], "12345678", 8) != 8)
        return 1;
    while (aio_error(&request) == EINPROGRESS && i++ < 100)
        usleep(10000);
    return aio_error(&request);
}

static int test_socket(void)
{
    char back[8];
    int pair[2];
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    prepare(pair[1], 8);
    aio_write(&request);
    return read(pair[0], back, 8) != 8 || await();
}

static int test_list(void)
{
    static struct aiocb out;
    struct aiocb *list[] = { &request, &out };
    prepare(ends[0], 8);
    request.aio_lio_opcode = LIO_READ;
    out = (struct aiocb){ .aio_fildes = ends[1], .aio_buf = "12345678", .aio_nbytes = 8, .aio_lio_opcode = LIO_WRITE };
    out.aio_sigevent.sigev_notify = SIGEV_NONE;
    return lio_listio(LIO_WAIT, list, 2, NULL);
}

static int test_gai(void)
{
    static struct gaicb name = { .ar_name = "localhost" };
    struct gaicb *list = &name;
    struct sigevent event = by_thread(post);
    getaddrinfo_a(GAI_NOWAIT, &list, 1, &event);
    return sem_wait(&told) || gai_error(&name) == EAI_INPROGRESS;
}

static int test_mq(void)
{
    char path[40];
    struct mq_attr limits = { .mq_maxmsg = 4, .mq_msgsize = 16 };
    struct sigevent event = by_thread(post);
    snprintf(path, sizeof path, "/pct-case-%d", (int)getpid());
    mqd_t queue = mq_open(path, O_CREAT | O_RDWR, 0600, &limits);
    mq_unlink(path);
    return mq_notify(queue, &event) || mq_send(queue, "x", 1, 0) || sem_wait(&told);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*test)(void);
    } tests[] = { { "cond", test_cond }, { "thread", test_thread }, { "suspend", test_suspend },
                  { "poll", test_poll }, { "socket", test_socket }, { "list", test_list },
                  { "gai", test_gai },   { "mq", test_mq } };
    sem_init(&told, 0, 0);
    if (pipe(ends))
        return 1;
    for (unsigned i = 0; argc > 1 && i < sizeof tests / sizeof *tests; i++)
        if (!strcmp(argv[1], tests[i].name))
            return tests[i].test();
    return 2;
}
