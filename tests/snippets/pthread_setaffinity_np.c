/* pthread_getaffinity_np, pthread_setaffinity_np: what is set is what is read, for any thread; error numbers. */
/* tests: pthread_getaffinity_np pthread_setaffinity_np */
#define _GNU_SOURCE
#include "check.h"
#include <sched.h>
#include <semaphore.h>

static cpu_set_t all, one;
static sem_t gate;

static void *check_changed(void *unused)
{
    cpu_set_t now;
    CHECK_EQ(sem_wait(&gate), 0);
    CHECK_OK(pthread_getaffinity_np(pthread_self(), sizeof(now), &now));
    CHECK(CPU_EQUAL(&now, &one));
    CHECK_OK(sched_getaffinity(0, sizeof(now), &now));
    CHECK(CPU_EQUAL(&now, &one));
    CHECK_OK(pthread_setaffinity_np(pthread_self(), sizeof(all), &all));
    CHECK_OK(pthread_getaffinity_np(pthread_self(), sizeof(now), &now));
    CHECK(CPU_EQUAL(&now, &all));
    return unused;
}

int main(void)
{
    cpu_set_t now;
    CHECK_EQ(sem_init(&gate, 0, 0), 0);
    memset(&all, 0xff, sizeof(all));
    CHECK_OK(pthread_getaffinity_np(pthread_self(), sizeof(all), &all));
    CHECK(CPU_COUNT(&all) >= 1);
    CHECK_OK(sched_getaffinity(0, sizeof(now), &now));
    CHECK(CPU_EQUAL(&now, &all));

    int cpu = 0;
    while (!CPU_ISSET(cpu, &all))
        cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    pthread_t thread = check_spawn(check_changed, NULL);
    CHECK_OK(pthread_getaffinity_np(thread, sizeof(now), &now));
    CHECK(CPU_EQUAL(&now, &all));
    CHECK_OK(pthread_setaffinity_np(thread, sizeof(one), &one));
    CHECK_OK(pthread_getaffinity_np(thread, sizeof(now), &now));
    CHECK(CPU_EQUAL(&now, &one));
    CHECK_OK(pthread_getaffinity_np(pthread_self(), sizeof(now), &now));
    CHECK(CPU_EQUAL(&now, &all)); /* ours has not changed */
    CHECK_EQ(sem_post(&gate), 0);
    check_join(thread);

    CPU_ZERO(&now);
    CHECK_RESULT(pthread_setaffinity_np(pthread_self(), sizeof(now), &now), EINVAL);
    CHECK_RESULT(pthread_getaffinity_np(pthread_self(), 1, &now), EINVAL);
    return 0;
}
