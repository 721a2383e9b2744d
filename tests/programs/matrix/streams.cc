/* The matrix: the calls that go through the kernel like one of kernel.cc, and are others. */
#include "matrix.h"
#include <fcntl.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <poll.h>
#include <spawn.h>
#include <string>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <cwchar>

namespace
{

FILE *from, *to;
int epoll, other[2], file, listener, sysv_sem;
mqd_t queue;
std::string fifo;

const char poll_acquires[] = "to libtsan, a call that only looks at descriptors acquires nothing",
           moving[] = "libtsan does not know the calls that move what is in a pipe",
           vectors[] = "not every version of libtsan knows the calls with flags",
           queues[] = "libtsan does not know these queues",
           children[] = "libtsan does not order a fork with the child's end",
           signals[] = "libtsan does not order a signal with what comes of it",
           files[] = "libtsan does not know locks of files",
           timers[] = "libtsan does not order setting a timer with its expiry",
           filling[] = "to libtsan, reading from a stream acquires nothing",
           opening[] = "libtsan does not know that the ends of a named pipe wait for each other",
           writing[] = "to libtsan, a stream's write releases nothing",
           closing[] = "to libtsan, what closes an end releases nothing";

/* As MUST, in an expression. */
void must(long result)
{
    MUST(result);
}

void write_and_give()
{
    WRITE, write_byte(ends[1]);
}

void make_streams()
{
    from = fdopen(ends[0], "r");
    to = fdopen(ends[1], "w");
}

void write_line()
{
    WRITE, must(write(ends[1], "7 x\n", 4));
}

void make_epoll()
{
    epoll_event event = {};
    event.events = EPOLLIN;
    MUST(epoll = epoll_create1(0));
    MUST(epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event));
}

void make_other()
{
    MUST(pipe2(other, O_CLOEXEC));
}

void make_file()
{
    char path[] = "/tmp/pct-races-XXXXXX";
    MUST(file = mkstemp(path));
    unlink(path);
    write_byte(file);
}

void name_fifo()
{
    fifo = "/tmp/pct-races-fifo-" + std::to_string(getpid());
    unlink(fifo.c_str()); /* of a run that ended at a race, before it came to that */
}

void make_listener()
{
    MUST(listener = socket(AF_INET, SOCK_STREAM, 0));
    MUST(listen(listener, 1));
}

void make_fifo()
{
    name_fifo();
    MUST(mkfifo(fifo.c_str(), 0600));
}

void make_queue()
{
    const std::string name = "/pct-races-others-" + std::to_string(getpid());
    mq_attr limits = {};
    limits.mq_maxmsg = 1;
    limits.mq_msgsize = 16;
    MUST(queue = mq_open(name.c_str(), O_CREAT | O_RDWR, 0600, &limits));
    mq_unlink(name.c_str());
}

msghdr message_of(iovec *piece)
{
    msghdr message = {};
    message.msg_iov = piece;
    message.msg_iovlen = 1;
    return message;
}

char given, taken;
iovec give = { &given, 1 }, take = { &taken, 1 };

void write_and_fork()
{
    WRITE;
    if (!fork())
        _exit(0);
    advance(1);
}

const row rows[] = {
    /* To write and to read */
    ordered(
        "writev", [] { WRITE, writev(ends[1], &give, 1); }, [] { must(readv(ends[0], &take, 1)), READ; }),
    ordered(
        "sendmsg",
        [] {
            const msghdr message = message_of(&give);
            WRITE, sendmsg(sockets[1], &message, 0);
        },
        [] {
            msghdr message = message_of(&take);
            must(recvmsg(sockets[0], &message, 0)), READ;
        }),
    unknown(
        "sendto", "to libtsan, sendto releases nothing", [] { WRITE, sendto(sockets[1], &given, 1, 0, nullptr, 0); },
        [] { must(recvfrom(sockets[0], &taken, 1, 0, nullptr, nullptr)), READ; }),
    ordered(
        "sendmmsg",
        [] {
            mmsghdr message = { message_of(&give), 0 };
            WRITE, sendmmsg(sockets[1], &message, 1, 0);
        },
        [] {
            mmsghdr message = { message_of(&take), 0 };
            must(recvmmsg(sockets[0], &message, 1, 0, nullptr)), READ;
        }),
    unordered(
        "recv-empty", [] { WRITE; },
        [] {
            if (recv(sockets[0], &taken, 1, MSG_DONTWAIT) < 0)
                READ;
        }),
    alone(
        "pwritev2", ORDERED, vectors, [] { WRITE, pwritev2(ends[1], &give, 1, -1, 0); },
        [] { must(preadv2(ends[0], &take, 1, -1, 0)), READ; }),
    unknown(
        "splice", moving, write_and_give,
        [] {
            MUST(splice(ends[0], nullptr, other[1], nullptr, 1, 0));
            READ;
        },
        make_other),
    unknown(
        "tee", moving, write_and_give,
        [] {
            MUST(tee(ends[0], other[1], 1, 0));
            READ;
        },
        make_other),
    unknown(
        "vmsplice", moving, [] { WRITE, vmsplice(ends[1], &give, 1, 0); }, [] { read_byte(ends[0]), READ; }),
    unknown(
        "sendfile", moving,
        [] {
            off_t start = 0;
            WRITE, sendfile(ends[1], file, &start, 1);
        },
        [] { read_byte(ends[0]), READ; }, make_file),

    /* Streams of pipes */
    unknown(
        "fgets", filling, write_line,
        [] {
            char line[16];
            fgets(line, sizeof line, from), READ;
        },
        make_streams),
    unknown(
        "fgetc", filling, write_line, [] { fgetc(from), READ; }, make_streams),
    unknown(
        "getc", filling, write_line, [] { getc(from), READ; }, make_streams),
    unknown(
        "fread", filling, write_line,
        [] {
            char line[4];
            look((int)fread(line, 1, sizeof line, from)), READ;
        },
        make_streams),
    unknown(
        "getline", filling, write_line,
        [] {
            char *line = nullptr;
            size_t size = 0;
            getline(&line, &size, from), READ;
        },
        make_streams),
    unknown(
        "getdelim", filling, write_line,
        [] {
            char *line = nullptr;
            size_t size = 0;
            getdelim(&line, &size, 'x', from), READ;
        },
        make_streams),
    unknown(
        "fscanf", filling, write_line,
        [] {
            int number;
            look(fscanf(from, "%d", &number)), READ;
        },
        make_streams),
    unknown(
        "fputs", writing, [] { WRITE, fputs("7 x\n", to), fflush(to); }, [] { read_byte(ends[0]), READ; },
        make_streams),
    unknown(
        "fputws", writing, [] { WRITE, fputws(L"7 x\n", to), fflush(to); }, [] { read_byte(ends[0]), READ; },
        make_streams),
    unknown(
        "printf-in-pieces", writing,
        [] {
            fprintf(to, "7 "), fflush(to);
            WRITE, fprintf(to, "x\n"), fflush(to);
        },
        [] {
            char line[8];
            look(fgets(line, sizeof line, from) != nullptr), READ;
        },
        make_streams),
    unknown(
        "dprintf", writing, [] { WRITE, dprintf(ends[1], "%d x\n", 7); }, [] { read_byte(ends[0]), READ; }),
    /* What comes behind the line that is read */
    unordered(
        "fputs-elsewhere", [] { fputs("7 x\n", to), fflush(to), WRITE; }, [] { read_byte(ends[0]), READ; },
        make_streams),
    unknown(
        "fclose", closing, [] { WRITE, fclose(to); }, [] { fgetc(from), READ; }, make_streams),

    /* To wait for descriptors */
    unknown("select", poll_acquires, write_and_give,
            [] {
                fd_set set;
                FD_ZERO(&set);
                FD_SET(ends[0], &set);
                select(ends[0] + 1, &set, nullptr, nullptr, nullptr), READ;
            }),
    unordered(
        "select-late", [] { WRITE; },
        [] {
            fd_set set;
            timeval soon = { 0, SOON / 1000 };
            FD_ZERO(&set);
            FD_SET(ends[0], &set);
            select(ends[0] + 1, &set, nullptr, nullptr, &soon), READ;
        }),
    unknown("pselect", poll_acquires, write_and_give,
            [] {
                fd_set set;
                FD_ZERO(&set);
                FD_SET(ends[0], &set);
                pselect(ends[0] + 1, &set, nullptr, nullptr, nullptr, nullptr), READ;
            }),
    unknown("ppoll", poll_acquires, write_and_give,
            [] {
                pollfd fd = { ends[0], POLLIN, 0 };
                ppoll(&fd, 1, nullptr, nullptr), READ;
            }),
    unknown(
        "epoll", poll_acquires, write_and_give,
        [] {
            epoll_event event;
            epoll_wait(epoll, &event, 1, -1), READ;
        },
        make_epoll),
    unordered(
        "epoll-late", [] { WRITE; },
        [] {
            epoll_event event;
            epoll_wait(epoll, &event, 1, 1), READ;
        },
        make_epoll),
    unknown(
        "epoll-pwait", poll_acquires, write_and_give,
        [] {
            epoll_event event;
            epoll_pwait(epoll, &event, 1, -1, nullptr), READ;
        },
        make_epoll),
    ordered(
        "epoll-add",
        [] {
            epoll_event event = {};
            event.events = EPOLLOUT;
            WRITE, epoll_ctl(epoll, EPOLL_CTL_ADD, ends[1], &event);
        },
        [] {
            epoll_event event;
            epoll_wait(epoll, &event, 1, -1), READ;
        },
        make_epoll),

    /* Ends of connections */
    unknown(
        "shutdown", closing, [] { WRITE, shutdown(sockets[1], SHUT_WR); },
        [] { must(recv(sockets[0], &taken, 1, 0)), READ; }),
    ordered(
        "accept4",
        [] {
            sockaddr_in address = {};
            socklen_t length = sizeof address;
            getsockname(listener, reinterpret_cast<sockaddr *>(&address), &length);
            WRITE, connect(socket(AF_INET, SOCK_STREAM, 0), reinterpret_cast<sockaddr *>(&address), length);
        },
        [] { must(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC)), READ; }, make_listener),
    ordered(
        "dup", [] { WRITE, write_byte(dup(ends[1])); }, [] { read_byte(dup2(ends[0], 40)), READ; }),
    unknown(
        "dup-close", closing, [] { WRITE, dup2(ends[0], ends[1]); }, [] { read_byte(ends[0]), READ; }),
    unknown(
        "fifo-open", opening, [] { WRITE, open(fifo.c_str(), O_WRONLY); },
        [] { must(open(fifo.c_str(), O_RDONLY)), unlink(fifo.c_str()), READ; }, make_fifo),
    unknown(
        "fifo-fopen", opening, [] { WRITE, fopen(fifo.c_str(), "w"); },
        [] { fopen(fifo.c_str(), "r"), unlink(fifo.c_str()), READ; }, make_fifo),
    unordered(
        "fifo-open-both", [] { WRITE, open(fifo.c_str(), O_RDWR); },
        [] {
            const int end = open(fifo.c_str(), O_RDONLY | O_NONBLOCK);
            if (end >= 0)
                READ;
            unlink(fifo.c_str());
        },
        make_fifo),

    /* Locks of files, queues */
    unknown(
        "lockf", files,
        [] {
            /* of the process: another thread gets it at once, and is ordered by nothing but the file */
            must(lockf(file, F_LOCK, 1)), WRITE, must(lockf(file, F_ULOCK, 1)), advance(1);
        },
        [] { await(1), must(lockf(file, F_LOCK, 1)), READ; }, make_file),
    unknown(
        "mq-timed", queues,
        [] {
            const timespec until = in(LATE);
            WRITE, must(mq_timedsend(queue, "x", 1, 0, &until));
        },
        [] {
            char text[16];
            const timespec until = in(LATE);
            must(mq_timedreceive(queue, text, sizeof text, nullptr, &until)), READ;
        },
        make_queue),
    unordered(
        "mq-timed-late", [] { WRITE; },
        [] {
            char text[16];
            const timespec until = in(SOON);
            mq_timedreceive(queue, text, sizeof text, nullptr, &until), READ;
        },
        make_queue),
    unknown(
        "mq-notify", queues, [] { WRITE, must(mq_send(queue, "x", 1, 0)); },
        [] {
            const sigset_t set = only(SIGUSR1);
            int got;
            sigwait(&set, &got), READ;
        },
        [] {
            sigevent event = {};
            event.sigev_notify = SIGEV_SIGNAL;
            event.sigev_signo = SIGUSR1;
            block_signal(SIGUSR1), make_queue();
            MUST(mq_notify(queue, &event));
        }),
    unknown(
        "semtimedop", queues,
        [] {
            sembuf up = { 0, 1, 0 };
            WRITE, must(semop(sysv_sem, &up, 1));
        },
        [] {
            sembuf down = { 0, -1, 0 };
            const timespec limit = { 1, 0 };
            must(semtimedop(sysv_sem, &down, 1, &limit)), READ, semctl(sysv_sem, 0, IPC_RMID);
        },
        [] { MUST(sysv_sem = semget(IPC_PRIVATE, 1, 0600)); }),
    unordered(
        "semtimedop-late", [] { WRITE; },
        [] {
            sembuf down = { 0, -1, 0 };
            const timespec limit = { 0, SOON };
            semtimedop(sysv_sem, &down, 1, &limit), READ, semctl(sysv_sem, 0, IPC_RMID);
        },
        [] { MUST(sysv_sem = semget(IPC_PRIVATE, 1, 0600)); }),

    /* Signals */
    unknown(
        "tgkill", signals, [] { await(1), WRITE, tgkill(getpid(), stage, SIGUSR1); },
        [] {
            const sigset_t set = only(SIGUSR1);
            int got;
            advance(gettid()), sigwait(&set, &got), READ;
        },
        [] { block_signal(SIGUSR1); }),
    unknown(
        "pthread-sigqueue", signals, [] { WRITE, pthread_sigqueue(second_thread, SIGUSR1, {}); },
        [] {
            const sigset_t set = only(SIGUSR1);
            sigwaitinfo(&set, nullptr), READ;
        },
        [] { block_signal(SIGUSR1); }),
    unknown(
        "sigsuspend", signals, [] { WRITE, pthread_kill(second_thread, SIGUSR1); },
        [] {
            sigset_t none;
            sigemptyset(&none);
            sigsuspend(&none), READ;
        },
        [] { signal(SIGUSR1, [](int) {}), block_signal(SIGUSR1); }),
    unknown(
        "signal-interrupts", signals, [] { await(1), WRITE, pthread_kill(second_thread, SIGUSR1); },
        [] { advance(1), pause(), READ; }, [] { signal(SIGUSR1, [](int) {}); }),
    unknown(
        "alarm", timers, [] { WRITE, ualarm(1000, 0); },
        [] {
            const sigset_t set = only(SIGALRM);
            int got;
            sigwait(&set, &got), READ;
        },
        [] { block_signal(SIGALRM); }),
    unknown(
        "setitimer", timers,
        [] {
            itimerval soon = {};
            soon.it_value.tv_usec = SOON / 1000;
            WRITE, setitimer(ITIMER_REAL, &soon, nullptr);
        },
        [] {
            const sigset_t set = only(SIGALRM);
            int got;
            sigwait(&set, &got), READ;
        },
        [] { block_signal(SIGALRM); }),

    /* Processes */
    unknown("wait", children, write_and_fork, [] { await(1), must(wait(nullptr)), READ; }),
    unknown("wait4", children, write_and_fork, [] { await(1), must(wait4(-1, nullptr, 0, nullptr)), READ; }),
    unknown("waitid", children, write_and_fork,
            [] {
                siginfo_t info;
                await(1), must(waitid(P_ALL, 0, &info, WEXITED)), READ;
            }),
    unknown(
        "spawn", children,
        [] {
            char name[] = "true", *arguments[] = { name, nullptr };
            pid_t started;
            WRITE, posix_spawnp(&started, "true", nullptr, nullptr, arguments, environ), advance(1);
        },
        [] { await(1), must(waitpid(-1, nullptr, 0)), READ; }),
    unordered(
        "waitpid-none", [] { WRITE; }, [] { waitpid(-1, nullptr, WNOHANG), READ; }),
};

} // namespace

const table stream_table = { rows, sizeof rows / sizeof *rows };
