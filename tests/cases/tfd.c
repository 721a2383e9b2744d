// A timer descriptor cannot be written to, and poll() says so; it is read as natively, too: every expiration once.
//
// RUN: pct run -q -s 1 -n 5 --state none -- %p
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/timerfd.h>
#include <unistd.h>

static void *nothing(void *unused)
{
    return unused;
}

int main(void)
{
    pthread_t thread;
    uint64_t count = 1;
    pthread_create(&thread, NULL, nothing, NULL);
    pthread_join(thread, NULL);
    int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    struct pollfd asked = { .fd = fd, .events = POLLIN | POLLOUT };
    if (poll(&asked, 1, 0) != 0 || write(fd, &count, sizeof count) >= 0 || errno != EINVAL)
        return 1;
    if (read(fd, &count, sizeof count) >= 0 || errno != EAGAIN)
        return 2;
    const struct itimerspec each = { .it_value.tv_nsec = 1000000, .it_interval.tv_nsec = 1000000 };
    timerfd_settime(fd, 0, &each, NULL);
    usleep(10500);
    if (poll(&asked, 1, 0) != 1 || asked.revents != POLLIN || read(fd, &count, sizeof count) != sizeof count ||
        count < 10)
        return 3;
    usleep(2000);
    if (read(fd, &count, sizeof count) != sizeof count || count < 1 || count > 5)
        return 4;
    return 0;
}
