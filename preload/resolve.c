/* Names and addresses of hosts: libc asks other machines, inside, and under locks of its own. Done outside the scheduler, unless
 * nobody has to be asked. */
#include "io.h"
#include <netdb.h>

/* Whether that is an address in digits: of numbers with dots between them, or with a colon, which no name has. */
static bool is_address(const char *node)
{
    bool dots = true, colons = false;
    size_t length = 0;
    for (; node[length] && node[length] != '%'; length++) {
        char c = node[length];
        bool digit = c >= '0' && c <= '9', letter = (c | 32) >= 'a' && (c | 32) <= 'f';
        if (!digit && !letter && c != '.' && c != ':')
            return false;
        dots &= digit || c == '.';
        colons |= c == ':';
    }
    return length && (colons || (dots && !node[length]));
}

PCT_EXPORT int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
                           struct addrinfo **result)
{
    PCT_ENTER(self);
    if (!self || !node || (hints && hints->ai_flags & AI_NUMERICHOST) || is_address(node))
        return REAL(getaddrinfo)(node, service, hints, result);
    return OUTSIDE(self, PCT_OP_CONNECT, NULL, REAL(getaddrinfo)(node, service, hints, result));
}

PCT_EXPORT int getnameinfo(const struct sockaddr *address, socklen_t length, char *host, socklen_t host_size,
                           char *service, socklen_t service_size, int flags)
{
    PCT_ENTER(self);
    if (!self || flags & NI_NUMERICHOST)
        return REAL(getnameinfo)(address, length, host, host_size, service, service_size, flags);
    return OUTSIDE(self, PCT_OP_CONNECT, NULL,
                   REAL(getnameinfo)(address, length, host, host_size, service, service_size, flags));
}

PCT_EXPORT struct hostent *gethostbyname(const char *name)
{
    PCT_ENTER(self);
    if (!self)
        return REAL(gethostbyname)(name);
    return OUTSIDE(self, PCT_OP_CONNECT, NULL, REAL(gethostbyname)(name));
}
