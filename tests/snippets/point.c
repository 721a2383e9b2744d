/* Points and choices by <pct/script.h>. */
/* ops: POINT CHOICE */
#define _GNU_SOURCE
#include "check.h"
#include <pct/script.h>
#include <pthread.h>

static void *pass(void *unused)
{
    pct_point("in a thread");
    CHECK(pct_choose(3) < 3);
    return unused;
}

int main(void)
{
    pthread_t thread;
    CHECK(pct_choose(0) == 0);
    CHECK(pct_choose(1) == 0);
    CHECK(pct_choose(~0u) < 65535);
    CHECK(!pthread_create(&thread, NULL, pass, NULL));
    pct_point("in the first thread");
    pct_point("in the first thread");
    CHECK(pct_choose(2) < 2);
    CHECK(!pthread_join(thread, NULL));
    return 0;
}
