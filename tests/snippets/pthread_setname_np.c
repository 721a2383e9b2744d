/* pthread_setname_np: of oneself and of another thread; who is made then inherits it; error numbers. */
#define _GNU_SOURCE
#include "check.h"
#include <semaphore.h>

static sem_t there, gate;

static void check_name(pthread_t thread, const char *expected)
{
    char name[16];
    CHECK_OK(pthread_getname_np(thread, name, sizeof(name)));
    CHECK(!strcmp(name, expected));
}

static void *wait_for_name(void *unused)
{
    check_name(pthread_self(), "first");
    CHECK_EQ(sem_post(&there), 0);
    CHECK_EQ(sem_wait(&gate), 0);
    check_name(pthread_self(), "other");
    return unused;
}

int main(void)
{
    CHECK_EQ(sem_init(&there, 0, 0), 0);
    CHECK_EQ(sem_init(&gate, 0, 0), 0);
    CHECK_OK(pthread_setname_np(pthread_self(), "first"));
    check_name(pthread_self(), "first");
    pthread_t thread = check_spawn(wait_for_name, NULL);
    CHECK_EQ(sem_wait(&there), 0);
    CHECK_OK(pthread_setname_np(thread, "other"));
    check_name(thread, "other");
    CHECK_EQ(sem_post(&gate), 0);
    check_join(thread);
    CHECK_RESULT(pthread_setname_np(pthread_self(), "more than fifteen"), ERANGE);
    check_name(pthread_self(), "first");
    return 0;
}
