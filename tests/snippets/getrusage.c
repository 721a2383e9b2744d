/* getrusage: the processor time used does not go back, and grows in a loop that waits for that; also a thread's, and
 * that of children, of which there are none; EINVAL for anybody else's, EFAULT for no place. */
#define _GNU_SOURCE
#include "check.h"
#include <sys/resource.h>

static int64_t used(__rusage_who_t who)
{
    struct rusage usage;
    CHECK_EQ(getrusage(who, &usage), 0);
    return (int64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 + usage.ru_utime.tv_usec +
           usage.ru_stime.tv_usec;
}

int main(void)
{
    errno = CHECK_ERRNO;
    int64_t first = used(RUSAGE_SELF), last = first, now;
    CHECK_EQ(errno, CHECK_ERRNO);
    for (int i = 0; i < 200; i++) {
        CHECK((now = used(RUSAGE_SELF)) >= last);
        last = now;
    }
    while (used(RUSAGE_SELF) - first < 2000)
        ; /* ends after 2 ms of work */
    first = used(RUSAGE_THREAD);
    while (used(RUSAGE_THREAD) - first < 2000)
        ;
    CHECK_EQ(used(RUSAGE_CHILDREN), 0);
    struct rusage usage, *volatile nowhere = (struct rusage *)16;
    CHECK_EQ(getrusage(12345, &usage), -1);
    CHECK_EQ(errno, EINVAL);
    CHECK_EQ(getrusage(RUSAGE_SELF, nowhere), -1);
    CHECK_EQ(errno, EFAULT);
    return 0;
}
