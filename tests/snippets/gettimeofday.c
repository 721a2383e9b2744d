/* gettimeofday: between two readings of CLOCK_REALTIME; advances; a time zone may be asked for. */
#define _GNU_SOURCE
#include "check.h"
#include <sys/time.h>

static int64_t microseconds(void)
{
    struct timeval now;
    CHECK_OK(gettimeofday(&now, NULL));
    CHECK(now.tv_usec >= 0 && now.tv_usec < 1000000);
    return (int64_t)now.tv_sec * 1000000 + now.tv_usec;
}

int main(void)
{
    for (int i = 0; i < 20; i++) {
        int64_t before = check_now(CLOCK_REALTIME) / 1000, now = microseconds();
        int64_t after = check_now(CLOCK_REALTIME) / 1000;
        CHECK(before <= now && now <= after);
    }
    struct timeval now;
    struct timezone zone;
    memset(&zone, 0x5a, sizeof(zone));
    CHECK_OK(gettimeofday(&now, &zone));
    CHECK(zone.tz_minuteswest > -1440 && zone.tz_minuteswest < 1440);

    int64_t before = microseconds();
    struct timespec pause = { 0, 20000000 };
    CHECK_EQ(nanosleep(&pause, NULL), 0);
    CHECK(microseconds() - before >= 20000);
    before = microseconds();
    while (microseconds() - before < 2000)
        ; /* ends */
    return 0;
}
