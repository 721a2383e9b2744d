/* The floor of a run: this process, which is dynamically linked and does nothing, forks, and the child exits; with a
 * number, it computes this many thousand rounds before (measure.h); with `threads`, it does what bench/campaign does.
 * Prints us, the median of 21 rounds. */
#include "measure.h"
#include "three.h"
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 21, RUNS = 100 };

int main(int argc, char *argv[])
{
    bool threads = argc > 1 && !strcmp(argv[1], "threads");
    unsigned long thousands = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
    int runs = thousands > 2000 ? RUNS / 10 : RUNS;
    double us[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        double start = real_ns();
        for (int i = 0; i < runs; i++) {
            pid_t pid = fork();
            if (!pid) {
                compute(thousands);
                _exit(threads && !run_three(false));
            }
            if (pid < 0 || waitpid(pid, NULL, 0) != pid)
                return 1;
        }
        us[round] = (real_ns() - start) / 1000 / runs;
    }
    printf("%.1f\n", median(us, ROUNDS));
    return 0;
}
