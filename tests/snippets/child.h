/* Forked children for snippets about the end of a process and about objects shared between processes. */
#ifndef PCT_TESTS_CHILD_H
#define PCT_TESTS_CHILD_H

#include "check.h"
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* Memory that children share with this process. */
static inline void *child_shared(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED);
    return memory;
}

/* The wait status of a child. */
static inline int child_wait(pid_t child)
{
    int status = 0;
    pid_t result;
    do
        result = waitpid(child, &status, 0);
    while (result < 0 && errno == EINTR);
    CHECK_EQ(result, child);
    return status;
}

/* Run a function in a child process. The function should end it; if it returns, the child ends with status 99. A child
 * dies with its parent's main thread, so that a failed check leaves nobody behind who waits for ever. */
static inline pid_t child_start(void (*run)(void *), void *argument)
{
    pid_t parent = getpid(), child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        struct rlimit none = { 0, 0 };
        setrlimit(RLIMIT_CORE, &none); /* crashes of children are meant */
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(98);
        run(argument);
        _exit(99);
    }
    return child;
}

/* The same, and the child's wait status. */
static inline int child_run(void (*run)(void *), void *argument)
{
    return child_wait(child_start(run, argument));
}

/* The child ended by itself with this status. */
#define CHECK_EXITED(status, code)                                                                                     \
    do {                                                                                                               \
        int child_status = (status);                                                                                   \
        CHECK(WIFEXITED(child_status));                                                                                \
        CHECK_EQ(WEXITSTATUS(child_status), code);                                                                     \
    } while (0)

/* The child was killed by this signal. */
#define CHECK_SIGNALED(status, signal)                                                                                 \
    do {                                                                                                               \
        int child_status = (status);                                                                                   \
        CHECK(WIFSIGNALED(child_status));                                                                              \
        CHECK_EQ(WTERMSIG(child_status), signal);                                                                      \
    } while (0)

#endif
