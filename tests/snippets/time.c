/* time: the seconds of CLOCK_REALTIME, to its tick; both ways to get the result agree. */
#define _GNU_SOURCE
#include "check.h"

int main(void)
{
    for (int i = 0; i < 20; i++) {
        /* It may be read from the clock that ticks, which is a little behind. */
        time_t before = (check_now(CLOCK_REALTIME_COARSE)) / 1000000000;
        time_t stored = -1;
        errno = CHECK_ERRNO;
        time_t now = time(i % 2 ? &stored : NULL);
        CHECK_EQ(errno, CHECK_ERRNO);
        time_t after = check_now(CLOCK_REALTIME) / 1000000000;
        CHECK(before <= now && now <= after);
        if (i % 2)
            CHECK_EQ(stored, now);
    }
    time_t before = time(NULL);
    struct timespec pause = { 1, 50000000 }; /* a second, and more than a tick */
    CHECK_EQ(nanosleep(&pause, NULL), 0);
    CHECK(time(NULL) - before >= 1);
    return 0;
}
