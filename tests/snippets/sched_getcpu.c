/* sched_getcpu: one of the CPUs that the thread may run on. getcpu: the same one. */
/* tests: getcpu */
#define _GNU_SOURCE
#include "check.h"
#include <sched.h>

static void *check_cpu(void *unused)
{
    cpu_set_t set;
    for (int i = 0; i < 10; i++) {
        errno = CHECK_ERRNO;
        int cpu = sched_getcpu();
        CHECK_EQ(errno, CHECK_ERRNO);
        CHECK_EQ(sched_getaffinity(0, sizeof(set), &set), 0);
        CHECK(cpu >= 0 && CPU_ISSET(cpu, &set));
        sched_yield();
    }
    return unused;
}

int main(void)
{
    cpu_set_t all, one;
    CHECK_EQ(sched_getaffinity(0, sizeof(all), &all), 0);
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        threads[i] = check_spawn(check_cpu, NULL);
    for (int i = 0; i < 3; i++)
        check_join(threads[i]);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &all))
            continue;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        CHECK_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
        CHECK_EQ(sched_getcpu(), cpu);
        unsigned same, node;
        CHECK_OK(getcpu(&same, &node));
        CHECK_EQ(same, cpu);
        check_join(check_spawn(check_cpu, NULL));
    }
    return 0;
}
