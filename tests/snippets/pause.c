/* pause: returns only after a handler, with EINTR. */
/* ops: SIGNAL_WAIT */
#define _GNU_SOURCE
#include "check.h"
#include "nag.h"

static void *pause_once(void *unused)
{
    struct nag nag;
    nag_start(&nag, 0);
    CHECK_FAILS(pause(), EINTR);
    nag_stop(&nag);
    CHECK(nag_count > 0);
    return unused;
}

int main(void)
{
    pause_once(NULL);
    check_join(check_spawn(pause_once, NULL));

    struct nag nag;
    nag_start(&nag, SA_RESTART); /* makes no difference */
    CHECK_FAILS(pause(), EINTR);
    nag_stop(&nag);
    return 0;
}
