/* Who is at the other end of a socket: where others have a say, the run is not all under control, and one that is
 * explored verifies nothing. */
#include <preload/core/host_threads.h>
#include <preload/core/sys.h>
#include <preload/core/user_memory.h>
#include "io.h"
#include <sched/log.h>
#include <sched/state.h>
#include <netinet/in.h>
#include <string.h>
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

/* A socket that is bound to `own` gets what is sent to `to`. */
static bool receives(const union address *own, socklen_t size, const union address *to, socklen_t length)
{
    /* A path, of any length. */
    if (own->any.sa_family == AF_UNIX && to->any.sa_family == AF_UNIX && *to->local.sun_path)
        return size > sizeof own->any.sa_family &&
               !strncmp(own->local.sun_path, to->local.sun_path, sizeof own->local.sun_path);
    if (!is_internet(own) || !is_internet(to))
        return size == length && !memcmp(own, to, length);
    if (port(own) != port(to))
        return false;
    if (is_nobody(own) || is_nobody(to))
        return (is_nobody(to) || is_loopback(to)) && (is_nobody(own) || is_loopback(own));
    return own->any.sa_family == AF_INET
               ? to->any.sa_family == AF_INET && own->v4.sin_addr.s_addr == to->v4.sin_addr.s_addr
               : to->any.sa_family == AF_INET6 && IN6_ARE_ADDR_EQUAL(&own->v6.sin6_addr, &to->v6.sin6_addr);
}

static PCT_OF_RUN bool told; /* once is enough */

bool pct_io_is_foreign(int fd, const void *name, socklen_t length)
{
    union address to = { .storage.ss_family = AF_UNSPEC }, own = to;
    if (told || !name || length > sizeof to || !pct_user_copy_in(&to, name, length) || to.any.sa_family == AF_UNSPEC)
        return false;
    int type = pct_io_socket_option(fd, SO_TYPE);
    for (int other = 0; other < LOOKED_AT; other++) {
        socklen_t size = sizeof own;
        if (pct_fd_may_be_socket(other) && !PCT_SYS3(SYS_getsockname, other, &own, &size) && size <= sizeof own &&
            pct_io_socket_option(other, SO_TYPE) == type && receives(&own, size, &to, length))
            return false;
    }
    return true;
}

void pct_io_meets_foreign(bool nobody)
{
    pct_log_doubt(&pct_S, PCT_DOUBT_PEER);
    if (nobody || told)
        return;
    told = true;
    pct_uncontrolled(PCT_UNCONTROLLED_OUTSIDE);
}
