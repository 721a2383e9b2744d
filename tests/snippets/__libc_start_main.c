/* __libc_start_main: main gets its arguments after the constructors; its result passes through exit and its
 * handlers. */
/* ops: EXIT */
#define _GNU_SOURCE
#include "check.h"
#include "child.h"

extern char **environ;

static int constructed, handlers, *report;

__attribute__((constructor)) static void construct(int argc, char **argv, char **envp)
{
    CHECK(argc >= 1);
    CHECK(argv[0] != NULL);
    CHECK(envp == environ);
    constructed++;
}

static void second(void)
{
    CHECK_EQ(handlers++, 1);
    if (report)
        *report = handlers;
}

static void first(void)
{
    CHECK_EQ(handlers++, 0);
}

static void *run_on(void *unused)
{
    for (;;)
        sched_yield();
    return unused;
}

int main(int argc, char **argv, char **envp)
{
    CHECK_EQ(constructed, 1);
    CHECK_EQ(argc, 1);
    CHECK(argv[1] == NULL);
    CHECK(strstr(argv[0], "__libc_start_main") != NULL);
    CHECK(envp == environ);
    CHECK_EQ(atexit(second), 0);
    CHECK_EQ(atexit(first), 0);

    report = child_shared(sizeof(*report));
    static const int results[] = { 0, 7, 255, 256 + 3, -1 };
    for (int i = 0; i < 5; i++) {
        *report = 0;
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            if (i % 2)
                check_spawn(run_on, NULL); /* other threads do not keep a process alive */
            return results[i];
        }
        CHECK_EXITED(child_wait(child), results[i] & 255);
        CHECK_EQ(*report, 2);
    }
    report = NULL;
    return 0;
}
