/* Events of requests that others serve: asynchronous input and output, names of hosts, notifications of messages,
 * io_uring. */
#include "random.h"
#include <aio.h>
#include <arpa/inet.h>
#include <liburing.h>
#include <netdb.h>
#include <sys/mman.h>

/* --- Input and output -------------------------------------------------------------------------------------------- */

static void prepare_aio(struct event *event)
{
    const struct aioinit init = { .aio_threads = 2 + (int)(event->seed % 8), .aio_num = 16 };
    aio_init(&init);
}

static ssize_t finish_request(struct aiocb *request)
{
    const struct aiocb *list[] = { request };
    while (aio_error(request) == EINPROGRESS)
        CHECK_OK(AGAIN(aio_suspend(list, 1, NULL)));
    CHECK(!aio_error(request) || aio_error(request) == ECANCELED);
    return aio_return(request);
}

/* By the names that programs refer to whose files may be large. */
static ssize_t finish_request64(struct aiocb64 *request)
{
    const struct aiocb64 *list[] = { request };
    const struct timespec far = { .tv_sec = FAR };
    while (aio_error64(request) == EINPROGRESS)
        CHECK_OK(AGAIN(aio_suspend64(list, 1, &far)));
    CHECK(!aio_error64(request) || aio_error64(request) == ECANCELED);
    return aio_return64(request);
}

static void run_aio(struct event *event, unsigned role, uint64_t *place)
{
    int fd[2], file = memfd_create("file", MFD_CLOEXEC);
    char byte = 0;
    (void)role;
    CHECK(file >= 0);
    CHECK_OK(pipe(fd));
    for (unsigned i = 0; i < event->rounds; i++) {
        struct aiocb request = { .aio_fildes = fd[1], .aio_buf = (void *)"a", .aio_nbytes = 1 };
        request.aio_sigevent.sigev_notify = SIGEV_NONE;
        CHECK_OK(aio_write(&request));
        CHECK_EQ(RESTARTED(read(fd[0], &byte, 1)), 1);
        CHECK_EQ(finish_request(&request), 1);
        request.aio_fildes = file;
        CHECK_OK(aio_fsync(draw(place, 2) ? O_SYNC : O_DSYNC, &request));
        CHECK_OK(finish_request(&request));
        /* Nothing comes, and the request is withdrawn, unless it is served already. */
        request.aio_fildes = fd[0];
        request.aio_buf = &byte;
        CHECK_OK(aio_read(&request));
        if (aio_cancel(fd[0], &request) != AIO_CANCELED)
            CHECK_EQ(RESTARTED(write(fd[1], "a", 1)), 1);
        ssize_t result = finish_request(&request);
        CHECK(result == 1 || result == -1);
    }
    CHECK_OK(close(fd[0]));
    CHECK_OK(close(fd[1]));
    CHECK_OK(close(file));
}

static void run_aio64(struct event *event, unsigned role, uint64_t *place)
{
    int fd[2], file = memfd_create("file", MFD_CLOEXEC);
    char byte = 0;
    (void)role;
    CHECK(file >= 0);
    CHECK_OK(pipe(fd));
    for (unsigned i = 0; i < event->rounds; i++) {
        struct aiocb64 request = { .aio_fildes = fd[1], .aio_buf = (void *)"a", .aio_nbytes = 1 },
                       *list[] = { &request };
        request.aio_sigevent.sigev_notify = SIGEV_NONE;
        request.aio_lio_opcode = LIO_WRITE;
        CHECK_OK(draw(place, 2) ? aio_write64(&request) : lio_listio64(LIO_NOWAIT, list, 1, NULL));
        CHECK_EQ(finish_request64(&request), 1);
        request.aio_fildes = file;
        CHECK_OK(aio_fsync64(O_SYNC, &request));
        CHECK_OK(finish_request64(&request));
        request.aio_fildes = fd[0];
        request.aio_buf = &byte;
        CHECK_OK(aio_read64(&request));
        CHECK_EQ(finish_request64(&request), 1);
        CHECK_EQ(byte, 'a');
        CHECK_EQ(aio_cancel64(fd[0], NULL), AIO_ALLDONE);
    }
    CHECK_OK(close(fd[0]));
    CHECK_OK(close(fd[1]));
    CHECK_OK(close(file));
}

/* --- Names of hosts ---------------------------------------------------------------------------------------------- */

static void run_names(struct event *event, unsigned role, uint64_t *place)
{
    const struct addrinfo digits = { .ai_flags = AI_NUMERICHOST, .ai_family = AF_INET, .ai_socktype = SOCK_STREAM };
    (void)role;
    for (unsigned i = 0; i < event->rounds; i++) {
        struct gaicb request = { .ar_name = "127.0.0.1", .ar_request = &digits }, *list[] = { &request };
        const struct gaicb *const waits[] = { &request };
        CHECK_OK(getaddrinfo_a(GAI_NOWAIT, list, 1, NULL));
        /* glibc does not tell of a request that is withdrawn. */
        if (!draw(place, 3) && gai_cancel(&request) == EAI_CANCELED)
            continue;
        while (gai_error(&request) == EAI_INPROGRESS) {
            int result = gai_suspend(waits, 1, NULL);
            CHECK(result == 0 || result == EAI_ALLDONE || (result == EAI_INTR && interruptions()));
        }
        CHECK_OK(gai_error(&request));
        CHECK_EQ(((const struct sockaddr_in *)(const void *)request.ar_result->ai_addr)->sin_addr.s_addr,
                 htonl(INADDR_LOOPBACK));
        freeaddrinfo(request.ar_result);
    }
}

/* --- Messages ---------------------------------------------------------------------------------------------------- */

/* By a signal that is waited for: in a thread that the C library makes for it, all signals of the program's would be
 * let in. */
static void run_notified(struct event *event, unsigned role, uint64_t *place)
{
    struct sigevent how = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = event->signal };
    struct mq_attr limits = { .mq_maxmsg = 2, .mq_msgsize = 8 };
    char name[64], text[8];
    if (!role) {
        snprintf(name, sizeof name, "/pct-random-notify-%d-%u", (int)getpid(), event->number);
        mqd_t queue = mq_open(name, O_CREAT | O_EXCL | O_RDWR, 0600, &limits);
        CHECK(queue >= 0);
        CHECK_OK(mq_unlink(name));
        CHECK_OK(mq_notify(queue, &how));
        event->data[0] = queue;
    }
    pthread_barrier_wait(&event->barrier);
    if (role) {
        doze(place);
        CHECK_OK(RESTARTED(mq_send((mqd_t)event->data[0], "x", 1, 0)));
    } else {
        sigset_t set;
        siginfo_t info;
        signal_of(event, &set);
        CHECK_EQ(ANYHOW(sigwaitinfo(&set, &info)), event->signal);
        CHECK_EQ(info.si_code, SI_MESGQ);
        CHECK_EQ(RESTARTED(mq_receive((mqd_t)event->data[0], text, sizeof text, NULL)), 1);
        CHECK_OK(mq_notify((mqd_t)event->data[0], NULL));
    }
    pthread_barrier_wait(&event->barrier);
    if (!role)
        CHECK_OK(mq_close((mqd_t)event->data[0]));
}

static void prepare_notified(struct event *event)
{
    CHECK_OK(pthread_barrier_init(&event->barrier, NULL, 2));
}

static void finish_notified(struct event *event)
{
    CHECK_OK(pthread_barrier_destroy(&event->barrier));
}

/* --- io_uring ---------------------------------------------------------------------------------------------------- */

static int submit(struct io_uring *ring, struct io_uring_cqe **done, unsigned way)
{
    struct __kernel_timespec far = { .tv_sec = FAR };
    if (way == 0)
        return io_uring_submit_and_wait(ring, 1);
    if (way == 1)
        return io_uring_submit_and_wait_timeout(ring, done, 1, &far, NULL);
    return io_uring_submit(ring);
}

/* 0: something is done; or a number of an error. */
static int wait_for_completion(struct io_uring *ring, struct io_uring_cqe **done, unsigned way)
{
    struct __kernel_timespec far = { .tv_sec = FAR };
    if (way == 0)
        return io_uring_wait_cqes(ring, done, 1, &far, NULL);
    if (way == 1)
        return io_uring_wait_cqe_timeout(ring, done, &far);
    return io_uring_wait_cqe(ring, done);
}

static bool read_by_ring(int fd, char *byte, uint64_t *place)
{
    struct io_uring ring;
    struct io_uring_cqe *done = NULL;
    int result;
    if (io_uring_queue_init(4, &ring, 0)) /* many kernels, or their administrators, refuse it */
        return false;
    struct io_uring_sqe *request = io_uring_get_sqe(&ring);
    CHECK(request);
    io_uring_prep_read(request, fd, byte, 1, 0);
    while ((result = submit(&ring, &done, draw(place, 3))) < 0)
        CHECK(result == -EINTR && interruptions());
    while ((result = wait_for_completion(&ring, &done, draw(place, 3))))
        CHECK(result == -EINTR && interruptions());
    CHECK_EQ(done->res, 1);
    io_uring_cqe_seen(&ring, done);
    io_uring_queue_exit(&ring);
    return true;
}

static void prepare_ring(struct event *event)
{
    int fd[2];
    CHECK_OK(pipe(fd));
    event->slots[0] = (unsigned)fd[0];
    event->slots[1] = (unsigned)fd[1];
}

static void run_ring(struct event *event, unsigned role, uint64_t *place)
{
    char byte = 0;
    doze(place);
    if (role) {
        CHECK_EQ(RESTARTED(write((int)event->slots[1], "r", 1)), 1);
        return;
    }
    if (!read_by_ring((int)event->slots[0], &byte, place))
        CHECK_EQ(RESTARTED(read((int)event->slots[0], &byte, 1)), 1);
    CHECK_EQ(byte, 'r');
}

static void finish_ring(struct event *event)
{
    CHECK_OK(close((int)event->slots[0]));
    CHECK_OK(close((int)event->slots[1]));
}

const struct pattern request_patterns[] = {
    { "aio", 1, 1, 0, 0, 0, 0, 0, 0, prepare_aio, run_aio, NULL },
    { "aio of large files", 1, 1, 0, 0, 0, 0, 0, 0, prepare_aio, run_aio64, NULL },
    { "getaddrinfo_a", 1, 1, 0, 0, 0, 0, 0, 0, NULL, run_names, NULL },
    { "mq_notify", 2, 2, 0, 0, 0, 0, 0, FOREIGN | NEEDS_SIGNAL, prepare_notified, run_notified, finish_notified },
    { "io_uring", 2, 2, 0, 0, 0, 0, 0, FOREIGN, prepare_ring, run_ring, finish_ring },
    { NULL, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL },
};
