/* Who is at the other end of a socket: where others have a say, the run is not all under control, and one that is
 * explored verifies nothing. */
#include <preload/core/host_threads.h>
#include <preload/core/shim.h>
#include <preload/core/sys.h>
#include <preload/core/user_memory.h>
#include "io.h"
#include <sched/log.h>
#include <sched/state.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/un.h>

enum { LOOKED_AT = 1024 }; /* descriptors; what is bound to a higher one counts as another process's */

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    struct sockaddr_un local;
    struct sockaddr_storage storage;
};

/* With nobody named, it is this machine. */
static bool is_nobody(const union address *a)
{
    return a->any.sa_family == AF_INET ? a->v4.sin_addr.s_addr == htonl(INADDR_ANY)
                                       : IN6_IS_ADDR_UNSPECIFIED(&a->v6.sin6_addr);
}

static bool is_loopback(const union address *a)
{
    if (a->any.sa_family == AF_INET)
        return ntohl(a->v4.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
    return IN6_IS_ADDR_LOOPBACK(&a->v6.sin6_addr) ||
           (IN6_IS_ADDR_V4MAPPED(&a->v6.sin6_addr) && a->v6.sin6_addr.s6_addr[12] == IN_LOOPBACKNET);
}

static in_port_t port(const union address *a)
{
    return a->any.sa_family == AF_INET ? a->v4.sin_port : a->v6.sin6_port;
}

static bool is_internet(const union address *a)
{
    return a->any.sa_family == AF_INET || a->any.sa_family == AF_INET6;
}

/* Whether it is an address of this machine: something can be bound to it. */
static bool is_here(const union address *a, socklen_t size)
{
    if (is_loopback(a))
        return true;
    union address any_port = *a;
    *(a->any.sa_family == AF_INET ? &any_port.v4.sin_port : &any_port.v6.sin6_port) = 0;
    const long fd = PCT_SYS3(SYS_socket, a->any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return false;
    const bool here = !PCT_SYS3(SYS_bind, fd, &any_port, size);
    PCT_SYS1(SYS_close, fd);
    return here;
}

/* Paths of sockets: other names of one file, too, as long as the working directory is the same one. */
static bool is_path(const struct sockaddr_un *own, const struct sockaddr_un *to)
{
    char names[2][sizeof own->sun_path + 1] = { 0 };
    struct stat files[2];
    memcpy(names[0], own->sun_path, sizeof own->sun_path);
    memcpy(names[1], to->sun_path, sizeof to->sun_path);
    if (!strcmp(names[0], names[1]))
        return true;
    return !PCT_SYS4(SYS_newfstatat, AT_FDCWD, names[0], &files[0], 0) &&
           !PCT_SYS4(SYS_newfstatat, AT_FDCWD, names[1], &files[1], 0) && files[0].st_ino == files[1].st_ino &&
           files[0].st_dev == files[1].st_dev;
}

/* What IPv6 has of an address of IPv4, as that. */
static void unmap(union address *a, socklen_t *size)
{
    if (a->any.sa_family != AF_INET6 || *size < sizeof a->v6 || !IN6_IS_ADDR_V4MAPPED(&a->v6.sin6_addr))
        return;
    struct sockaddr_in plain = { .sin_family = AF_INET, .sin_port = a->v6.sin6_port };
    memcpy(&plain.sin_addr, &a->v6.sin6_addr.s6_addr[12], sizeof plain.sin_addr);
    a->v4 = plain;
    *size = sizeof plain;
}

/* A socket that is bound to `own` gets what is sent to `to`. */
static bool receives(const union address *own, socklen_t size, const union address *to, socklen_t length)
{
    /* A path, of any length. */
    if (own->any.sa_family == AF_UNIX && to->any.sa_family == AF_UNIX && *to->local.sun_path)
        return size > sizeof own->any.sa_family && *own->local.sun_path && is_path(&own->local, &to->local);
    if (!is_internet(own) || !is_internet(to))
        return size == length && !memcmp(own, to, length);
    if (port(own) != port(to))
        return false;
    if (is_nobody(own) || is_nobody(to))
        return (is_nobody(to) || is_here(to, length)) && (is_nobody(own) || is_loopback(own));
    return own->any.sa_family == AF_INET
               ? to->any.sa_family == AF_INET && own->v4.sin_addr.s_addr == to->v4.sin_addr.s_addr
               : to->any.sa_family == AF_INET6 && IN6_ARE_ADDR_EQUAL(&own->v6.sin6_addr, &to->v6.sin6_addr);
}

static PCT_OF_RUN bool told;   /* once is enough */
static PCT_OF_RUN bool itself; /* this process sends to itself in ways in which the kernel delivers later */

/* Local ports of the Internet that sockets of this process have, or had, by their low bits: another process's port that
 * is taken for an own one is one of many. */
static PCT_OF_RUN uint64_t ports[64];

static void note_port(const union address *own)
{
    const unsigned number = ntohs(port(own)) % (64 * 64);
    ports[number / 64] |= UINT64_C(1) << (number % 64);
}

static bool is_noted(const union address *own)
{
    const unsigned number = ntohs(port(own)) % (64 * 64);
    return ports[number / 64] >> (number % 64) & 1;
}

/* The address of this end of a socket, or of the other (SYS_getsockname, SYS_getpeername). 0: it has none. */
static socklen_t name_of(long number, int fd, union address *name)
{
    socklen_t size = sizeof *name;
    name->any.sa_family = AF_UNSPEC;
    return pct_fd_may_be_socket(fd) && !PCT_SYS3(number, fd, name, &size) && size <= sizeof *name ? size : 0;
}

/* Those of all sockets that there are now, whoever made them. */
static void note_ports(void)
{
    union address own;
    for (int fd = 0; fd < LOOKED_AT; fd++)
        if (name_of(SYS_getsockname, fd, &own) && is_internet(&own) && port(&own))
            note_port(&own);
}

/* Whether the other end of this socket of the Internet is one of these. */
static bool is_own(const union address *peer)
{
    if (!is_noted(peer))
        note_ports();
    return is_noted(peer);
}

/* A pseudoterminal's two ends: the kernel moves what is written between them by work of its own. */
static bool is_terminal(int fd)
{
    unsigned number;
    return !PCT_SYS3(SYS_ioctl, fd, TIOCGPTN, &number);
}

/* Whether what came while this process slept may be its own. */
static bool sends_itself(void)
{
    union address peer;
    if (!itself)
        note_ports();
    for (int fd = 0; !itself && fd < LOOKED_AT; fd++)
        itself = is_terminal(fd) || (name_of(SYS_getpeername, fd, &peer) && is_internet(&peer) && is_noted(&peer));
    return itself;
}

/* Another process that the run did not make; those that it made are counted themselves. */
static bool is_others(void)
{
    return !told && !pct_shim.children;
}

bool pct_io_may_meet(void)
{
    return is_others() && !pct_sched_alone(&pct_S) && !pct_shim.confined;
}

bool pct_io_sent(const struct pct_thread *thread)
{
    const struct pct_io *io = thread->wait.ready_arg;
    bool input = !io->count; /* how fast others read what this process writes is left out */
    for (unsigned i = 0; i < io->count; i++)
        input |= io->fds[i].fd >= 0 && io->fds[i].events & ~POLLOUT;
    if (input && is_others() && !sends_itself())
        pct_io_meets_foreign(false);
    return input;
}

void pct_io_accepted(int fd)
{
    union address peer;
    if (is_others() && name_of(SYS_getpeername, fd, &peer) &&
        (is_internet(&peer) ? !is_own(&peer) : peer.any.sa_family == AF_UNIX && pct_io_is_peer_other(fd)))
        pct_io_meets_foreign(false);
}

void pct_io_heard(const void *name, socklen_t length)
{
    const union address *from = name;
    if (name && length >= sizeof from->v4 && is_internet(from) && is_others() && !is_own(from))
        pct_io_meets_foreign(false);
}

/* Named pipes of which this process had an end to read, or one to write, likewise. */
static PCT_OF_RUN uint64_t pipes[2][8];

/* Whether it has such an end of this pipe now. */
static bool has_end(const struct stat *pipe, bool reads)
{
    struct stat status;
    for (int fd = 0; fd < LOOKED_AT; fd++) {
        if (PCT_SYS2(SYS_fstat, fd, &status) || status.st_ino != pipe->st_ino || status.st_dev != pipe->st_dev)
            continue;
        const long flags = PCT_SYS2(SYS_fcntl, fd, F_GETFL), mode = flags & O_ACCMODE;
        if (flags >= 0 && !(flags & O_PATH) && mode != (reads ? O_WRONLY : O_RDONLY))
            return true;
    }
    return false;
}

/* Of such pipes, those to which this process has written, or may have: by an end to write alone. */
static PCT_OF_RUN uint64_t written[8];

static PCT_OF_RUN bool sent_locally; /* it has sent datagrams by UNIX sockets, perhaps to itself */

static bool is_written(const struct stat *pipe)
{
    return written[pipe->st_ino / 64 % 8] >> (pipe->st_ino % 64) & 1;
}

static void note_written(const struct stat *pipe)
{
    written[pipe->st_ino / 64 % 8] |= UINT64_C(1) << (pipe->st_ino % 64);
}

void pct_io_pipe_opened(int fd, bool reads, bool joined)
{
    struct stat status;
    if (PCT_SYS2(SYS_fstat, fd, &status))
        return;
    const uint64_t bit = UINT64_C(1) << (status.st_ino % 64);
    const unsigned word = status.st_ino / 64 % 8;
    pipes[reads][word] |= bit;
    if (!reads && !(pct_fd_others(fd) & PCT_FD_BOTH))
        note_written(&status);
    if (joined && is_others() && !(pipes[!reads][word] & bit) && !has_end(&status, !reads))
        pct_io_meets_foreign(false);
}

void pct_io_went(int fd)
{
    struct stat status;
    if (pct_fd_others(fd) & PCT_FD_LOCAL)
        sent_locally = true;
    if (pct_fd_others(fd) & PCT_FD_BOTH && !PCT_SYS2(SYS_fstat, fd, &status))
        note_written(&status);
}

void pct_io_came(int fd)
{
    struct stat status;
    const unsigned others = pct_fd_others(fd);
    if (PCT_LIKELY(!others) || !is_others() || pct_sched_alone(&pct_S))
        return;
    const bool both = others & PCT_FD_BOTH && !PCT_SYS2(SYS_fstat, fd, &status);
    if (others & PCT_FD_GIVEN || (others & PCT_FD_LOCAL && !sent_locally) || (both && !is_written(&status)))
        pct_io_meets_foreign(false);
}

void pct_io_closes(int fd)
{
    if (itself)
        pct_io_connects(fd);
}

void pct_io_connects(int fd)
{
    union address own;
    if (name_of(SYS_getsockname, fd, &own) && is_internet(&own))
        note_port(&own);
}

void pct_io_sends_itself(void)
{
    itself = true;
}

bool pct_io_is_foreign(int fd, const void *name, socklen_t length)
{
    union address to = { .storage.ss_family = AF_UNSPEC }, own = to;
    if (told || !name || length > sizeof to || !pct_user_copy_in(&to, name, length) || to.any.sa_family == AF_UNSPEC)
        return false;
    int type = pct_io_socket_option(fd, SO_TYPE);
    unmap(&to, &length);
    /* The one that was found last for such a name, and then all from the first on. */
    static PCT_OF_RUN uint16_t found[64];
    uint32_t hash = 0;
    for (socklen_t i = 0; i < length; i++)
        hash = hash * 31 + ((const uint8_t *)&to)[i];
    uint16_t *last = &found[hash % 64];
    for (int i = -1; i < LOOKED_AT; i++) {
        const int other = i < 0 ? *last : i;
        socklen_t size = name_of(SYS_getsockname, other, &own);
        unmap(&own, &size);
        if (size && pct_io_socket_option(other, SO_TYPE) == type && receives(&own, size, &to, length)) {
            itself |= is_internet(&to);
            *last = (uint16_t)other;
            return false;
        }
    }
    return true;
}

bool pct_io_is_peer_other(int fd)
{
    struct ucred from;
    unsigned size = sizeof from;
    return PCT_SYS6(SYS_getsockopt, fd, SOL_SOCKET, SO_PEERCRED, &from, &size, 0) ||
           from.pid != (pid_t)PCT_SYS0(SYS_getpid);
}

void pct_io_meets_foreign(bool nobody)
{
    pct_log_doubt(&pct_S, PCT_DOUBT_PEER);
    if (nobody || told)
        return;
    told = true;
    pct_uncontrolled(PCT_UNCONTROLLED_OUTSIDE);
}
