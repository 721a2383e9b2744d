/* Why nothing is claimed: "1 operations by threads", where it was one. And where there are not enough descriptors for
 * the runs at a time that were asked for: "pipe: Too many open files".
 *
 * RUN: pct run -n 20 -s 1 --state none -- %p %t/made > %t/log 2>&1; test $? = 0 && cat %t/log &&
 *     grep -q 'not all was controlled by pct: 1 child process$' %t/log
 * RUN: ulimit -n 20; pct run -n 100 -j 8 -s 1 --exec --state none -- %p > %t/log 2>&1; test $? = 125 && cat %t/log &&
 *     grep -q 'a run cannot be started: Too many open files (ulimit -n): fewer runs at a time (-j)' %t/log
 */
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Makes a child, if there is no such file yet. */
int main(int argc, char **argv)
{
    if (argc > 1 && open(argv[1], O_CREAT | O_EXCL, 0600) < 0)
        return 0;
    pid_t child = fork();
    if (!child)
        _exit(0);
    return waitpid(child, NULL, 0) != child;
}
