/* Programs that pct runs to their end: see subcommand.h. */
#include "subcommand.h"
#include <cli/base/cli.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

pid_t pct_subcommand_start(const char *file, char *const *words, int out, int error)
{
    fflush(NULL);
    pid_t own = getpid(), pid = fork();
    if (pid)
        return pid < 0 ? -errno : pid;
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != own)
        _exit(PCT_EXIT_INTERNAL); /* we have ended before this could be asked for */
    signal(SIGINT, SIG_DFL);
    signal(SIGQUIT, SIG_DFL);
    if (out >= 0)
        dup2(out, STDOUT_FILENO);
    if (error >= 0)
        dup2(error, STDERR_FILENO);
    execv(file, words);
    _exit(127);
}

int pct_subcommand_wait(pid_t pid)
{
    int status;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
