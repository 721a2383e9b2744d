/* The descriptor of a process that is not to be waited for (PIDFD_NONBLOCK): waitid() says EAGAIN while the process
 * lives. It waited, and here, where the child waits for its parent, for ever.
 *
 * RUN: %p
 * RUN: pct run -q -n 4 -s 1 --state none --timeout 60 -- %p
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
    enum { WHICH = 3 }; /* P_PIDFD */
    int ends[2];
    char byte;
    if (pipe(ends))
        return 1;
    pid_t child = fork();
    if (!child) {
        close(ends[1]);
        _exit(read(ends[0], &byte, 1) ? 1 : 7);
    }
    close(ends[0]);
    int fd = (int)syscall(SYS_pidfd_open, child, O_NONBLOCK);
    if (fd < 0) /* Linux before 5.10 */
        return 0;
    siginfo_t info = { .si_pid = 0 };
    if (waitid((idtype_t)WHICH, (id_t)fd, &info, WEXITED) != -1 || errno != EAGAIN)
        return 2;
    close(ends[1]);
    /* It is awaited by poll(), as in a loop of events. */
    struct pollfd asked = { .fd = fd, .events = POLLIN };
    if (poll(&asked, 1, -1) != 1 || waitid((idtype_t)WHICH, (id_t)fd, &info, WEXITED))
        return 3;
    return info.si_pid != child || info.si_code != CLD_EXITED || info.si_status != 7;
}
