/* Requests of the command: see request.h. */
#include "request.h"
#include "host.h"
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>

int pct_request_receive(int socket, void *request, size_t size, size_t head, int files[PCT_REQUEST_FILES])
{
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(PCT_REQUEST_FILES * sizeof(int))];
    } control;
    struct iovec piece = { request, size };
    struct msghdr message = {
        .msg_iov = &piece, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control
    };
    long got;
    do
        got = pct_host_sys4(SYS_recvmsg, socket, (long)&message, MSG_CMSG_CLOEXEC, 0);
    while (got == -EINTR);
    if (got <= (long)head)
        return got < 0 ? (int)got : -EPROTO;
    ((char *)request)[got - 1] = 0;
    if (message.msg_controllen < sizeof control.head)
        return 0;
    int count = (int)((control.head.cmsg_len - CMSG_LEN(0)) / sizeof *files);
    memcpy(files, CMSG_DATA(&control.head), sizeof *files * (size_t)count);
    return count;
}
