/* Asynchronous input and output: files, pipes and sockets, order for a descriptor, every way to wait and to be
 * notified, errors. */
/* tests: aio_read aio_write aio_fsync aio_error aio_return aio_suspend aio_cancel lio_listio */
/* tests: aio_read64 aio_write64 aio_fsync64 aio_error64 aio_return64 aio_suspend64 aio_cancel64 lio_listio64 */
/* ops: REQUEST REQUEST_WAIT */
#define _GNU_SOURCE
#include "check.h"
#include <aio.h>
#include <fcntl.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>

static sem_t notified;
static volatile sig_atomic_t signals, value;

static struct aiocb request(int fd, void *buffer, size_t size, off_t offset)
{
    struct aiocb it = { .aio_fildes = fd, .aio_buf = buffer, .aio_nbytes = size, .aio_offset = offset };
    it.aio_sigevent.sigev_notify = SIGEV_NONE;
    return it;
}

static void await(const struct aiocb *it)
{
    while (aio_error(it) == EINPROGRESS)
        CHECK(aio_suspend(&it, 1, NULL) == 0 || errno == EINTR);
}

static void notify(union sigval what)
{
    sigset_t mask;
    CHECK_EQ(what.sival_int, 42);
    CHECK_EQ(pthread_sigmask(SIG_BLOCK, NULL, &mask), 0);
    CHECK_EQ(sigismember(&mask, SIGUSR1), 0);
    CHECK_EQ(sem_post(&notified), 0);
}

static void handle(int signal, siginfo_t *info, void *context)
{
    (void)context;
    CHECK_EQ(info->si_code, SI_ASYNCIO);
    value = info->si_value.sival_int;
    signals += signal == SIGUSR1;
}

static void test_file(int file)
{
    char text[] = "what is written", back[sizeof text] = "";
    struct aiocb one = request(file, text, sizeof text, 100);
    CHECK_EQ(aio_write(&one), 0);
    await(&one);
    CHECK_EQ(aio_error(&one), 0);
    CHECK_EQ(aio_return(&one), sizeof text);
    CHECK_EQ(aio_fsync(O_SYNC, &one), 0);
    await(&one);
    CHECK_EQ(aio_return(&one), 0);
    CHECK_EQ(aio_fsync(O_DSYNC, &one), 0);
    await(&one);
    one = request(file, back, sizeof back, 100);
    CHECK_EQ(aio_read(&one), 0);
    while (aio_error(&one) == EINPROGRESS)
        sched_yield();
    CHECK_EQ(aio_return(&one), sizeof back);
    CHECK(!strcmp(text, back));

    struct aiocb64 same = { .aio_fildes = file, .aio_buf = text, .aio_nbytes = 4, .aio_offset = 0 };
    const struct aiocb64 *list = &same;
    same.aio_sigevent.sigev_notify = SIGEV_NONE;
    CHECK_EQ(aio_write64(&same), 0);
    CHECK_EQ(aio_suspend64(&list, 1, NULL), 0);
    CHECK_EQ(aio_error64(&same), 0);
    CHECK_EQ(aio_return64(&same), 4);
    same.aio_buf = back;
    CHECK_EQ(aio_read64(&same), 0);
    CHECK_EQ(aio_suspend64(&list, 1, NULL), 0);
    CHECK(!memcmp(back, text, 4));
    CHECK_EQ(aio_fsync64(O_SYNC, &same), 0);
    CHECK_EQ(aio_suspend64(&list, 1, NULL), 0);
    CHECK_EQ(aio_cancel64(file, &same), AIO_ALLDONE);
}

static void test_errors(int file)
{
    char byte = 0;
    struct aiocb one = request(file, &byte, 1, 0);
    one.aio_reqprio = -1;
    CHECK_FAILS(aio_read(&one), EINVAL);
    one = request(-1, &byte, 1, 0);
    if (!aio_read(&one)) {
        await(&one);
        CHECK_EQ(aio_error(&one), EBADF);
        CHECK_EQ(aio_return(&one), -1);
    }
    one = request(file, &byte, 1, 0);
    CHECK_FAILS(aio_fsync(4711, &one), EINVAL);
    CHECK_FAILS(aio_cancel(-1, NULL), EBADF);
    CHECK_FAILS(aio_cancel(STDERR_FILENO, &one), EINVAL);
    CHECK_EQ(aio_cancel(file, NULL), AIO_ALLDONE);
    const struct aiocb *list = &one;
    struct aiocb *same = &one;
    CHECK_FAILS(aio_suspend(&list, -1, NULL), EINVAL);
    CHECK_FAILS(lio_listio(77, &same, 1, NULL), EINVAL);
}

static void test_pipe(void)
{
    int ends[2];
    char bytes[3] = "";
    CHECK_OK(pipe(ends));
    /* Those for a descriptor are performed in their order. */
    struct aiocb reads[3];
    for (int i = 0; i < 3; i++) {
        reads[i] = request(ends[0], &bytes[i], 1, 0);
        CHECK_EQ(aio_read(&reads[i]), 0);
    }
    const struct aiocb *first = &reads[0];
    struct timespec soon = { .tv_nsec = 2000000 };
    CHECK_FAILS(aio_suspend(&first, 1, &soon), EAGAIN);
    CHECK_EQ(aio_error(&reads[0]), EINPROGRESS);
    CHECK_EQ(write(ends[1], "ab", 2), 2);
    await(&reads[1]);
    CHECK_EQ(aio_error(&reads[0]), 0);
    CHECK_EQ(bytes[0], 'a');
    CHECK_EQ(bytes[1], 'b');
    CHECK_EQ(write(ends[1], "c", 1), 1);
    await(&reads[2]);
    CHECK_EQ(bytes[2], 'c');
    /* One that is being performed is not cancelled, those behind it are. */
    for (int i = 0; i < 3; i++) {
        reads[i] = request(ends[0], &bytes[i], 1, 0);
        CHECK_EQ(aio_read(&reads[i]), 0);
    }
    CHECK_EQ(aio_cancel(ends[0], &reads[2]), AIO_CANCELED);
    CHECK_EQ(aio_error(&reads[2]), ECANCELED);
    CHECK_EQ(aio_return(&reads[2]), -1);
    int left = aio_cancel(ends[0], NULL);
    CHECK(left == AIO_CANCELED || left == AIO_NOTCANCELED);
    CHECK_EQ(aio_error(&reads[1]), ECANCELED);
    if (left == AIO_NOTCANCELED) {
        CHECK_EQ(write(ends[1], "d", 1), 1);
        await(&reads[0]);
        CHECK_EQ(bytes[0], 'd');
    }
}

static void test_socket(void)
{
    int ends[2];
    char back[3];
    static char out[] = "hi";
    CHECK_OK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
    struct aiocb one = request(ends[1], out, sizeof out, 0);
    CHECK_EQ(aio_write(&one), 0);
    CHECK_EQ(read(ends[0], back, sizeof back), 3);
    await(&one);
    CHECK_EQ(aio_return(&one), 3);
}

static void test_notification(int file)
{
    char byte;
    struct aiocb one = request(file, &byte, 1, 0);
    one.aio_sigevent.sigev_notify = SIGEV_THREAD;
    one.aio_sigevent.sigev_notify_function = notify;
    one.aio_sigevent.sigev_value.sival_int = 42;
    CHECK_EQ(aio_read(&one), 0);
    CHECK_EQ(sem_wait(&notified), 0);
    CHECK_EQ(aio_error(&one), 0);
    one.aio_sigevent.sigev_notify = SIGEV_SIGNAL;
    one.aio_sigevent.sigev_signo = SIGUSR1;
    one.aio_sigevent.sigev_value.sival_int = 7;
    CHECK_EQ(aio_read(&one), 0);
    while (!signals)
        sched_yield();
    CHECK_EQ(value, 7);
    await(&one);
}

static void test_list(int file)
{
    char bytes[4][2] = { "1", "2", "3", "4" }, back[2];
    struct aiocb each[4], nothing = { .aio_lio_opcode = LIO_NOP };
    struct aiocb *list[] = { &each[0], NULL, &each[1], &nothing, &each[2], &each[3] };
    for (int i = 0; i < 4; i++) {
        each[i] = request(file, bytes[i], 1, i);
        each[i].aio_lio_opcode = LIO_WRITE;
    }
    CHECK_EQ(lio_listio(LIO_WAIT, list, 6, NULL), 0);
    for (int i = 0; i < 4; i++)
        CHECK_EQ(aio_return(&each[i]), 1);
    for (int i = 0; i < 4; i++)
        each[i].aio_lio_opcode = LIO_READ;
    struct sigevent event = { .sigev_notify = SIGEV_THREAD, .sigev_notify_function = notify };
    event.sigev_value.sival_int = 42;
    CHECK_EQ(lio_listio(LIO_NOWAIT, list, 6, &event), 0);
    CHECK_EQ(sem_wait(&notified), 0);
    for (int i = 0; i < 4; i++) {
        CHECK_EQ(aio_error(&each[i]), 0);
        CHECK_EQ(bytes[i][0], '1' + i);
    }
    /* An empty list is done at once. */
    CHECK_EQ(lio_listio(LIO_NOWAIT, list, 0, &event), 0);
    CHECK_EQ(sem_wait(&notified), 0);
    struct aiocb wrong = request(file, back, 1, 0);
    struct aiocb *one = &wrong;
    wrong.aio_lio_opcode = 77;
    CHECK_FAILS(lio_listio(LIO_WAIT, &one, 1, NULL), EIO);
    CHECK_EQ(aio_error(&wrong), EINVAL);
    struct aiocb64 same = { .aio_fildes = file, .aio_buf = back, .aio_nbytes = 1, .aio_lio_opcode = LIO_READ };
    struct aiocb64 *list64 = &same;
    same.aio_sigevent.sigev_notify = SIGEV_NONE;
    CHECK_EQ(lio_listio64(LIO_WAIT, &list64, 1, NULL), 0);
    CHECK_EQ(back[0], '1');
}

/* Two threads, a request of each: the first reads what the second writes. */
static void *write_late(void *end)
{
    static char byte = 'x';
    struct aiocb one = request((int)(intptr_t)end, &byte, 1, 0);
    CHECK_EQ(aio_write(&one), 0);
    await(&one);
    return NULL;
}

static void test_threads(void)
{
    int ends[2];
    char byte = 0;
    CHECK_OK(pipe(ends));
    struct aiocb one = request(ends[0], &byte, 1, 0);
    one.aio_lio_opcode = LIO_READ;
    struct aiocb *list = &one;
    pthread_t thread = check_spawn(write_late, (void *)(intptr_t)ends[1]);
    CHECK_EQ(lio_listio(LIO_WAIT, &list, 1, NULL), 0);
    CHECK_EQ(byte, 'x');
    check_join(thread);
}

int main(void)
{
    struct sigaction action = { .sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_RESTART };
    CHECK_EQ(sigaction(SIGUSR1, &action, NULL), 0);
    CHECK_EQ(sem_init(&notified, 0, 0), 0);
    int file = memfd_create("snippet", 0);
    CHECK(file >= 0);
    test_file(file);
    test_errors(file);
    test_pipe();
    test_socket();
    test_notification(file);
    test_list(file);
    test_threads();
    return 0;
}
