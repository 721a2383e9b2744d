/* What a process pays that begins no run, as most shells and tools do: each page that it touches is a fault, and those
 * were a tenth of the start of a program. Of the shim it touches the loader's tables and the code behind them, and one
 * page of data, which is copied: 5 faults, as of an empty library. They were 30, with all tables relocated, all
 * functions looked up, and what a start needs all over the shim.
 *
 * RUN: %p $LIBPCT
 */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* The least of several: where things lie decides how many pages the kernel maps at a fault. */
static long faults(const char *preload)
{
    char *arguments[] = { "nothing", NULL }, *environment[] = { (char *)preload, "PCT_LOG=quiet", "PCT_SEED=1", NULL };
    long least = 1000000;
    for (int i = 0; i < 20; i++) {
        struct rusage used;
        pid_t pid;
        int status;
        if (posix_spawn(&pid, "/proc/self/exe", NULL, NULL, arguments, environment) ||
            wait4(pid, &status, 0, &used) != pid || status)
            exit(2);
        if (used.ru_minflt < least)
            least = used.ru_minflt;
    }
    return least;
}

int main(int argc, char **argv)
{
    static char preload[4096];
    if (argc < 2)
        return 0;
    snprintf(preload, sizeof preload, "LD_PRELOAD=%s", argv[1]);
    long without = faults("NONE="), with = faults(preload);
    printf("%ld page faults without, %ld with\n", without, with);
    return with - without > 12;
}
