/* Programs that pct runs to their end: see subcommand.h. */
#include "subcommand.h"
#include <cli/base/cli.h>
#include <cli/process/launch.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wordexp.h>

enum { PAUSE = 100 /* milliseconds between looks at what else there is */ };

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
    pct_signals_let_in(); /* its runs have the mask that it has */
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

/* What it says until its end; which comes, where somebody wants us to end, by our telling it. */
static char *read_said(int fd, pid_t pid)
{
    char *text = NULL, buffer[4096];
    size_t size;
    FILE *out = open_memstream(&text, &size);
    bool told = false;
    for (ssize_t got = 1; out && got;) {
        struct pollfd ready = { .fd = fd, .events = POLLIN };
        if (!told && pct_signals_pending()) {
            kill(pid, SIGTERM);
            told = true;
        }
        if (poll(&ready, 1, PAUSE) <= 0)
            continue;
        got = read(fd, buffer, sizeof buffer);
        if (got > 0)
            fwrite(buffer, 1, (size_t)got, out);
        else if (got < 0 && errno != EINTR)
            break;
    }
    return out && !fclose(out) ? text : NULL;
}

int pct_subcommand_read(const char *text, char **said, int *status)
{
    wordexp_t words;
    int ends[2];
    *said = NULL;
    if (wordexp(text, &words, WRDE_NOCMD))
        return -EINVAL;
    char **argv = calloc(words.we_wordc + 2, sizeof *argv);
    int failed = !argv ? -ENOMEM : pipe2(ends, O_CLOEXEC) ? -errno : 0;
    pid_t pid = failed;
    if (!failed) {
        argv[0] = (char *)(uintptr_t)pct_cli_program;
        memcpy(argv + 1, words.we_wordv, words.we_wordc * sizeof *argv);
        pid = pct_subcommand_start(PCT_SUBCOMMAND_SELF, argv, -1, ends[1]);
        close(ends[1]);
        *said = pid < 0 ? NULL : read_said(ends[0], pid);
        close(ends[0]);
        *status = pid < 0 ? 0 : pct_subcommand_wait(pid);
    }
    free(argv);
    wordfree(&words);
    return pid < 0 ? (int)pid : *said ? 0 : -ENOMEM;
}
