/* The random numbers of a process and of its children come from seeds of their own, which depend on the run's alone: no
 * two are alike, and those of the same seed are the same in each run.
 *
 * RUN: for i in 1 2 3; do pct run -q -s 1 -- %p; done > %t/same; for s in 1 2 3; do pct run -q -s $s -- %p;
 *     done > %t/others; cat %t/same; [ $(sort -u %t/same | wc -l) = 1 ] && [ $(tr ' ' '\n' < %t/others | sort -u |
 *     wc -l) = 9 ]
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

static void check(int fine)
{
    if (!fine)
        abort();
}

static uint64_t draw(void)
{
    uint64_t number;
    check(getrandom(&number, sizeof number, 0) == sizeof number);
    return number;
}

static uint64_t draw_in_child(void)
{
    uint64_t number;
    int status, ends[2];
    check(!pipe(ends));
    pid_t child = fork();
    if (!child) {
        number = draw();
        _exit(write(ends[1], &number, sizeof number) != sizeof number);
    }
    check(waitpid(child, &status, 0) == child && !status);
    check(read(ends[0], &number, sizeof number) == sizeof number);
    return number;
}

int main(void)
{
    uint64_t own = draw(), first = draw_in_child(), second = draw_in_child();
    printf("%016jx %016jx %016jx\n", (uintmax_t)own, (uintmax_t)first, (uintmax_t)second);
    return 0;
}
