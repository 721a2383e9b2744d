/* usleep: at least this many microseconds, also a million and more; EINTR after a signal. */
/* ops: SLEEP AWAKE */
#define _GNU_SOURCE
#include "check.h"
#include "nag.h"

int main(void)
{
    int64_t before = check_now(CLOCK_MONOTONIC);
    CHECK_OK(usleep(20000));
    CHECK(check_now(CLOCK_MONOTONIC) - before >= 20000000);
    CHECK_OK(usleep(0));
    CHECK_OK(usleep(1));
    struct nag nag;
    nag_start(&nag, 0);
    CHECK_FAILS(usleep(1000000000), EINTR);
    nag_stop(&nag);
    return 0;
}
