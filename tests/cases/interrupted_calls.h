/* The table of calls that wait, for interrupted_calls.c: each with what ends its wait. A new one is a CALL and a
 * ROW. */
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "../libc_names.h"

static int empty[2], full[2], quiet[2], busy[2], listening, events, many, named, locked, locker, file, queue, set;
static mqd_t none_left, no_room;
static sem_t sem;
static pthread_mutex_t mutex, of_cond;
static pthread_cond_t cond;
static pthread_rwlock_t rwlock;
static pthread_barrier_t barrier;
static pthread_t thread, helper;
static mtx_t mtx;
static cnd_t cnd;
static unsigned word;
static pid_t child;
static FILE *stream, *owned;
static char path[64], byte, block[65536];
static struct sockaddr_un address;
static struct aiocb reading;
static struct aiocb64 reading64;
static struct io_uring ring;
enum { CROWD = 4 };
static int crowded, crowd[CROWD], caller, high; /* a listening socket, and an eventfd, that take no more */
static struct sockaddr_un crowded_address;
static pthread_once_t once;
static once_flag c11_once;
static uint64_t guard;
static thrd_t c11_helper;
static char command[96]; /* of a shell that waits for a line */
static FILE *shell;

/* By older headers; today's do not declare it. */
int __sigpause(int signal_or_mask, int is_signal);
int mask_sigpause(int mask) __asm__("sigpause");
int __cxa_guard_acquire(uint64_t *guard);
void __cxa_guard_release(uint64_t *guard);
static atomic_int tid, handled, ended;
static const struct timespec hour = { .tv_sec = 3600 };

static struct timespec in_an_hour(void)
{
    struct timespec when;
    clock_gettime(CLOCK_REALTIME, &when);
    when.tv_sec += 3600;
    return when;
}

/* As errno says it. */
static long error(int number)
{
    errno = number;
    return number ? -1 : 0;
}

static long c11(int result)
{
    return result == thrd_success ? 0 : -1;
}

/* Of io_uring: a negative number is one of an error. */
static long ring_error(int result)
{
    return result < 0 ? error(-result) : 0;
}

static long opened(int fd)
{
    return fd < 0 ? -1 : close(fd);
}

static long opened_stream(FILE *file)
{
    return file ? fclose(file) : -1;
}

static int scan(bool plain, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int count = plain ? plain_vfscanf(stream, format, arguments) : vfscanf(stream, format, arguments);
    va_end(arguments);
    return count;
}

/* --- What ends the waits ----------------------------------------------------------------------------------------- */

static void drain(int fd)
{
    char room[65536];
    int flags = fcntl(fd, F_GETFL);
    fcntl(fd, F_SETFL, flags | O_NONBLOCK);
    while (read(fd, room, sizeof room) > 0)
        continue;
    fcntl(fd, F_SETFL, flags);
}

static void fill(int fd)
{
    int flags = fcntl(fd, F_GETFL);
    fcntl(fd, F_SETFL, flags | O_NONBLOCK);
    while (write(fd, block, 4096) > 0 || write(fd, block, 1) > 0)
        continue;
    fcntl(fd, F_SETFL, flags);
}

static void feed(void)
{
    write(empty[1], "x", 1);
}
static void feed_line(void)
{
    write(empty[1], "x\n", 2);
}
static void pick_up(void)
{
    close(accept(crowded, NULL, NULL));
}
static void count_down(void)
{
    eventfd_t count;
    eventfd_read(high, &count);
}
static void unlock_stream(void)
{
    funlockfile(owned);
}
static void empty_full(void)
{
    drain(full[0]);
}
static void speak(void)
{
    send(quiet[1], "x", 1, 0);
}
static void listen_to(void)
{
    drain(busy[0]);
}
static void knock(void)
{
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    connect(fd, (struct sockaddr *)&address, sizeof address);
    close(fd);
}
static void count_up(void)
{
    eventfd_write(events, 1);
}
static void open_other(void)
{
    named = open(path, O_RDWR);
}
static void end_shell(void)
{
    open_other();
    write(named, "\n", 1);
}
static void unlock_file(void)
{
    struct flock none = { .l_type = F_UNLCK };
    flock(locker, LOCK_UN);
    fcntl(locker, F_OFD_SETLK, &none);
}
static void both(void)
{
    feed(), empty_full();
}
static void post(void)
{
    sem_post(&sem);
}
static void unlock(void)
{
    pthread_mutex_unlock(&mutex);
}
static void unlock_rw(void)
{
    pthread_rwlock_unlock(&rwlock);
}
static void meet(void)
{
    pthread_barrier_wait(&barrier);
}
static void unlock_c11(void)
{
    mtx_unlock(&mtx);
}
static void let_helper_end(void)
{
    feed();
}
static void interrupt(void)
{
    pthread_kill(thread, SIGUSR1);
}
static void tell(void)
{
    pthread_kill(thread, SIGUSR2);
}
static void put(void)
{
    mq_send(none_left, "x", 1, 0);
}
static void take(void)
{
    mq_receive(no_room, block, 64, NULL);
}
static void post_letter(void)
{
    struct {
        long type;
        char text;
    } letter = { 2, 'x' };
    msgsnd(queue, &letter, 1, IPC_NOWAIT);
}
static void take_letters(void)
{
    struct {
        long type;
        char text[8192];
    } letter;
    while (msgrcv(queue, &letter, sizeof letter.text, 1, IPC_NOWAIT) >= 0)
        continue;
}
static void up(void)
{
    semctl(set, 0, SETVAL, 1);
}
static void end_child(void)
{
    kill(child, SIGKILL);
}
static void wake_word(void)
{
    pthread_mutex_lock(&of_cond);
    __atomic_store_n(&word, 1, __ATOMIC_SEQ_CST);
    pthread_cond_broadcast(&cond);
    pthread_mutex_unlock(&of_cond);
    cnd_broadcast(&cnd);
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* --- Calls ------------------------------------------------------------------------------------------------------- */

/* A row stands in a section of its own, which is the table. */
struct row {
    const char *name;
    long (*call)(void);
    void (*wake)(void);
};
#define ROW(name, wake)                                                                                                \
    static const struct row row_##name __attribute__((section("rows"), used, aligned(8))) = { #name, do_##name, wake };
extern const struct row rows_from[] __asm__("__start_rows"), rows_to[] __asm__("__stop_rows");

/* Of the once: its first caller waits in it. */
static atomic_int in_it;
static void in_routine(void)
{
    char one;
    in_it = 1;
    read(empty[0], &one, 1);
}

static struct iovec part = { block, 1 }, parts = { block, sizeof block };
static struct pollfd readable;

#define CALL(name, wake, expression)                                                                                   \
    static long do_##name(void)                                                                                        \
    {                                                                                                                  \
        struct timespec later = in_an_hour();                                                                          \
        struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };                                                 \
        struct mmsghdr messages = { .msg_hdr = message };                                                              \
        struct epoll_event event;                                                                                      \
        struct timeval an_hour = { .tv_sec = 3600 };                                                                   \
        struct sembuf down = { 0, -1, 0 };                                                                             \
        struct flock whole = { .l_type = F_WRLCK };                                                                    \
        const struct aiocb *list[] = { &reading };                                                                     \
        const struct aiocb64 *list64[] = { &reading64 };                                                               \
        struct io_uring_cqe *done;                                                                                     \
        struct __kernel_timespec long_time = { .tv_sec = 3600 };                                                       \
        uint64_t one = 1;                                                                                              \
        char *line = NULL;                                                                                             \
        size_t size = 0;                                                                                               \
        struct {                                                                                                       \
            long type;                                                                                                 \
            char text[8192];                                                                                           \
        } letter = { .type = 1 };                                                                                      \
        sigset_t usr2, nothing;                                                                                        \
        siginfo_t info;                                                                                                \
        fd_set fds;                                                                                                    \
        int got;                                                                                                       \
        void *value;                                                                                                   \
        sigemptyset(&nothing), sigemptyset(&usr2), sigaddset(&usr2, SIGUSR2);                                          \
        FD_ZERO(&fds);                                                                                                 \
        FD_SET(empty[0], &fds);                                                                                        \
        (void)later, (void)message, (void)messages, (void)event, (void)an_hour, (void)down, (void)whole, (void)list,   \
            (void)letter, (void)info, (void)got, (void)value, (void)list64, (void)done, (void)long_time, (void)one,    \
            (void)line, (void)size;                                                                                    \
        return (long)(expression);                                                                                     \
    }                                                                                                                  \
    ROW(name, wake)
CALL(read, feed, read(empty[0], &byte, 1))
CALL(readv, feed, readv(empty[0], &part, 1))
CALL(write, empty_full, write(full[1], &byte, 1))
CALL(writev, empty_full, writev(full[1], &parts, 1))
CALL(preadv2, feed, preadv2(empty[0], &part, 1, -1, 0))
CALL(preadv64v2, feed, preadv64v2(empty[0], &part, 1, -1, 0))
CALL(pwritev2, empty_full, pwritev2(full[1], &parts, 1, -1, 0))
CALL(pwritev64v2, empty_full, pwritev64v2(full[1], &parts, 1, -1, 0))
CALL(recv, speak, recv(quiet[0], &byte, 1, 0))
CALL(recvfrom, speak, recvfrom(quiet[0], &byte, 1, 0, NULL, NULL))
CALL(recvmsg, speak, recvmsg(quiet[0], &message, 0))
CALL(recvmmsg, speak, recvmmsg(quiet[0], &messages, 1, 0, NULL))
CALL(send, listen_to, send(busy[1], &byte, 1, 0))
CALL(sendmsg, listen_to, sendmsg(busy[1], &message, 0))
CALL(accept, knock, accept(listening, NULL, NULL))
CALL(accept4, knock, accept4(listening, NULL, NULL, SOCK_CLOEXEC))
CALL(poll, feed, poll(&readable, 1, -1))
CALL(ppoll, feed, ppoll(&readable, 1, &hour, NULL))
CALL(select, feed, select(empty[0] + 1, &fds, NULL, NULL, &an_hour))
CALL(pselect, feed, pselect(empty[0] + 1, &fds, NULL, NULL, &hour, NULL))
CALL(epoll_wait, feed, epoll_wait(many, &event, 1, -1))
CALL(epoll_pwait, feed, epoll_pwait(many, &event, 1, 3600000, NULL))
CALL(fgetc, feed, fgetc(stream))
CALL(eventfd, count_up, read(events, block, 8))
CALL(open_fifo, open_other, open(path, O_RDONLY))
CALL(flock, unlock_file, flock(locked, LOCK_EX))
CALL(ofd_lock, unlock_file, fcntl(locked, F_OFD_SETLKW, &whole))
CALL(sendfile, empty_full, sendfile(full[1], file, NULL, 1))
CALL(splice, both, splice(empty[0], NULL, full[1], NULL, 1, 0))
CALL(sem_wait, post, sem_wait(&sem))
CALL(sem_timedwait, post, sem_timedwait(&sem, &later))
CALL(sem_clockwait, post, sem_clockwait(&sem, CLOCK_REALTIME, &later))
CALL(mutex, unlock, error(pthread_mutex_lock(&mutex)))
CALL(mutex_timed, unlock, error(pthread_mutex_timedlock(&mutex, &later)))
CALL(rdlock, unlock_rw, error(pthread_rwlock_rdlock(&rwlock)))
CALL(wrlock, unlock_rw, error(pthread_rwlock_wrlock(&rwlock)))
CALL(barrier, meet, pthread_barrier_wait(&barrier) > 0)
CALL(join, let_helper_end, error(pthread_join(helper, &value)))
CALL(join_timed, let_helper_end, error(pthread_timedjoin_np(helper, &value, &later)))
CALL(mtx, unlock_c11, mtx_lock(&mtx))
CALL(nanosleep, interrupt, nanosleep(&hour, NULL))
CALL(clock_nanosleep, interrupt, error(clock_nanosleep(CLOCK_MONOTONIC, 0, &hour, NULL)))
CALL(sleep, interrupt, sleep(3600) > 3000)
CALL(usleep, interrupt, usleep(3600000000u))
CALL(thrd_sleep, interrupt, thrd_sleep(&hour, NULL))
CALL(sigwait, tell, error(sigwait(&usr2, &got)))
CALL(sigwaitinfo, tell, sigwaitinfo(&usr2, &info))
CALL(sigtimedwait, tell, sigtimedwait(&usr2, &info, &hour))
CALL(sigsuspend, interrupt, sigsuspend(&nothing))
CALL(pause, interrupt, pause())
CALL(mq_receive, put, mq_receive(none_left, block, 64, NULL))
CALL(mq_timedreceive, put, mq_timedreceive(none_left, block, 64, NULL, &later))
CALL(mq_send, take, mq_send(no_room, block, 64, 0))
CALL(msgrcv, post_letter, msgrcv(queue, &letter, sizeof letter.text, 2, 0))
CALL(msgsnd, take_letters, msgsnd(queue, &letter, sizeof letter.text, 0))
CALL(semop, up, semop(set, &down, 1))
CALL(semtimedop, up, semtimedop(set, &down, 1, &hour))
CALL(waitpid, end_child, waitpid(child, &got, 0) == child)
CALL(wait4, end_child, wait4(child, &got, 0, NULL) == child)
CALL(waitid, end_child, waitid(P_PID, (id_t)child, &info, WEXITED))
CALL(futex, wake_word, syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0))
CALL(aio_suspend, feed, aio_suspend(list, 1, NULL))
CALL(read_chk, feed, __read_chk(empty[0], &byte, 1, 1))
CALL(recv_chk, speak, __recv_chk(quiet[0], &byte, 1, 1, 0))
CALL(recvfrom_chk, speak, __recvfrom_chk(quiet[0], &byte, 1, 1, 0, NULL, NULL))
CALL(sendto, listen_to, sendto(busy[1], &byte, 1, 0, NULL, 0))
CALL(sendmmsg, listen_to, sendmmsg(busy[1], &messages, 1, 0))
CALL(connect, pick_up, connect(caller, (const struct sockaddr *)&crowded_address, sizeof crowded_address))
CALL(poll_chk, feed, __poll_chk(&readable, 1, -1, sizeof readable))
CALL(ppoll_chk, feed, __ppoll_chk(&readable, 1, &hour, NULL, sizeof readable))
CALL(epoll_pwait2, feed, epoll_pwait2(many, &event, 1, &hour, NULL))
CALL(getc, feed, getc(stream))
CALL(getchar, feed, plain_getchar())
CALL(fgets, feed_line, fgets(block, 8, stream) ? 0 : -1)
CALL(fgets_chk, feed_line, __fgets_chk(block, 8, 8, stream) ? 0 : -1)
CALL(getline, feed_line, plain_getline(&line, &size, stream))
CALL(getdelim, feed_line, getdelim(&line, &size, '\n', stream))
CALL(getdelim_internal, feed_line, __getdelim(&line, &size, '\n', stream))
CALL(fread, feed, (long)fread(block, 1, 1, stream) - 1)
CALL(fread_chk, feed, (long)__fread_chk(block, 1, 1, 1, stream) - 1)
CALL(fscanf, feed, fscanf(stream, "%c", &byte))
CALL(scanf, feed, scanf("%c", &byte))
CALL(vfscanf, feed, scan(false, "%c", &byte))
CALL(plain_vfscanf, feed, scan(true, "%c", &byte))
CALL(flockfile, unlock_stream, (flockfile(owned), funlockfile(owned), 0))
CALL(open64_fifo, open_other, opened(open64(path, O_RDONLY)))
CALL(openat_fifo, open_other, opened(openat(AT_FDCWD, path, O_RDONLY)))
CALL(openat64_fifo, open_other, opened(openat64(AT_FDCWD, path, O_RDONLY)))
CALL(open_2_fifo, open_other, opened(__open_2(path, O_RDONLY)))
CALL(open64_2_fifo, open_other, opened(__open64_2(path, O_RDONLY)))
CALL(openat_2_fifo, open_other, opened(__openat_2(AT_FDCWD, path, O_RDONLY)))
CALL(openat64_2_fifo, open_other, opened(__openat64_2(AT_FDCWD, path, O_RDONLY)))
CALL(fopen_fifo, open_other, opened_stream(fopen(path, "r")))
CALL(fopen64_fifo, open_other, opened_stream(fopen64(path, "r")))
CALL(freopen_fifo, open_other, opened_stream(freopen(path, "r", fopen("/dev/null", "r"))))
CALL(freopen64_fifo, open_other, opened_stream(freopen64(path, "r", fopen("/dev/null", "r"))))
CALL(record_lock, end_child, fcntl(locked, F_SETLKW, &whole))
CALL(record_lock64, end_child, fcntl64(locked, F_SETLKW, &whole))
CALL(record_lockf, end_child, lockf(locked, F_LOCK, 0))
CALL(record_lockf64, end_child, lockf64(locked, F_LOCK, 0))
CALL(sendfile64, empty_full, sendfile64(full[1], file, NULL, 1))
CALL(tee, both, tee(empty[0], full[1], 1, 0))
CALL(vmsplice, empty_full, vmsplice(full[1], &part, 1, 0))
CALL(eventfd_read, count_up, eventfd_read(events, &one))
CALL(eventfd_write, count_down, eventfd_write(high, 1))
CALL(eventfd_full, count_down, write(high, &one, 8))
CALL(mutex_clock, unlock, error(pthread_mutex_clocklock(&mutex, CLOCK_REALTIME, &later)))
CALL(rdlock_timed, unlock_rw, error(pthread_rwlock_timedrdlock(&rwlock, &later)))
CALL(wrlock_timed, unlock_rw, error(pthread_rwlock_timedwrlock(&rwlock, &later)))
CALL(rdlock_clock, unlock_rw, error(pthread_rwlock_clockrdlock(&rwlock, CLOCK_REALTIME, &later)))
CALL(wrlock_clock, unlock_rw, error(pthread_rwlock_clockwrlock(&rwlock, CLOCK_REALTIME, &later)))
CALL(join_clock, let_helper_end, error(pthread_clockjoin_np(helper, &value, CLOCK_REALTIME, &later)))
CALL(c11_join, let_helper_end, c11(thrd_join(c11_helper, NULL)))
CALL(mtx_timed, unlock_c11, c11(mtx_timedlock(&mtx, &later)))
CALL(once, feed, error(pthread_once(&once, in_routine)))
CALL(once_c11, feed, (call_once(&c11_once, in_routine), 0))
CALL(once_guard, feed, __cxa_guard_acquire(&guard))
CALL(sigpause, interrupt, sigpause(SIGUSR2))
CALL(sigpause_old, interrupt, __sigpause(1 << (SIGUSR2 - 1), 0))
CALL(sigpause_mask, interrupt, mask_sigpause(1 << (SIGUSR2 - 1)))
CALL(mq_timedsend, take, mq_timedsend(no_room, block, 64, 0, &later))
CALL(wait, end_child, wait(&got) == child)
CALL(wait3, end_child, wait3(&got, 0, NULL) == child)
CALL(system, end_shell, system(command))
CALL(pclose, end_shell, pclose(shell))
CALL(futex_timed, wake_word, syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &hour, NULL, 0))
CALL(futex_bitset, wake_word,
     syscall(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE | FUTEX_CLOCK_REALTIME, 0, &later, NULL, 1))
CALL(aio_suspend64, feed, aio_suspend64(list64, 1, &hour))
CALL(ring_wait, feed, ring_error(io_uring_wait_cqe(&ring, &done)))
CALL(ring_wait_some, feed, ring_error(io_uring_wait_cqes(&ring, &done, 1, &long_time, NULL)))
CALL(ring_wait_timed, feed, ring_error(io_uring_wait_cqe_timeout(&ring, &done, &long_time)))
CALL(ring_submit, feed, ring_error(io_uring_submit_and_wait(&ring, 1)))
CALL(ring_submit_timed, feed, ring_error(io_uring_submit_and_wait_timeout(&ring, &done, 1, &long_time, NULL)))

/* A condition's wait is asked again, as its predicate must be. */
static long do_cond(void)
{
    struct timespec later = in_an_hour();
    int result = 0;
    pthread_mutex_lock(&of_cond);
    pthread_cleanup_push((void (*)(void *))(void *)pthread_mutex_unlock, &of_cond);
    while (!word && !result)
        result = pthread_cond_timedwait(&cond, &of_cond, &later);
    pthread_cleanup_pop(1);
    return error(result);
}
ROW(cond, wake_word)

static long do_cond_plain(void)
{
    pthread_mutex_lock(&of_cond);
    pthread_cleanup_push((void (*)(void *))(void *)pthread_mutex_unlock, &of_cond);
    while (!word)
        pthread_cond_wait(&cond, &of_cond);
    pthread_cleanup_pop(1);
    return 0;
}
ROW(cond_plain, wake_word)

static long do_cond_clock(void)
{
    struct timespec later = in_an_hour();
    int result = 0;
    pthread_mutex_lock(&of_cond);
    pthread_cleanup_push((void (*)(void *))(void *)pthread_mutex_unlock, &of_cond);
    while (!word && !result)
        result = pthread_cond_clockwait(&cond, &of_cond, CLOCK_REALTIME, &later);
    pthread_cleanup_pop(1);
    return error(result);
}
ROW(cond_clock, wake_word)

static long do_cnd_timed(void)
{
    struct timespec later = in_an_hour();
    int result = thrd_success;
    mtx_t own;
    mtx_init(&own, mtx_plain);
    mtx_lock(&own);
    while (!__atomic_load_n(&word, __ATOMIC_SEQ_CST) && result == thrd_success)
        result = cnd_timedwait(&cnd, &own, &later);
    mtx_unlock(&own);
    return c11(result);
}
ROW(cnd_timed, wake_word)

static long do_cnd(void)
{
    mtx_t own;
    mtx_init(&own, mtx_plain);
    mtx_lock(&own);
    while (!__atomic_load_n(&word, __ATOMIC_SEQ_CST))
        cnd_wait(&cnd, &own);
    mtx_unlock(&own);
    return 0;
}
ROW(cnd, wake_word)
