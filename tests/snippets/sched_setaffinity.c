/* sched_getaffinity, sched_setaffinity: what is set is what is read; every error. */
/* tests: sched_getaffinity sched_setaffinity */
#define _GNU_SOURCE
#include "check.h"
#include <sched.h>

static void *check_inherited(void *expected)
{
    cpu_set_t now;
    CHECK_OK(sched_getaffinity(0, sizeof(now), &now));
    CHECK(CPU_EQUAL(&now, (cpu_set_t *)expected));
    return NULL;
}

int main(void)
{
    cpu_set_t all, one, now;
    CPU_ZERO(&all);
    CHECK_OK(sched_getaffinity(0, sizeof(all), &all));
    int count = CPU_COUNT(&all);
    CHECK(count >= 1);
    CHECK(count <= sysconf(_SC_NPROCESSORS_CONF));
    CHECK(sysconf(_SC_NPROCESSORS_ONLN) >= 1);
    CHECK_OK(sched_getaffinity(gettid(), sizeof(now), &now));
    CHECK(CPU_EQUAL(&now, &all));
    CHECK_OK(sched_getaffinity(getpid(), sizeof(now), &now));
    CHECK(CPU_EQUAL(&now, &all));
    check_join(check_spawn(check_inherited, &all));

    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &all))
            continue;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        CHECK_OK(sched_setaffinity(0, sizeof(one), &one));
        memset(&now, 0xff, sizeof(now));
        CHECK_OK(sched_getaffinity(0, sizeof(now), &now));
        CHECK(CPU_EQUAL(&now, &one));
        CHECK_EQ(sched_getcpu(), cpu);
        check_join(check_spawn(check_inherited, &one));
    }
    CHECK_OK(sched_setaffinity(gettid(), sizeof(all), &all));
    CHECK_OK(sched_getaffinity(0, sizeof(now), &now));
    CHECK(CPU_EQUAL(&now, &all));

    /* Sets of other sizes. */
    size_t size = CPU_ALLOC_SIZE(8192);
    cpu_set_t *large = CPU_ALLOC(8192);
    CHECK(large != NULL);
    memset(large, 0xff, size);
    CHECK_OK(sched_getaffinity(0, size, large));
    CHECK_EQ(CPU_COUNT_S(size, large), count);
    CHECK_OK(sched_setaffinity(0, size, large));
    CPU_FREE(large);

    /* CPUs that there are not are left out, but one must be left. */
    CPU_ZERO(&one);
    CHECK_FAILS(sched_setaffinity(0, sizeof(one), &one), EINVAL);
    memset(&now, 0xff, sizeof(now));
    CHECK_OK(sched_setaffinity(0, sizeof(now), &now));
    CHECK_OK(sched_getaffinity(0, sizeof(now), &now));
    CHECK(CPU_COUNT(&now) >= count);
    CHECK_FAILS(sched_getaffinity(0, 1, &now), EINVAL);
    CHECK_FAILS(sched_getaffinity(0x3fffffff, sizeof(now), &now), ESRCH);
    CHECK_FAILS(sched_setaffinity(0x3fffffff, sizeof(all), &all), ESRCH);
    CHECK_OK(sched_setaffinity(0, sizeof(all), &all));
    return 0;
}
