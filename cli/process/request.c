/* Requests for runs: see request.h. */
#include "request.h"
#include "launch.h"
#include <string.h>
#include <sys/socket.h>

size_t pct_request_write(char *text, size_t room, const struct pct_process *process)
{
    const size_t token = strlen(process->token) + 1, trace = strlen(process->trace_path) + 1;
    if (token + trace > room)
        return 0;
    memcpy(text, process->token, token);
    memcpy(text + token, process->trace_path, trace);
    return token + trace;
}

uint16_t pct_request_sites(const struct pct_process *process)
{
    const char *sites = process->extras.sites;
    if (!sites)
        return PCT_FORKSERVER_NO_SITES;
    return strcmp(sites, "calls") ? PCT_FORKSERVER_SITES : PCT_FORKSERVER_CALLS;
}

bool pct_request_send(int socket, void *request, size_t size, const int *files, int count)
{
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(PCT_REQUEST_FILES * sizeof(int))];
    } control = { .room = { 0 } };
    const size_t bytes = sizeof *files * (size_t)count;
    struct iovec piece = { request, size };
    struct msghdr message = { .msg_iov = &piece, .msg_iovlen = 1 };
    if (count) {
        message.msg_control = &control;
        message.msg_controllen = CMSG_SPACE(bytes);
        control.head =
            (struct cmsghdr){ .cmsg_len = CMSG_LEN(bytes), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS };
        memcpy(CMSG_DATA(&control.head), files, bytes);
    }
    return sendmsg(socket, &message, MSG_NOSIGNAL) == (ssize_t)size;
}
