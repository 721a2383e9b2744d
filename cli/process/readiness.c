/* When is a server ready: see readiness.h. */
#include "readiness.h"
#include <arpa/inet.h>
#include <common/config.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BUFFERED "a program whose output is no terminal may write it late (then wait for a port or a file)"
#define ELSEWHERE "was the server told to use this one"

static const struct {
    const char *name;
    const char *before, *behind; /* of what has not come */
    const char *advice;
} kinds[] = {
    [PCT_READINESS_LINE] = { "line", "no line with '", "' came", BUFFERED },
    [PCT_READINESS_REGEX] = { "regex", "no line that matches '", "' came", BUFFERED },
    [PCT_READINESS_PORT] = { "port", "nothing listened on TCP port ", "", ELSEWHERE },
    [PCT_READINESS_UNIX] = { "unix", "nothing listened on the socket ", "", ELSEWHERE },
    [PCT_READINESS_FILE] = { "file", "no new file ", " appeared", ELSEWHERE },
};

int pct_readiness_parse(struct pct_readiness *ready, const char *text, char *error, size_t size)
{
    memset(ready, 0, sizeof *ready);
    const char *colon = strchr(text, ':');
    size_t length = colon ? (size_t)(colon - text) : 0, kind = 0;
    while (kind < sizeof kinds / sizeof *kinds &&
           (strlen(kinds[kind].name) != length || memcmp(kinds[kind].name, text, length)))
        kind++;
    if (!colon || !colon[1] || kind == sizeof kinds / sizeof *kinds) {
        snprintf(error, size, "--ready: '%s' is none of line:TEXT, regex:REGEX, port:NUMBER, unix:PATH, file:PATH",
                 text);
        return -1;
    }
    ready->kind = (enum pct_readiness_kind)kind;
    ready->what = colon + 1;
    if (kind == PCT_READINESS_PORT) {
        uint64_t port = 0;
        if (pct_config_parse_u64(&port, ready->what, 1, 65535, "--ready=port", error, size))
            return -1;
        ready->port = (unsigned)port;
    } else if (kind == PCT_READINESS_REGEX) {
        int failed = regcomp(&ready->regex, ready->what, REG_EXTENDED | REG_NOSUB);
        if (failed) {
            char reason[128];
            regerror(failed, &ready->regex, reason, sizeof reason);
            snprintf(error, size, "--ready=%s: %s", text, reason);
            return -1;
        }
    }
    return 0;
}

void pct_readiness_free(struct pct_readiness *ready)
{
    if (ready->kind == PCT_READINESS_REGEX)
        regfree(&ready->regex);
}

enum { LISTEN = 10 }; /* TCP_LISTEN of the kernel */

/* Ask the kernel for those that listen on this port alone: its tables in /proc have all connections, too, and to go
 * through them takes milliseconds. Returns 1, 0, or -1: it answers no such questions. */
static int ask_listens(unsigned char family, unsigned port)
{
    struct {
        struct nlmsghdr head;
        struct inet_diag_req_v2 about;
    } question = { .head = { .nlmsg_len = sizeof question,
                             .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                             .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP },
                   .about = { .sdiag_family = family,
                              .sdiag_protocol = IPPROTO_TCP,
                              .idiag_states = 1 << LISTEN,
                              .id = { .idiag_sport = htons((uint16_t)port) } } };
    union {
        struct {
            struct nlmsghdr head;
            int error; /* of one that is the last */
        };
        char room[8192];
    } answer;
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    /* The answer is there when the question has been sent. */
    bool asked = fd >= 0 && send(fd, &question, sizeof question, 0) == sizeof question;
    ssize_t got = asked ? recv(fd, &answer, sizeof answer, MSG_DONTWAIT) : -1;
    if (fd >= 0)
        close(fd);
    if (got >= (ssize_t)NLMSG_LENGTH(sizeof answer.error) && answer.head.nlmsg_type == NLMSG_DONE && !answer.error)
        return 0;
    return got > 0 && answer.head.nlmsg_type == SOCK_DIAG_BY_FAMILY ? 1 : -1;
}

static bool table_listens(const char *table, unsigned port)
{
    FILE *file = fopen(table, "re");
    char line[512];
    bool found = false;
    while (file && !found && fgets(line, sizeof line, file)) {
        /* "  0: 0100007F:1F90 00000000:0000 0A ...": the local address, the remote one, the state, all hexadecimal. */
        unsigned local, state;
        found = sscanf(line, " %*u: %*[0-9A-Fa-f]:%x %*s %x", &local, &state) == 2 && local == port && state == LISTEN;
    }
    if (file)
        fclose(file);
    return found;
}

static bool port_listens(unsigned port)
{
    const int four = ask_listens(AF_INET, port), six = four == 1 ? 0 : ask_listens(AF_INET6, port);
    return four == 1 || six == 1 || (four < 0 && table_listens("/proc/net/tcp", port)) ||
           (six < 0 && table_listens("/proc/net/tcp6", port));
}

/* The table has the path that the server gave to bind(): perhaps a relative one, or one through a link. */
static bool same_socket(const char *one, const char *other)
{
    struct stat a, b;
    return !strcmp(one, other) || (!stat(one, &a) && !stat(other, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino);
}

static bool socket_listens(const char *path)
{
    enum { ACCEPTS = 1 << 16 }; /* __SO_ACCEPTCON of the kernel */
    FILE *file = fopen("/proc/net/unix", "re");
    char line[512];
    bool found = false;
    while (file && !found && fgets(line, sizeof line, file)) {
        /* "0000000000000000: 00000002 00000000 00010000 0001 01 12345 /run/socket": flags are the fourth, the path the
         * last. */
        unsigned flags;
        int at = 0;
        line[strcspn(line, "\n")] = 0;
        if (sscanf(line, "%*s %*s %*s %x %*s %*s %*s %n", &flags, &at) == 1 && at && flags & ACCEPTS)
            found = same_socket(line + at, path);
    }
    if (file)
        fclose(file);
    return found;
}

static bool file_changed(const struct pct_readiness *ready)
{
    struct stat now;
    const struct stat *before = &ready->before;
    return !stat(ready->what, &now) &&
           (now.st_ino != before->st_ino || now.st_dev != before->st_dev || now.st_size != before->st_size ||
            now.st_mtim.tv_sec != before->st_mtim.tv_sec || now.st_mtim.tv_nsec != before->st_mtim.tv_nsec);
}

static bool line_matches(const struct pct_readiness *ready, const char *line, size_t length)
{
    if (ready->kind == PCT_READINESS_LINE)
        return memmem(line, length, ready->what, strlen(ready->what));
    regmatch_t whole = { .rm_so = 0, .rm_eo = (regoff_t)length };
    return !regexec(&ready->regex, line, 1, &whole, REG_STARTEND);
}

/* Look at the lines that have come since the last time. One that is longer than the buffer counts as several. */
static bool line_came(struct pct_readiness *ready, int output)
{
    static char buffer[1 << 16];
    ssize_t got;
    while ((got = pread(output, buffer, sizeof buffer, ready->from)) > 0) {
        size_t left = (size_t)got, used = 0;
        for (const char *end; (end = memchr(buffer + used, '\n', left - used)); used = (size_t)(end - buffer) + 1)
            if (line_matches(ready, buffer + used, (size_t)(end - buffer) - used))
                return true;
        if (!used && left < sizeof buffer)
            return false;
        if (!used && line_matches(ready, buffer, left))
            return true;
        ready->from += (off_t)(used ? used : left);
    }
    return false;
}

int pct_readiness_begin(struct pct_readiness *ready, char *error, size_t size)
{
    ready->from = 0;
    if (ready->kind == PCT_READINESS_FILE && stat(ready->what, &ready->before))
        memset(&ready->before, 0, sizeof ready->before);
    if (ready->kind != PCT_READINESS_PORT && ready->kind != PCT_READINESS_UNIX)
        return 0;
    if (!pct_readiness_check(ready, -1))
        return 0;
    snprintf(error, size, "%s %s is in use: something listens there already, though the server has not been started",
             ready->kind == PCT_READINESS_PORT ? "port" : "socket", ready->what);
    return -1;
}

bool pct_readiness_check(struct pct_readiness *ready, int output)
{
    switch (ready->kind) {
    case PCT_READINESS_PORT:
        return port_listens(ready->port);
    case PCT_READINESS_UNIX:
        return socket_listens(ready->what);
    case PCT_READINESS_FILE:
        return file_changed(ready);
    default:
        return line_came(ready, output);
    }
}

void pct_readiness_format(const struct pct_readiness *ready, char *buffer, size_t size)
{
    snprintf(buffer, size, "%s%s%s", kinds[ready->kind].before, ready->what, kinds[ready->kind].behind);
}

const char *pct_readiness_advice(const struct pct_readiness *ready)
{
    return kinds[ready->kind].advice;
}
