/* The matrix: what orders two threads by way of the kernel. */
#include "matrix.h"
#include <fcntl.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <poll.h>
#include <string>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>

int ends[2], sockets[2];

namespace
{

int event, files[2], listener, timer, sysv_queue, sysv_sem;
mqd_t queue;

void make_files()
{
    char path[] = "/tmp/pct-races-XXXXXX";
    MUST(files[0] = mkstemp(path));
    MUST(files[1] = open(path, O_RDWR));
    unlink(path);
}

void make_queue()
{
    const std::string name = "/pct-races-" + std::to_string(getpid());
    mq_attr limits = {};
    limits.mq_maxmsg = 1;
    limits.mq_msgsize = 16;
    MUST(queue = mq_open(name.c_str(), O_CREAT | O_RDWR, 0600, &limits));
    mq_unlink(name.c_str());
}

void fill(int fd)
{
    char page[4096] = {};
    fcntl(fd, F_SETFL, O_NONBLOCK);
    while (write(fd, page, sizeof page) > 0)
        continue;
    fcntl(fd, F_SETFL, 0);
}

void connect_to_listener()
{
    sockaddr_in address = {};
    socklen_t length = sizeof address;
    getsockname(listener, reinterpret_cast<sockaddr *>(&address), &length);
    int fd;
    MUST(fd = socket(AF_INET, SOCK_STREAM, 0));
    MUST(connect(fd, reinterpret_cast<sockaddr *>(&address), length));
}

void lock_record(int fd, short type)
{
    struct flock lock = {};
    lock.l_type = type;
    lock.l_len = 1;
    MUST(fcntl(fd, F_OFD_SETLKW, &lock));
}

struct message {
    long type;
    char text;
};

void operate(short change)
{
    sembuf operation = { 0, change, 0 };
    MUST(semop(sysv_sem, &operation, 1));
}

const char file_locks[] = "libtsan does not know locks of files";
const char queues[] = "libtsan does not know these queues and semaphores";
const char buffers[] = "to libtsan, a call uses its buffer behind what it releases, and before what it acquires";
const char signals[] = "libtsan does not order a signal with what comes of it";

const row kernel_rows[] = {
    /* Descriptors */
    ordered(
        "pipe", [] { WRITE, write_byte(ends[1]); }, [] { read_byte(ends[0]), READ; }),
    unknown(
        "pipe-close", "to libtsan, close releases nothing", [] { WRITE, close(ends[1]); },
        [] { read_byte(ends[0]), READ; }),
    unknown(
        "pipe-poll", "to libtsan, poll acquires nothing", [] { WRITE, write_byte(ends[1]); },
        [] {
            pollfd fd = { ends[0], POLLIN, 0 };
            poll(&fd, 1, -1), READ;
        }),
    unordered(
        "pipe-poll-late", [] { WRITE; },
        [] {
            pollfd fd = { ends[0], POLLIN, 0 };
            poll(&fd, 1, 1), READ;
        }),
    unordered(
        "pipe-empty", [] { WRITE; },
        [] {
            char byte;
            fcntl(ends[0], F_SETFL, O_NONBLOCK);
            if (read(ends[0], &byte, 1) < 0)
                READ;
        }),
    unknown(
        "pipe-full", "libtsan does not know that a pipe may be full",
        [] {
            static char all[1 << 20];
            WRITE;
            MUST(read(ends[0], all, sizeof all));
        },
        [] { write_byte(ends[1]), READ; }, [] { fill(ends[1]); }),
    unordered(
        "pipe-other", [] { WRITE, write_byte(ends[1]); }, [] { read_byte(sockets[0]), READ; },
        [] { write_byte(sockets[1]); }),
    unordered(
        "write-write", [] { WRITE, write_byte(ends[1]); }, [] { write_byte(sockets[1]), READ; }),
    /* What the kernel itself does with x */
    unordered(
        "read-into", [] { WRITE; }, [] { MUST(read(ends[0], &x, 1)); }, [] { write_byte(ends[1]); }),
    unordered(
        "write-from", [] { WRITE; }, [] { MUST(write(ends[1], &x, 1)); }),
    unordered(
        "file-into", [] { WRITE; }, [] { MUST(read(files[0], &x, 1)); }, [] { make_files(), write_byte(files[1]); }),
    unordered(
        "receive-into", [] { WRITE; }, [] { MUST(recv(sockets[0], &x, 1, 0)); }, [] { write_byte(sockets[1]); }),
    unordered(
        "send-from", [] { WRITE; }, [] { MUST(send(sockets[1], &x, 1, 0)); }),
    unknown(
        "pipe-into", buffers, [] { WRITE, write_byte(ends[1]); }, [] { MUST(read(ends[0], &x, 1)); }),
    unknown(
        "pipe-from", buffers, [] { MUST(write(ends[1], &x, 1)); }, [] { read_byte(ends[0]), WRITE; }),
    ordered(
        "socketpair",
        [] {
            WRITE;
            MUST(send(sockets[1], "xy", 2, 0));
        },
        [] {
            char bytes[2];
            MUST(recv(sockets[0], bytes, 2, MSG_WAITALL));
            READ;
        }),
    ordered(
        "connect", [] { WRITE, connect_to_listener(); },
        [] {
            MUST(accept(listener, nullptr, nullptr));
            READ;
        }),
    ordered(
        "eventfd", [] { WRITE, eventfd_write(event, 1); },
        [] {
            eventfd_t value;
            eventfd_read(event, &value), READ;
        }),
    unknown(
        "timerfd", "libtsan does not order setting a timer with its expiry",
        [] {
            itimerspec soon = {};
            soon.it_value.tv_nsec = SOON;
            WRITE;
            MUST(timerfd_settime(timer, 0, &soon, nullptr));
        },
        [] {
            uint64_t count;
            MUST(read(timer, &count, sizeof count));
            READ;
        }),
    unknown(
        "flock", file_locks, [] { flock(files[0], LOCK_EX), WRITE, flock(files[0], LOCK_UN); },
        [] { flock(files[1], LOCK_EX), READ, flock(files[1], LOCK_UN); }, make_files),
    unordered(
        "flock-busy", [] { flock(files[0], LOCK_EX), WRITE, advance(1), await(2); },
        [] {
            await(1);
            if (flock(files[1], LOCK_EX | LOCK_NB))
                READ;
            advance(2);
        },
        make_files),
    unknown(
        "record-lock", file_locks, [] { lock_record(files[0], F_WRLCK), WRITE, lock_record(files[0], F_UNLCK); },
        [] { lock_record(files[1], F_WRLCK), READ, lock_record(files[1], F_UNLCK); }, make_files),

    /* Queues */
    unknown(
        "mq", queues,
        [] {
            WRITE;
            MUST(mq_send(queue, "x", 1, 0));
        },
        [] {
            char text[16];
            MUST(mq_receive(queue, text, sizeof text, nullptr));
            READ;
        },
        make_queue),
    unknown(
        "msgsnd", queues,
        [] {
            const message sent = { 1, 'x' };
            WRITE;
            MUST(msgsnd(sysv_queue, &sent, 1, 0));
        },
        [] {
            message got;
            MUST(msgrcv(sysv_queue, &got, 1, 0, 0));
            READ, msgctl(sysv_queue, IPC_RMID, nullptr);
        },
        [] { MUST(sysv_queue = msgget(IPC_PRIVATE, 0600)); }),
    unknown(
        "semop", queues, [] { WRITE, operate(1); }, [] { operate(-1), READ, semctl(sysv_sem, 0, IPC_RMID); },
        [] { MUST(sysv_sem = semget(IPC_PRIVATE, 1, 0600)); }),

    /* Signals */
    unknown(
        "kill", signals, [] { WRITE, kill(getpid(), SIGUSR1); },
        [] {
            const sigset_t set = only(SIGUSR1);
            int got;
            sigwait(&set, &got), READ;
        },
        [] { block_signal(SIGUSR1); }),
    unknown(
        "sigqueue", signals, [] { WRITE, sigqueue(getpid(), SIGUSR1, {}); },
        [] {
            const sigset_t set = only(SIGUSR1);
            sigwaitinfo(&set, nullptr), READ;
        },
        [] { block_signal(SIGUSR1); }),
    unordered(
        "sigtimedwait-late", [] { WRITE; },
        [] {
            const timespec limit = { 0, SOON };
            const sigset_t set = only(SIGUSR1);
            sigtimedwait(&set, nullptr, &limit), READ;
        },
        [] { block_signal(SIGUSR1); }),
    unknown(
        "pthread-kill", signals, [] { WRITE, pthread_kill(second_thread, SIGUSR2); }, [] { await(1); },
        [] { listen_to(SIGUSR2); }),

    /* Processes */
    unknown(
        "child", "libtsan does not order a fork with the child's end",
        [] {
            WRITE;
            if (!fork())
                _exit(0);
        },
        [] {
            while (waitpid(-1, nullptr, 0) < 0)
                pause_a_little();
            READ;
        }),

    /* What orders nothing */
    unordered(
        "nothing", [] { WRITE; }, [] { READ; }),
    unordered(
        "yield", [] { WRITE, sched_yield(); }, [] { sched_yield(), READ; }),
    unordered(
        "sleep", [] { WRITE; }, [] { usleep(20000), READ; }),
    unordered(
        "clock", [] { WRITE, in(0); }, [] { in(0), READ; }),
};

} // namespace

const table kernel_table = { kernel_rows, sizeof kernel_rows / sizeof *kernel_rows };

void make_descriptors()
{
    MUST(pipe(ends));
    MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets));
    MUST(event = eventfd(0, 0));
    MUST(timer = timerfd_create(CLOCK_MONOTONIC, 0));
    MUST(listener = socket(AF_INET, SOCK_STREAM, 0));
    MUST(listen(listener, 1));
}
