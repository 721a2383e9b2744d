/* Whether a request is withdrawn before a service thread takes it is a matter of the schedule, and a replay must find
 * the same: to take one was no step, so that a replay, which runs threads for their steps alone, had it withdrawn.
 *
 * RUN: %p
 * RUN: for s in $(seq 12); do pct run -q -s $s -S random-walk -t %t/t -- %p && pct replay -q %t/t -- %p || exit 1; done
 */
#include <aio.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

int main(void)
{
    int fd[2];
    char byte;
    if (pipe(fd))
        abort();
    for (int i = 0; i < 3; i++) {
        struct aiocb request = { .aio_fildes = fd[0], .aio_buf = &byte, .aio_nbytes = 1 };
        const struct aiocb *list[] = { &request };
        if (aio_read(&request))
            abort();
        int result = aio_cancel(fd[0], &request);
        if (result == AIO_NOTCANCELED && write(fd[1], "x", 1) != 1)
            abort();
        while (aio_error(&request) == EINPROGRESS)
            aio_suspend(list, 1, NULL);
        if (aio_return(&request) != (result == AIO_CANCELED ? -1 : 1))
            abort();
    }
    return 0;
}
