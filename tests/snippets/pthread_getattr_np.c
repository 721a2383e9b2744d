/* pthread_getattr_np: the attributes of a running thread tell its stack, and the CPU mask that it has. */
#define _GNU_SOURCE
#include "check.h"
#include <sched.h>

/* The mask in the attributes is the thread's. */
static void same_mask(pthread_t thread)
{
    pthread_attr_t attr;
    cpu_set_t has, told;
    CHECK_OK(pthread_getaffinity_np(thread, sizeof(has), &has));
    CHECK_EQ(pthread_getattr_np(thread, &attr), 0);
    CHECK_EQ(pthread_attr_getaffinity_np(&attr, sizeof(told), &told), 0);
    CHECK(CPU_EQUAL(&has, &told));
    CHECK_EQ(pthread_attr_destroy(&attr), 0);
}

static void *look(void *unused)
{
    pthread_attr_t attr;
    void *stack;
    size_t size;
    CHECK_EQ(pthread_getattr_np(pthread_self(), &attr), 0);
    CHECK_EQ(pthread_attr_getstack(&attr, &stack, &size), 0);
    CHECK((char *)&attr >= (char *)stack && (char *)&attr < (char *)stack + size);
    CHECK_EQ(pthread_attr_destroy(&attr), 0);
    same_mask(pthread_self());
    return unused;
}

int main(void)
{
    look(NULL);
    check_join(check_spawn(look, NULL));

    cpu_set_t all, one;
    CHECK_OK(pthread_getaffinity_np(pthread_self(), sizeof(all), &all));
    int cpu = 0;
    while (!CPU_ISSET(cpu, &all))
        cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    CHECK_OK(pthread_setaffinity_np(pthread_self(), sizeof(one), &one));
    same_mask(pthread_self());
    check_join(check_spawn(look, NULL));
    return 0;
}
