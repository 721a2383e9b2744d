/* A process that leaves itself little memory has as much of it as without pct; limits are what they were set to. */
/* tests: setrlimit setrlimit64 prlimit prlimit64 */
#define _GNU_SOURCE
#include "check.h"
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>

enum { MB = 1 << 20 };

static void *nothing(void *unused)
{
    return unused;
}

/* 256 MB in all: 160 in one piece, and a thread's stack. */
static void use_memory(void)
{
    void *block = mmap(NULL, 160 * MB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(block != MAP_FAILED);
    memset(block, 1, 160 * MB);
    check_join(check_spawn(nothing, NULL));
    CHECK_OK(munmap(block, 160 * MB));
    CHECK(mmap(NULL, 256 * MB, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
}

int main(void)
{
    struct rlimit before, limit = { 256 * MB, RLIM_INFINITY }, seen;
    struct rlimit64 limit64 = { 256 * MB, RLIM_INFINITY }, seen64;
    CHECK_OK(prlimit(0, RLIMIT_AS, NULL, &before));
    limit.rlim_max = limit64.rlim_max = before.rlim_max;
    CHECK_OK(prlimit(getpid(), RLIMIT_AS, &limit, &seen));
    CHECK_EQ(seen.rlim_cur, before.rlim_cur);
    use_memory();
    CHECK_OK(setrlimit(RLIMIT_AS, &before));
    CHECK_OK(setrlimit64(RLIMIT_AS, &limit64));
    use_memory();
    CHECK_OK(prlimit64(0, RLIMIT_AS, NULL, &seen64));
    CHECK_EQ(seen64.rlim_cur, 256 * MB);
    CHECK_OK(setrlimit(RLIMIT_AS, &limit));
    limit.rlim_cur = before.rlim_max;
    limit.rlim_max = 0;
    CHECK_FAILS(setrlimit(RLIMIT_AS, &limit), EINVAL);
    CHECK_FAILS(prlimit(0, (enum __rlimit_resource)99, &limit, NULL), EINVAL);
    return 0;
}
