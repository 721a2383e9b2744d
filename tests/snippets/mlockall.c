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

/* Whether the limit has room for the stacks of threads: an area of this size is mapped, but never had. */
static bool has_room(void)
{
    const size_t size = 64 << 20;
    void *area = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return area != MAP_FAILED && munmap(area, size) == 0;
}

int main(void)
{
    CHECK_EQ(mlockall(1 << 20), -1);
    CHECK_EQ(errno, EINVAL);
    errno = 0;
    int locked = mlockall(MCL_CURRENT | MCL_FUTURE);
    CHECK(!locked || errno == ENOMEM || errno == EPERM); /* of whom the machine allows to lock so much */
    bool room = !locked && has_room();
    for (int i = 0; i < 3 && room; i++)
        check_join(check_spawn(nothing, NULL));
    char *memory = room ? malloc(1 << 20) : NULL;
    CHECK(!room || memory);
    struct rusage usage;
    CHECK_OK(getrusage(RUSAGE_SELF, &usage));
    CHECK(usage.ru_maxrss < 300 << 10);
    free(memory);
    if (!locked)
        CHECK_OK(munlockall());
    return 0;
}
