/* mlockall: what is used is locked; threads are made, and little memory is taken for that. Bad flags are refused. */
#define _GNU_SOURCE
#include "check.h"
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>

static void *nothing(void *unused)
{
    return unused;
}

int main(void)
{
    CHECK_EQ(mlockall(1 << 20), -1);
    CHECK_EQ(errno, EINVAL);
    errno = 0;
    int locked = mlockall(MCL_CURRENT | MCL_FUTURE);
    CHECK(!locked || errno == ENOMEM || errno == EPERM); /* of whom the machine allows to lock so much */
    for (int i = 0; i < 3 && !locked; i++)
        check_join(check_spawn(nothing, NULL));
    char *memory = locked ? NULL : malloc(1 << 20);
    CHECK(locked || memory);
    struct rusage usage;
    CHECK_OK(getrusage(RUSAGE_SELF, &usage));
    CHECK(usage.ru_maxrss < 300 << 10);
    free(memory);
    if (!locked)
        CHECK_OK(munlockall());
    return 0;
}
