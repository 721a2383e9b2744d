/* The kernel lets nobody sleep on clocks that it cannot set a timer by; programs that ask for such a clock slept, where
 * natively they go another way.
 *
 * RUN: %p
 * RUN: pct run -q -n 2 -s 1 --state none -- %p
 */
#include <errno.h>
#include <time.h>

int main(void)
{
    static const clockid_t none[] = { CLOCK_MONOTONIC_RAW, CLOCK_MONOTONIC_COARSE, CLOCK_REALTIME_COARSE };
    static const clockid_t some[] = { CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_BOOTTIME, CLOCK_TAI };
    const struct timespec length = { .tv_nsec = 1000 };
    for (unsigned i = 0; i < sizeof none / sizeof *none; i++)
        if (clock_nanosleep(none[i], 0, &length, NULL) != EOPNOTSUPP)
            return 1;
    for (unsigned i = 0; i < sizeof some / sizeof *some; i++)
        if (clock_nanosleep(some[i], 0, &length, NULL))
            return 2;
    return 0;
}
