/* timespec_get: between two readings of CLOCK_REALTIME; 0 for a base that there is not. */
#define _GNU_SOURCE
#include "check.h"

static int64_t nanoseconds(void)
{
    struct timespec now;
    CHECK_RESULT(timespec_get(&now, TIME_UTC), TIME_UTC);
    CHECK(now.tv_nsec >= 0 && now.tv_nsec < 1000000000);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int main(void)
{
    for (int i = 0; i < 20; i++) {
        int64_t before = check_now(CLOCK_REALTIME), now = nanoseconds(), after = check_now(CLOCK_REALTIME);
        CHECK(before <= now && now <= after);
    }
    struct timespec now;
    CHECK_EQ(timespec_get(&now, 12345), 0);
    CHECK_EQ(timespec_get(&now, 0), 0);
    int64_t before = nanoseconds();
    struct timespec pause = { 0, 20000000 };
    CHECK_EQ(nanosleep(&pause, NULL), 0);
    CHECK(nanoseconds() - before >= 20000000);
    return 0;
}
