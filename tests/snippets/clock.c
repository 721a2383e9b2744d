/* clock: the processor time used does not go back, and grows in a loop that waits for that. */
#define _GNU_SOURCE
#include "check.h"

int main(void)
{
    errno = CHECK_ERRNO;
    clock_t first = clock(), last = first;
    CHECK_EQ(errno, CHECK_ERRNO);
    CHECK(first >= 0);
    for (int i = 0; i < 200; i++) {
        clock_t now = clock();
        CHECK(now >= last);
        last = now;
    }
    while (clock() - first < CLOCKS_PER_SEC / 500)
        ; /* ends after 2 ms of work */
    CHECK(clock() >= first + CLOCKS_PER_SEC / 500);
    return 0;
}
