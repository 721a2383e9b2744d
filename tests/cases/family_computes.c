// What a child has slept passes for a parent that computed meanwhile, and so found what the child wrote there already:
// also where the child keeps no family's time, in a namespace of process ids of its own or as a program without pct.
// Replays as recorded.
//
// Arguments: what the child is.
//
// RUN: for s in 1 2 3 4 5; do LD_PRELOAD=$LIBPCT PCT_SEED=$s %p member || exit; done
// RUN: ! unshare -p -f true || for s in 1 2 3 4 5; do LD_PRELOAD=$LIBPCT PCT_SEED=$s %p namespace || exit; done
// RUN: for s in 1 2 3 4 5; do LD_PRELOAD=$LIBPCT PCT_SEED=$s %p stranger || exit; done
// RUN: pct run -q -s 1 --state none -t %t/trace -- %p member && pct replay -q %t/trace -- %p member
#define _GNU_SOURCE
#include <assert.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* The machine's clock, which pct does not see read. */
static double real(void)
{
    struct timespec t;
    long result = SYS_clock_gettime;
    __asm__ volatile("syscall" : "+a"(result) : "D"((long)CLOCK_MONOTONIC), "S"(&t) : "rcx", "r11", "memory");
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    int ends[2];
    char got;
    assert(argc == 2 && !pipe(ends));
    if (!strcmp(argv[1], "namespace"))
        assert(!unshare(CLONE_NEWPID));
    double began = now();
    if (!fork()) {
        assert(dup2(ends[1], 1) == 1);
        if (!strcmp(argv[1], "stranger"))
            execle("/bin/sh", "sh", "-c", "sleep 0.2; echo", (char *)NULL, (char *[]){ NULL });
        usleep(200000);
        assert(write(1, "", 1) == 1);
        _exit(0);
    }
    for (double end = real() + 0.5; real() < end;)
        ;
    assert(read(ends[0], &got, 1) == 1);
    double passed = now() - began;
    assert(wait(NULL) > 0);
    if (passed < 0.175) { /* less the slack, by which a sleep may end early */
        fprintf(stderr, "read after %g s\n", passed);
        return 1;
    }
    return 0;
}
