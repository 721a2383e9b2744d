/* Names and addresses of hosts: libc asks other machines, inside, and under locks of its own. Done outside the
 * scheduler, unless nobody has to be asked. Then it is done with the baton, because libc opens files for it, whose
 * numbers other threads would find taken or not. */
#include <preload/core/real.h>
#include <preload/core/sys.h>
#include <preload/memory/channel.h>
#include "io.h"
#include <fcntl.h>
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

static char small(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 32) : c;
}

/* Finds a name among the words of hosts(5), a character at a time: an address, names, and a comment in each line. */
struct search {
    const char *name;
    size_t matched;
    enum { BEFORE, WORD, OTHER, COMMENT } at; /* OTHER: a word that is not the name */
    bool found, address;                      /* the line's address has not ended yet */
};

static void take(struct search *search, char c)
{
    bool ends = c == '\n' || c == '#', blank = ends || c == ' ' || c == '\t';
    if (search->at != COMMENT && blank) {
        search->found |= search->at == WORD && !search->name[search->matched];
        search->address &= search->at == BEFORE;
        search->at = BEFORE;
    }
    if (c == '\n')
        *search = (struct search){ .name = search->name, .found = search->found, .address = true };
    else if (c == '#')
        search->at = COMMENT;
    if (blank || search->at == COMMENT)
        return;
    if (search->at == BEFORE) {
        search->at = search->address ? OTHER : WORD;
        search->matched = 0;
    }
    if (search->at == WORD && search->name[search->matched] && small(search->name[search->matched]) == small(c))
        search->matched++;
    else
        search->at = OTHER;
}

/* Whether it is listed in the file that libc looks into first, on nearly every machine. Where it does not, and has to
 * wait for another machine, the watchdog lets the other threads go on. */
static bool is_listed(const char *name)
{
    struct search search = { .name = name, .address = true };
    char text[1024];
    long fd = PCT_SYS3(SYS_open, "/etc/hosts", O_RDONLY | O_CLOEXEC, 0), got;
    if (fd < 0)
        return false;
    while (!search.found && (got = PCT_SYS3(SYS_read, fd, text, sizeof text)) > 0)
        for (long i = 0; i < got; i++)
            take(&search, text[i]);
    take(&search, '\n');
    PCT_SYS1(SYS_close, fd);
    return search.found;
}

/* Whether it can be answered without asking anybody. */
static bool is_local(const char *name)
{
    return pct_shim.watchdog && !pct_shim.confined && name && is_listed(name);
}

PCT_EXPORT int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
                           struct addrinfo **result)
{
    PCT_ENTER(self);
    if (!self || !node || (hints && hints->ai_flags & AI_NUMERICHOST) || is_address(node))
        return REAL(getaddrinfo)(node, service, hints, result);
    if (is_local(node))
        return CALL_MAY_BLOCK(self, REAL(getaddrinfo)(node, service, hints, result));
    return CALL_EXTERNAL(self, PCT_OP_CONNECT, NULL, REAL(getaddrinfo)(node, service, hints, result));
}

PCT_EXPORT int getnameinfo(const struct sockaddr *address, socklen_t length, char *host, socklen_t host_size,
                           char *service, socklen_t service_size, int flags)
{
    PCT_ENTER(self);
    if (!self || flags & NI_NUMERICHOST)
        return REAL(getnameinfo)(address, length, host, host_size, service, service_size, flags);
    return CALL_EXTERNAL(self, PCT_OP_CONNECT, NULL,
                         REAL(getnameinfo)(address, length, host, host_size, service, service_size, flags));
}

PCT_EXPORT struct hostent *gethostbyname(const char *name)
{
    pct_explored_hidden(PCT_KEY_RANDOM, false); /* its result stands where the last one did */
    PCT_ENTER(self);
    if (!self || (name && is_address(name)))
        return REAL(gethostbyname)(name);
    if (is_local(name))
        return CALL_MAY_BLOCK(self, REAL(gethostbyname)(name));
    return CALL_EXTERNAL(self, PCT_OP_CONNECT, NULL, REAL(gethostbyname)(name));
}
