/* Every call that blocks x {a handler without SA_RESTART, one with it, a cancellation}: ends as it does natively. One table, whose rows
 * this program goes through by itself; what it prints under pct must be what it prints without.
 * RUN: %p > %t/native && for seed in 1 2 3; do for strategy in pct random-walk pos; do pct run -q -s $seed --slack 0 -S $strategy -- %p > %t/pct && diff %t/native %t/pct || exit 1; done; done
 */
#define _GNU_SOURCE
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
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
static FILE *stream;
static char path[64], byte, block[65536];
static struct sockaddr_un address;
static struct aiocb reading;
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

/* --- Calls ------------------------------------------------------------------------------------------------------- */

static struct iovec part = { block, 1 }, parts = { block, sizeof block };
static struct pollfd readable;

#define CALL(name, expression)                                                                                         \
    static long call_##name(void)                                                                                      \
    {                                                                                                                  \
        struct timespec later = in_an_hour();                                                                          \
        struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };                                                 \
        struct mmsghdr messages = { .msg_hdr = message };                                                              \
        struct epoll_event event;                                                                                      \
        struct timeval an_hour = { .tv_sec = 3600 };                                                                   \
        struct sembuf down = { 0, -1, 0 };                                                                             \
        struct flock whole = { .l_type = F_WRLCK };                                                                    \
        const struct aiocb *list[] = { &reading };                                                                     \
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
            (void)letter, (void)info, (void)got, (void)value;                                                          \
        return (long)(expression);                                                                                     \
    }
CALL(read, read(empty[0], &byte, 1))
CALL(readv, readv(empty[0], &part, 1))
CALL(write, write(full[1], &byte, 1))
CALL(writev, writev(full[1], &parts, 1))
CALL(recv, recv(quiet[0], &byte, 1, 0))
CALL(recvfrom, recvfrom(quiet[0], &byte, 1, 0, NULL, NULL))
CALL(recvmsg, recvmsg(quiet[0], &message, 0))
CALL(recvmmsg, recvmmsg(quiet[0], &messages, 1, 0, NULL))
CALL(send, send(busy[1], &byte, 1, 0))
CALL(sendmsg, sendmsg(busy[1], &message, 0))
CALL(accept, accept(listening, NULL, NULL))
CALL(accept4, accept4(listening, NULL, NULL, SOCK_CLOEXEC))
CALL(poll, poll(&readable, 1, -1))
CALL(ppoll, ppoll(&readable, 1, &hour, NULL))
CALL(select, select(empty[0] + 1, &fds, NULL, NULL, &an_hour))
CALL(pselect, pselect(empty[0] + 1, &fds, NULL, NULL, &hour, NULL))
CALL(epoll_wait, epoll_wait(many, &event, 1, -1))
CALL(epoll_pwait, epoll_pwait(many, &event, 1, 3600000, NULL))
CALL(fgetc, fgetc(stream))
CALL(eventfd, read(events, block, 8))
CALL(open_fifo, open(path, O_RDONLY))
CALL(flock, flock(locked, LOCK_EX))
CALL(ofd_lock, fcntl(locked, F_OFD_SETLKW, &whole))
CALL(sendfile, sendfile(full[1], file, NULL, 1))
CALL(splice, splice(empty[0], NULL, full[1], NULL, 1, 0))
CALL(sem_wait, sem_wait(&sem))
CALL(sem_timedwait, sem_timedwait(&sem, &later))
CALL(sem_clockwait, sem_clockwait(&sem, CLOCK_REALTIME, &later))
CALL(mutex, error(pthread_mutex_lock(&mutex)))
CALL(mutex_timed, error(pthread_mutex_timedlock(&mutex, &later)))
CALL(rdlock, error(pthread_rwlock_rdlock(&rwlock)))
CALL(wrlock, error(pthread_rwlock_wrlock(&rwlock)))
CALL(barrier, pthread_barrier_wait(&barrier) > 0)
CALL(join, error(pthread_join(helper, &value)))
CALL(join_timed, error(pthread_timedjoin_np(helper, &value, &later)))
CALL(mtx, mtx_lock(&mtx))
CALL(nanosleep, nanosleep(&hour, NULL))
CALL(clock_nanosleep, error(clock_nanosleep(CLOCK_MONOTONIC, 0, &hour, NULL)))
CALL(sleep, sleep(3600) > 3000)
CALL(usleep, usleep(3600000000u))
CALL(thrd_sleep, thrd_sleep(&hour, NULL))
CALL(sigwait, error(sigwait(&usr2, &got)))
CALL(sigwaitinfo, sigwaitinfo(&usr2, &info))
CALL(sigtimedwait, sigtimedwait(&usr2, &info, &hour))
CALL(sigsuspend, sigsuspend(&nothing))
CALL(pause, pause())
CALL(mq_receive, mq_receive(none_left, block, 64, NULL))
CALL(mq_timedreceive, mq_timedreceive(none_left, block, 64, NULL, &later))
CALL(mq_send, mq_send(no_room, block, 64, 0))
CALL(msgrcv, msgrcv(queue, &letter, sizeof letter.text, 2, 0))
CALL(msgsnd, msgsnd(queue, &letter, sizeof letter.text, 0))
CALL(semop, semop(set, &down, 1))
CALL(semtimedop, semtimedop(set, &down, 1, &hour))
CALL(waitpid, waitpid(child, &got, 0) == child)
CALL(wait4, wait4(child, &got, 0, NULL) == child)
CALL(waitid, waitid(P_PID, (id_t)child, &info, WEXITED))
CALL(futex, syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0))
CALL(aio_suspend, aio_suspend(list, 1, NULL))

/* A condition's wait is asked again, as its predicate must be. */
static long call_cond(void)
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

static long call_cnd(void)
{
    mtx_t own;
    mtx_init(&own, mtx_plain);
    mtx_lock(&own);
    while (!__atomic_load_n(&word, __ATOMIC_SEQ_CST))
        cnd_wait(&cnd, &own);
    mtx_unlock(&own);
    return 0;
}

/* --- What ends each of them by what it waits for ------------------------------------------------------------------ */

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

#define ROW(name, wake)                                                                                                \
    {                                                                                                                  \
#name, call_##name, wake                                                                                       \
    }
static const struct row {
    const char *name;
    long (*call)(void);
    void (*wake)(void);
} rows[] = {
    ROW(read, feed),
    ROW(readv, feed),
    ROW(write, empty_full),
    ROW(writev, empty_full),
    ROW(recv, speak),
    ROW(recvfrom, speak),
    ROW(recvmsg, speak),
    ROW(recvmmsg, speak),
    ROW(send, listen_to),
    ROW(sendmsg, listen_to),
    ROW(accept, knock),
    ROW(accept4, knock),
    ROW(poll, feed),
    ROW(ppoll, feed),
    ROW(select, feed),
    ROW(pselect, feed),
    ROW(epoll_wait, feed),
    ROW(epoll_pwait, feed),
    ROW(fgetc, feed),
    ROW(eventfd, count_up),
    ROW(open_fifo, open_other),
    ROW(flock, unlock_file),
    ROW(ofd_lock, unlock_file),
    ROW(sendfile, empty_full),
    ROW(splice, both),
    ROW(sem_wait, post),
    ROW(sem_timedwait, post),
    ROW(sem_clockwait, post),
    ROW(mutex, unlock),
    ROW(mutex_timed, unlock),
    ROW(rdlock, unlock_rw),
    ROW(wrlock, unlock_rw),
    ROW(barrier, meet),
    ROW(join, let_helper_end),
    ROW(join_timed, let_helper_end),
    ROW(mtx, unlock_c11),
    ROW(cond, wake_word),
    ROW(cnd, wake_word),
    ROW(nanosleep, interrupt),
    ROW(clock_nanosleep, interrupt),
    ROW(sleep, interrupt),
    ROW(usleep, interrupt),
    ROW(thrd_sleep, interrupt),
    ROW(sigwait, tell),
    ROW(sigwaitinfo, tell),
    ROW(sigtimedwait, tell),
    ROW(sigsuspend, interrupt),
    ROW(pause, interrupt),
    ROW(mq_receive, put),
    ROW(mq_timedreceive, put),
    ROW(mq_send, take),
    ROW(msgrcv, post_letter),
    ROW(msgsnd, take_letters),
    ROW(semop, up),
    ROW(semtimedop, up),
    ROW(waitpid, end_child),
    ROW(wait4, end_child),
    ROW(waitid, end_child),
    ROW(futex, wake_word),
    ROW(aio_suspend, feed),
};

/* --- Going through them ------------------------------------------------------------------------------------------ */

static void handle(int signal)
{
    (void)signal;
    handled++;
}

static void *help(void *unused)
{
    char one;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    read(empty[0], &one, 1);
    return unused;
}

static void make(const char *name)
{
    struct mq_attr limits = { .mq_maxmsg = 1, .mq_msgsize = 64 };
    struct epoll_event event = { .events = EPOLLIN };
    struct {
        long type;
        char text[8192];
    } letter = { .type = 1 };
    struct flock whole = { .l_type = F_WRLCK };
    char queue_name[64];
    pipe(empty), pipe(full), fill(full[1]);
    socketpair(AF_UNIX, SOCK_STREAM, 0, quiet), socketpair(AF_UNIX, SOCK_STREAM, 0, busy), fill(busy[1]);
    readable = (struct pollfd){ .fd = empty[0], .events = POLLIN };
    listening = socket(AF_UNIX, SOCK_STREAM, 0);
    address.sun_family = AF_UNIX;
    snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "pct-%d-%s", getpid(), name);
    bind(listening, (struct sockaddr *)&address, sizeof address), listen(listening, 1);
    many = epoll_create1(0), epoll_ctl(many, EPOLL_CTL_ADD, empty[0], &event);
    stream = fdopen(dup(empty[0]), "r");
    events = eventfd(0, 0);
    snprintf(path, sizeof path, "/tmp/pct-fifo-%d", getpid()), mkfifo(path, 0600);
    file = open("/proc/self/exe", O_RDONLY);
    locker = memfd_create("lock", 0);
    snprintf(queue_name, sizeof queue_name, "/proc/self/fd/%d", locker);
    locked = open(queue_name, O_RDWR), flock(locker, LOCK_EX), fcntl(locker, F_OFD_SETLK, &whole);
    sem_init(&sem, 0, 0);
    pthread_mutex_init(&mutex, NULL), pthread_mutex_lock(&mutex);
    pthread_mutex_init(&of_cond, NULL), pthread_cond_init(&cond, NULL), cnd_init(&cnd), word = 0;
    pthread_rwlock_init(&rwlock, NULL), pthread_rwlock_wrlock(&rwlock);
    pthread_barrier_init(&barrier, NULL, 2);
    mtx_init(&mtx, mtx_plain), mtx_lock(&mtx);
    snprintf(queue_name, sizeof queue_name, "/pct-%d", getpid());
    none_left = mq_open(queue_name, O_CREAT | O_RDWR, 0600, &limits), mq_unlink(queue_name);
    no_room = mq_open(queue_name, O_CREAT | O_RDWR, 0600, &limits), mq_unlink(queue_name), mq_send(no_room, "x", 1, 0);
    queue = msgget(IPC_PRIVATE, 0600), set = semget(IPC_PRIVATE, 1, 0600);
    while (!msgsnd(queue, &letter, sizeof letter.text, IPC_NOWAIT))
        continue;
    if (!strncmp(name, "join", 4))
        pthread_create(&helper, NULL, help, NULL);
    child = strncmp(name, "wait", 4) ? 0 : fork();
    if (!strncmp(name, "wait", 4) && !child)
        for (;;)
            pause();
    reading = (struct aiocb){ .aio_fildes = empty[0], .aio_buf = block, .aio_nbytes = 1 };
    if (!strcmp(name, "aio_suspend"))
        aio_read(&reading);
}

static void drop(const char *name)
{
    const int fds[] = { empty[0], empty[1],  full[0], full[1], quiet[0], quiet[1], busy[0],
                        busy[1],  listening, many,    events,  file,     locker,   locked };
    if (child)
        kill(child, SIGKILL), waitpid(child, NULL, 0);
    feed();
    if (!strcmp(name, "aio_suspend"))
        while (aio_error(&reading) == EINPROGRESS)
            usleep(1000);
    if (named)
        close(named);
    named = 0;
    unlink(path), fclose(stream), mq_close(none_left), mq_close(no_room);
    msgctl(queue, IPC_RMID, NULL), semctl(set, 0, IPC_RMID);
    for (unsigned i = 0; i < sizeof fds / sizeof *fds; i++)
        close(fds[i]);
}

static long result;
static int failure;
static void *block_in(void *row)
{
    sigset_t usr2;
    sigemptyset(&usr2), sigaddset(&usr2, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &usr2, NULL);
    tid = gettid();
    errno = 0;
    result = ((const struct row *)row)->call();
    failure = errno;
    ended = 1;
    return NULL;
}

static int sleeps(void)
{
    char name[64], line[256] = "";
    snprintf(name, sizeof name, "/proc/self/task/%d/stat", tid);
    int fd = open(name, O_RDONLY);
    read(fd, line, sizeof line - 1);
    close(fd);
    const char *after = strrchr(line, ')');
    return !after || after[2] == 'S';
}

/* Until the thread has ended, or sleeps: in its call. */
static void settle(void)
{
    do
        usleep(5000);
    while (!tid || !(ended || sleeps()));
}

enum { PLAIN, RESTART, CANCEL };
static void go_through(const struct row *row, int how)
{
    static const char *const names[] = { "no SA_RESTART", "SA_RESTART", "cancelled" };
    struct sigaction action = { .sa_handler = handle, .sa_flags = how == RESTART ? SA_RESTART : 0 };
    void *value;
    handled = ended = tid = 0;
    make(row->name);
    sigaction(SIGUSR1, &action, NULL);
    pthread_create(&thread, NULL, block_in, (void *)row);
    settle();
    if (how == CANCEL)
        pthread_cancel(thread);
    else
        pthread_kill(thread, SIGUSR1);
    settle();
    int at_once = ended; /* a cancelled thread does not say so */
    if (!ended && !(how == CANCEL && !sleeps()))
        row->wake();
    pthread_join(thread, &value);
    if (value == PTHREAD_CANCELED)
        printf("%s, %s: is cancelled\n", row->name, names[how]);
    else
        printf("%s, %s: %s, %s %s\n", row->name, names[how], at_once ? "ends" : "goes on",
               result < 0 ? "fails" : "succeeds", result < 0 ? strerrorname_np(failure) : "");
    if (!strncmp(row->name, "join", 4) && (value == PTHREAD_CANCELED || result < 0))
        feed(), pthread_join(helper, NULL);
    drop(row->name);
}

int main(void)
{
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int how = PLAIN; how <= CANCEL; how++)
            go_through(&rows[i], how);
    return 0;
}
