/* _Fork: as fork, without the handlers of pthread_atfork; may be called in a signal handler. */
/* ops: FORK */
#define _GNU_SOURCE
#include "check.h"
#include "child.h"
#include <signal.h>

static int handlers;
static volatile pid_t from_handler;

static void count(void)
{
    handlers++;
}

static void *add(void *sum)
{
    __atomic_fetch_add((int *)sum, 1, __ATOMIC_RELAXED);
    return NULL;
}

static void fork_in_handler(int number)
{
    (void)number;
    from_handler = _Fork();
    if (from_handler == 0)
        _exit(6);
}

int main(void)
{
    pid_t pid = getpid();
    CHECK_EQ(pthread_atfork(count, count, count), 0);
    pid_t child = _Fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK_EQ(handlers, 0);
        CHECK_EQ(getppid(), pid);
        int sum = 0;
        pthread_t threads[2] = { check_spawn(add, &sum), check_spawn(add, &sum) };
        check_join(threads[0]);
        check_join(threads[1]);
        CHECK_EQ(sum, 2);
        _exit(5);
    }
    CHECK_EXITED(child_wait(child), 5);
    CHECK_EQ(handlers, 0);

    CHECK(signal(SIGUSR1, fork_in_handler) != SIG_ERR);
    CHECK_EQ(raise(SIGUSR1), 0);
    CHECK(from_handler > 0);
    CHECK_EXITED(child_wait(from_handler), 6);
    return 0;
}
