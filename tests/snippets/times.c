/* times: ticks of a clock that goes on, and of processor time that does not go back; also without a place for the
 * latter. */
#define _GNU_SOURCE
#include "check.h"
#include <sys/times.h>
#include <unistd.h>

int main(void)
{
    struct tms first, now;
    errno = CHECK_ERRNO;
    clock_t begun = times(&first), last = first.tms_utime + first.tms_stime;
    CHECK(begun != -1);
    CHECK_EQ(errno, CHECK_ERRNO);
    for (int i = 0; i < 200; i++) {
        CHECK(times(&now) >= begun);
        CHECK(now.tms_utime + now.tms_stime >= last);
        last = now.tms_utime + now.tms_stime;
    }
    struct timespec pause = { 0, 50000000 };
    CHECK_EQ(nanosleep(&pause, NULL), 0);
    CHECK(times(NULL) - begun >= 50 * sysconf(_SC_CLK_TCK) / 1000 - 1);
    begun = times(NULL);
    while (times(NULL) == begun)
        ; /* ends after 10 ms of work; the time that children have used is a system call: 100,000 may take 200 ms of a
             CPU, which virtual time lets pass (docs/TIME.md) */
    return 0;
}
