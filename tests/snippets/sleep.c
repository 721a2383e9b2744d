/* sleep: at least this many seconds, on every clock; the rest after a signal. */
/* ops: SLEEP AWAKE */
#define _GNU_SOURCE
#include "check.h"
#include "nag.h"

static void *sleep_a_second(void *unused)
{
    CHECK_OK(sleep(1));
    return unused;
}

int main(void)
{
    int64_t monotonic = check_now(CLOCK_MONOTONIC), realtime = check_now(CLOCK_REALTIME);
    pthread_t thread = check_spawn(sleep_a_second, NULL);
    CHECK_OK(sleep(1));
    CHECK(check_now(CLOCK_MONOTONIC) - monotonic >= 1000000000);
    CHECK(check_now(CLOCK_REALTIME) - realtime >= 1000000000);
    check_join(thread);
    CHECK_OK(sleep(0));

    struct nag nag;
    nag_start(&nag, 0);
    unsigned rest = sleep(1000);
    nag_stop(&nag);
    CHECK(rest > 0 && rest <= 1000);
    return 0;
}
