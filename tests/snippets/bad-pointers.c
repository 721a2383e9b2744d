/* Pointers that point nowhere: EFAULT from every call whose memory the kernel reads or writes natively, whatever else
 * is wrong, and nothing is waited for that the call natively does not wait for. */
/* tests: nanosleep clock_nanosleep poll ppoll select pselect epoll_wait epoll_pwait epoll_pwait2 read readv write
 * writev
 *        recvmsg recvmmsg sendmsg sendmmsg sigtimedwait semtimedop timer_settime setitimer sched_setaffinity */
/* ops: SLEEP READ WRITE POLL */
#define _GNU_SOURCE
#include "check.h"
#include <fcntl.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <threads.h>

static const struct timespec moment = { 0, 1000 }, none = { 0, 0 };
static const struct itimerspec disarmed;

/* Where nothing is; what may only be read; and the last bytes of a page before nothing. */
static void *volatile low = (void *)8; /* the compiler is not to know */
static __thread char *nowhere, *fixed, *edge;

/* Each of them in turn. size: of what the call reads or writes there. */
struct place {
    void *at;
    bool readable;
};
enum { PLACES = 4 };
static struct place place(int number, size_t size)
{
    switch (number) {
    case 0:
        return (struct place){ low, false };
    case 1:
        return (struct place){ nowhere, false };
    case 2:
        return (struct place){ edge - size / 2, false };
    default:
        return (struct place){ fixed, true };
    }
}

/* An input at each place from which it cannot be read. */
#define BAD_INPUT(type, call)                                                                                          \
    for (int number_ = 0; number_ < PLACES; number_++) {                                                               \
        struct place place_ = place(number_, sizeof(type));                                                            \
        type *bad = place_.at;                                                                                         \
        if (!place_.readable)                                                                                          \
            CHECK_FAILS(call, EFAULT);                                                                                 \
    }

/* An output at each place to which it cannot be written. */
#define BAD_OUTPUT(type, call)                                                                                         \
    for (int number_ = 0; number_ < PLACES; number_++) {                                                               \
        type *bad = place(number_, sizeof(type)).at;                                                                   \
        CHECK_FAILS(call, EFAULT);                                                                                     \
    }

static void make_places(void)
{
    char *pages = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(pages != MAP_FAILED);
    edge = pages + 4096;
    nowhere = pages + 4096 + 64;
    fixed = pages + 8192 + 64;
    CHECK_OK(mprotect(pages + 4096, 4096, PROT_NONE));
    CHECK_OK(mprotect(pages + 8192, 4096, PROT_READ));
}

static void handle(int signal)
{
    (void)signal;
}

static void test_sleep(void)
{
    const struct itimerval soon = { .it_interval = { 0, 20000 }, .it_value = { 0, 20000 } }, none = { 0 };
    const struct sigaction action = { .sa_handler = handle };
    struct timespec left;
    BAD_INPUT(struct timespec, nanosleep(bad, NULL));
    BAD_INPUT(struct timespec, clock_nanosleep(CLOCK_MONOTONIC, 0, bad, &left) == EFAULT ? (errno = EFAULT, -1) : 0);
    BAD_INPUT(struct timespec,
              clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, bad, NULL) == EFAULT ? (errno = EFAULT, -1) : 0);
    for (int i = 0; i < 2; i++)
        CHECK_EQ(thrd_sleep(i ? low : nowhere, NULL), -2);
    BAD_OUTPUT(struct timespec,
               nanosleep(&moment, bad) ? -1 : (errno = EFAULT, -1)); /* not interrupted: nothing is written */
    CHECK_OK(sigaction(SIGALRM, &action, NULL));
    for (int i = 0; i < PLACES; i++) {
        const struct timespec long_time = { 5, 0 };
        CHECK_OK(setitimer(ITIMER_REAL, &soon, NULL)); /* again and again: the first may come before the sleep */
        CHECK_FAILS(nanosleep(&long_time, place(i, sizeof left).at), EFAULT);
        CHECK_OK(setitimer(ITIMER_REAL, &none, NULL));
    }
    BAD_OUTPUT(struct timespec, clock_gettime(CLOCK_PROCESS_CPUTIME_ID, bad));
    BAD_OUTPUT(struct timespec, clock_gettime(CLOCK_THREAD_CPUTIME_ID, bad));
}

static void test_timers(void)
{
    const struct itimerval no_alarm = { { 0, 0 }, { 0, 0 } };
    timer_t timer;
    BAD_INPUT(struct itimerval, setitimer(ITIMER_REAL, bad, NULL));
    BAD_OUTPUT(struct itimerval, setitimer(ITIMER_REAL, &no_alarm, bad));
    BAD_OUTPUT(struct itimerval, getitimer(ITIMER_REAL, bad));
    struct sigevent nothing = { .sigev_notify = SIGEV_NONE };
    CHECK_OK(timer_create(CLOCK_MONOTONIC, &nothing, &timer));
    BAD_INPUT(struct itimerspec, timer_settime(timer, 0, bad, NULL));
    CHECK_FAILS(timer_settime(timer, 0, NULL, NULL), EINVAL);
    BAD_OUTPUT(struct itimerspec, timer_settime(timer, 0, &disarmed, bad));
    BAD_OUTPUT(struct itimerspec, timer_gettime(timer, bad));
    CHECK_OK(timer_delete(timer));
    int fd = timerfd_create(CLOCK_MONOTONIC, 0);
    CHECK(fd >= 0);
    BAD_INPUT(struct itimerspec, timerfd_settime(fd, 0, bad, NULL));
    BAD_OUTPUT(struct itimerspec, timerfd_settime(fd, 0, &disarmed, bad));
    BAD_OUTPUT(struct itimerspec, timerfd_gettime(fd, bad));
    CHECK_OK(close(fd));
}

static void test_pipes(void)
{
    int fds[2];
    char byte = 0;
    CHECK_OK(pipe(fds));
    BAD_INPUT(struct iovec, readv(fds[0], bad, 1)); /* does not wait for data */
    CHECK_EQ(write(fds[1], "xy", 2), 2);
    CHECK_FAILS(read(fds[0], low, 1), EFAULT);
    CHECK_FAILS(read(fds[0], nowhere, 1), EFAULT);
    CHECK_FAILS(read(fds[0], fixed, 1), EFAULT);
    CHECK_FAILS(write(fds[1], low, 1), EFAULT);
    CHECK_FAILS(write(fds[1], nowhere, 1), EFAULT);
    CHECK_EQ(write(fds[1], fixed, 1), 1);
    BAD_INPUT(struct iovec, writev(fds[1], bad, 1));
    BAD_INPUT(struct iovec, writev(fds[1], bad, 2));
    BAD_INPUT(struct iovec, vmsplice(fds[1], bad, 1, 0));
    int file = open("/proc/self/exe", O_RDONLY);
    CHECK(file >= 0);
    BAD_INPUT(off_t, sendfile(fds[1], file, bad, 1));
    BAD_INPUT(off_t, splice(file, bad, fds[1], NULL, 1, 0));
    CHECK_OK(close(file));
    CHECK_EQ(read(fds[0], &byte, 1), 1);
    CHECK_FAILS(pipe(low), EFAULT);
    CHECK_OK(close(fds[0]));
    CHECK_OK(close(fds[1]));
    int event = eventfd(1, 0);
    CHECK_FAILS(eventfd_read(event, low), EFAULT);
    CHECK_OK(close(event));
}

static void test_polls(void)
{
    int fds[2], epoll = epoll_create1(0);
    CHECK_OK(pipe(fds));
    CHECK_EQ(write(fds[1], "x", 1), 1);
    struct pollfd asked = { .fd = fds[0], .events = POLLIN };
    struct epoll_event event = { .events = EPOLLIN };
    CHECK_OK(epoll_ctl(epoll, EPOLL_CTL_ADD, fds[0], &event));
    BAD_OUTPUT(struct pollfd, number_ == 3 ? (errno = EFAULT, -1) : poll(bad, 1, -1));
    BAD_INPUT(struct pollfd, ppoll(bad, 1, &moment, NULL));
    BAD_INPUT(uint64_t, ppoll(&asked, 1, NULL, (void *)bad));
    BAD_INPUT(uint64_t, select(fds[0] + 1, (void *)bad, NULL, NULL, NULL));
    struct timeval soon = { 0, 1000 };
    CHECK_FAILS(select(fds[0] + 1, NULL, low, NULL, &soon), EFAULT);
    CHECK_FAILS(select(fds[0] + 1, NULL, NULL, (void *)nowhere, &soon), EFAULT);
    CHECK_FAILS(pselect(fds[0] + 1, low, NULL, NULL, &moment, NULL), EFAULT);
    fd_set set;
    FD_ZERO(&set);
    FD_SET(fds[0], &set);
    BAD_INPUT(uint64_t, pselect(fds[0] + 1, &set, NULL, NULL, NULL, (void *)bad));
    BAD_OUTPUT(struct epoll_event, epoll_wait(epoll, bad, 1, -1));
    BAD_OUTPUT(struct epoll_event, epoll_pwait(epoll, bad, 1, 1000, NULL));
    BAD_INPUT(uint64_t, epoll_pwait(epoll, &event, 1, -1, (void *)bad));
    BAD_INPUT(struct timespec, epoll_pwait2(epoll, &event, 1, bad, NULL));
    BAD_INPUT(struct epoll_event, epoll_ctl(epoll, EPOLL_CTL_ADD, fds[1], bad));
    CHECK_OK(close(epoll));
    CHECK_OK(close(fds[0]));
    CHECK_OK(close(fds[1]));
}

static void fill(int fd, int messages)
{
    for (int i = 0; i < messages; i++)
        CHECK_EQ(send(fd, "x", 1, 0), 1);
}

static void test_sockets(void)
{
    int fds[2];
    char bytes[8];
    struct sockaddr_un address;
    CHECK_OK(socketpair(AF_UNIX, SOCK_DGRAM, 0, fds));
    BAD_INPUT(struct msghdr, recvmsg(fds[0], bad, 0)); /* does not wait for a message */
    BAD_INPUT(struct msghdr, sendmsg(fds[0], bad, 0));
    BAD_INPUT(struct iovec, recvmsg(fds[0], &(struct msghdr){ .msg_iov = bad, .msg_iovlen = 1 }, 0));
    BAD_INPUT(struct iovec, sendmsg(fds[0], &(struct msghdr){ .msg_iov = bad, .msg_iovlen = 1 }, 0));
    BAD_INPUT(struct mmsghdr, recvmmsg(fds[0], bad, 1, 0, NULL));
    BAD_INPUT(struct mmsghdr, sendmmsg(fds[0], bad, 1, 0));
    BAD_INPUT(struct timespec, recvmmsg(fds[0], (struct mmsghdr[1]){ 0 }, 1, 0, bad));
    CHECK_FAILS(recvmsg(-1, low, 0), EBADF);
    /* The message is lost, as it is natively. */
    fill(fds[1], 3 + PLACES);
    CHECK_FAILS(recv(fds[0], low, 1, 0), EFAULT);
    CHECK_FAILS(recv(fds[0], nowhere, 1, 0), EFAULT);
    CHECK_FAILS(recv(fds[0], fixed, 1, 0), EFAULT);
    BAD_OUTPUT(socklen_t, recvfrom(fds[0], bytes, 1, 0, (struct sockaddr *)&address, bad));
    CHECK_FAILS(recv(fds[0], bytes, 1, MSG_DONTWAIT), EAGAIN);
    /* A header that cannot be written. */
    fill(fds[1], 1);
    struct iovec part = { bytes, sizeof bytes };
    struct msghdr *header = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(header != MAP_FAILED);
    *header = (struct msghdr){ .msg_iov = &part, .msg_iovlen = 1 };
    CHECK_OK(mprotect(header, 4096, PROT_READ));
    CHECK_FAILS(recvmsg(fds[0], header, 0), EFAULT);
    CHECK_OK(munmap(header, 4096));
    CHECK_FAILS(send(fds[1], low, 1, 0), EFAULT);
    CHECK_FAILS(sendto(fds[1], "x", 1, 0, low, sizeof address), EFAULT);
    CHECK_FAILS(connect(fds[1], low, sizeof address), EFAULT);
    CHECK_FAILS(socketpair(AF_UNIX, SOCK_DGRAM, 0, low), EFAULT);
    /* What was moved before is what the call returns. */
    struct iovec parts[] = { { "ab", 2 }, { nowhere, 1 } };
    struct mmsghdr two[] = { { .msg_hdr = { .msg_iov = parts, .msg_iovlen = 1 } },
                             { .msg_hdr = { .msg_iov = low, .msg_iovlen = 1 } } };
    CHECK_EQ(sendmmsg(fds[1], two, 2, 0), 1);
    CHECK_EQ(two[0].msg_len, 2);
    CHECK_EQ(recv(fds[0], bytes, sizeof bytes, 0), 2);
    CHECK_OK(close(fds[0]));
    CHECK_OK(close(fds[1]));
}

static void test_signals(void)
{
    siginfo_t info;
    uint64_t usr1 = UINT64_C(1) << (SIGUSR1 - 1);
    int signal = 0;
    BAD_INPUT(uint64_t, sigwaitinfo((void *)bad, &info));
    BAD_INPUT(uint64_t, sigtimedwait((void *)bad, &info, &moment));
    BAD_INPUT(uint64_t, sigsuspend((void *)bad));
    BAD_INPUT(uint64_t, sigwait((void *)bad, &signal) == EFAULT ? (errno = EFAULT, -1) : 0);
    sigset_t set;
    sigemptyset(&set);
    memcpy(&set, &usr1, sizeof usr1);
    BAD_INPUT(struct timespec, sigtimedwait(&set, &info, bad));
    CHECK_OK(sigprocmask(SIG_BLOCK, &set, NULL));
    for (int i = 0; i < PLACES; i++) {
        CHECK_OK(raise(SIGUSR1));
        CHECK_FAILS(sigwaitinfo(&set, place(i, sizeof info).at), EFAULT);
        CHECK_FAILS(sigtimedwait(&set, &info, &none), EAGAIN); /* it is lost */
    }
    BAD_OUTPUT(uint64_t, sigprocmask(SIG_BLOCK, NULL, (void *)bad));
}

static void test_futexes(void)
{
    uint32_t word = 1;
    BAD_INPUT(struct timespec, syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, bad, NULL, 0));
    BAD_INPUT(struct timespec, syscall(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, 1, bad, NULL, 1));
    BAD_INPUT(struct timespec, syscall(SYS_futex, &word, FUTEX_LOCK_PI_PRIVATE, 0, bad, NULL, 0));
    BAD_INPUT(struct timespec, syscall(SYS_futex, 2, FUTEX_WAIT_PRIVATE, 0, bad, NULL, 0));
    BAD_INPUT(uint32_t, (uintptr_t)bad % 4 ? (errno = EFAULT, -1)
                        : number_ == 2     ? (errno = EFAULT, -1)
                                           : syscall(SYS_futex, bad, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0));
    struct futex_waitv one = { .val = 0, .uaddr = (uintptr_t)&word, .flags = FUTEX_32 | FUTEX_PRIVATE_FLAG };
    BAD_INPUT(struct futex_waitv, syscall(SYS_futex_waitv, bad, 1, 0, NULL, 0));
    BAD_INPUT(struct timespec, syscall(SYS_futex_waitv, &one, 1, 0, bad, CLOCK_MONOTONIC));
}

static void test_system_v(void)
{
    int set = semget(IPC_PRIVATE, 1, 0600), queue = msgget(IPC_PRIVATE, 0600);
    CHECK(set >= 0 && queue >= 0);
    struct sembuf up = { .sem_op = 1 };
    BAD_INPUT(struct sembuf, semop(set, bad, 1));
    BAD_INPUT(struct timespec, semtimedop(set, &up, 1, bad));
    BAD_OUTPUT(struct semid_ds, semctl(set, 0, IPC_STAT, bad));
    *(long *)(edge - sizeof(long)) = 1; /* a type, and no text behind it */
    BAD_INPUT(
        struct {
            long type;
            char text[8];
        },
        msgsnd(queue, bad, 8, 0));
    struct {
        long type;
        char text[8];
    } message = { 1, "text" };
    for (int i = 0; i < PLACES; i++) {
        CHECK_OK(msgsnd(queue, &message, 8, 0));
        CHECK_FAILS(msgrcv(queue, place(i, sizeof message).at, 8, 0, 0), EFAULT);
        CHECK_FAILS(msgrcv(queue, &message, 8, 0, IPC_NOWAIT), ENOMSG); /* it is lost */
    }
    CHECK_OK(semctl(set, 0, IPC_RMID));
    CHECK_OK(msgctl(queue, IPC_RMID, NULL));
}

static void test_queues(void)
{
    char name[64];
    struct mq_attr attr = { .mq_maxmsg = 1, .mq_msgsize = 8 };
    snprintf(name, sizeof name, "/pct-bad-%d", (int)getpid());
    mqd_t queue = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &attr);
    if (queue == (mqd_t)-1 && errno == ENOSYS)
        return; /* the kernel has none */
    CHECK(queue >= 0);
    CHECK_OK(mq_unlink(name));
    char text[8] = "text";
    BAD_INPUT(struct timespec, mq_timedreceive(queue, text, sizeof text, NULL, bad));
    BAD_INPUT(struct timespec, mq_timedsend(queue, text, sizeof text, 0, bad));
    CHECK_FAILS(mq_send(queue, low, 8, 0), EFAULT);
    CHECK_OK(mq_send(queue, text, sizeof text, 0));
    CHECK_FAILS(mq_receive(queue, low, 8, NULL), EFAULT);
    CHECK_OK(mq_close(queue));
}

static void test_others(void)
{
    int file = open("/dev/null", O_RDWR);
    CHECK(file >= 0);
    BAD_INPUT(struct flock, fcntl(file, F_SETLKW, bad));
    BAD_INPUT(struct flock, fcntl(file, F_SETLK, bad));
    BAD_INPUT(struct flock, fcntl(file, F_OFD_SETLKW, bad));
    CHECK_OK(close(file));
    BAD_INPUT(cpu_set_t, sched_setaffinity(0, sizeof(cpu_set_t), number_ == 2 ? (void *)nowhere : bad));
    for (int i = 0; i < PLACES; i++)
        if (i != 2)
            CHECK_FAILS(sched_getaffinity(0, sizeof(cpu_set_t), place(i, sizeof(cpu_set_t)).at), EFAULT);
    BAD_INPUT(struct rlimit, setrlimit(RLIMIT_AS, bad));
    BAD_OUTPUT(char, number_ == 2 ? (errno = EFAULT, -1) : (int)syscall(SYS_getrandom, bad, 1, 0));
    if (check_libc_minor() < 41) /* then the vDSO's, which writes there itself */
        BAD_OUTPUT(char, number_ == 2 ? (errno = EFAULT, -1) : (int)getrandom(bad, 1, 0));
    CHECK_FAILS(open(low, O_RDONLY), EFAULT);
}

/* By a thread that is alone: it cannot be said when a child ends while others run. */
static void test_children(void)
{
    for (int i = 0; i < PLACES; i++) {
        pid_t child = fork();
        if (!child)
            _exit(0);
        if (i % 2)
            CHECK_FAILS(waitid(P_PID, (id_t)child, place(i, sizeof(siginfo_t)).at, WEXITED), EFAULT);
        else
            CHECK_FAILS(waitpid(child, place(i, sizeof(int)).at, 0), EFAULT);
        CHECK_FAILS(waitpid(child, NULL, 0), ECHILD); /* it was taken away */
    }
}

/* A deadline that nobody looks at: the lock is free, the thread has finished. */
static void *nothing(void *argument)
{
    return argument;
}

static void test_unread(void)
{
    pthread_mutex_t mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
    pthread_t thread;
    CHECK_OK(pthread_mutex_timedlock(&mutex, (void *)nowhere));
    CHECK_OK(pthread_mutex_unlock(&mutex));
    CHECK_OK(pthread_create(&thread, NULL, nothing, NULL));
    CHECK_OK(pthread_join(thread, NULL));
}

/* The same from a thread that blocks the signals of a fault. */
static void *all(void *argument)
{
    sigset_t set;
    if (argument) {
        sigfillset(&set);
        CHECK_OK(pthread_sigmask(SIG_BLOCK, &set, NULL));
        make_places();
    }
    test_timers();
    test_pipes();
    test_polls();
    test_sockets();
    test_futexes();
    test_system_v();
    test_queues();
    test_others();
    return NULL;
}

int main(void)
{
    pthread_t thread;
    make_places();
    test_sleep();
    test_signals();
    test_unread();
    all(NULL);
    CHECK_OK(pthread_create(&thread, NULL, all, edge));
    all(NULL);
    CHECK_OK(pthread_join(thread, NULL));
    test_children();
    return 0;
}
