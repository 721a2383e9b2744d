// The processor time that a process has used does not go back when it makes its first child, by which it gets a family;
// that of the child begins anew. Random program 300112 failed in one run of ten.
//
// RUN: %p
// RUN: pct run -q -s 1 -n 3 -- %p
#include <assert.h>
#include <sched.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long long used(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

int main(void)
{
    for (int i = 0; i < 3000; i++)
        sched_yield();
    for (int children = 0; children < 3; children++) {
        long long before = used();
        clock_t ticks = clock();
        int status;
        pid_t child = fork();
        if (!child)
            _exit(used() >= before);
        assert(used() >= before && clock() >= ticks);
        assert(waitpid(child, &status, 0) == child && !status);
        assert(used() >= before && clock() >= ticks);
    }
    return 0;
}
