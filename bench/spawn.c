/* Start and end of a program: spawn PROGRAM LIBRARY [TRACE]. Runs it in turn without and with the library preloaded
 * (and recording into TRACE), so that both see the same noise. Prints the two medians in us, one a line. */
#include "measure.h"
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>

enum { ROUNDS = 41, RUNS = 20 };

static double run(const char *program, char **environment)
{
    char *arguments[] = { (char *)program, NULL };
    double start = real_ns();
    for (int i = 0; i < RUNS; i++) {
        pid_t pid;
        int status;
        if (posix_spawn(&pid, program, NULL, NULL, arguments, environment) || waitpid(pid, &status, 0) != pid || status)
            exit(1);
    }
    return (real_ns() - start) / 1000 / RUNS;
}

int main(int argc, char **argv)
{
    static char preload[4096], trace[4096];
    char *plain[] = { NULL }, *shim[] = { preload, "PCT_LOG=quiet", "PCT_SEED=1", argc > 3 ? trace : NULL, NULL };
    double without[ROUNDS], with[ROUNDS];
    if (argc < 3)
        return 2;
    snprintf(preload, sizeof preload, "LD_PRELOAD=%s", argv[2]);
    if (argc > 3)
        snprintf(trace, sizeof trace, "PCT_TRACE=%s", argv[3]);
    for (int i = 0; i < ROUNDS; i++) {
        without[i] = run(argv[1], plain);
        with[i] = run(argv[1], shim);
    }
    printf("%.1f\n%.1f\n", median(without, ROUNDS), median(with, ROUNDS));
    return 0;
}
