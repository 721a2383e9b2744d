/* What runs leave behind outside of their process groups: a daemon with a session of its own, for one. Its parent has ended, so
 * it has become our child: pct_launch_prepare() makes us the reaper of our descendants. */
#include "launch.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static bool is_server(const struct pct_launch *launch, pid_t pid)
{
    for (unsigned i = 0; i < PCT_FORKSERVERS; i++)
        if (launch->forks.servers[i].pid == pid)
            return true;
    return false;
}

/* Kill our children but the servers, and helpers of our own, which are in our process group. Returns how many there were. */
static unsigned kill_children(const struct pct_launch *launch)
{
    char path[64], text[4096];
    unsigned killed = 0;
    snprintf(path, sizeof path, "/proc/self/task/%d/children", getpid());
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[got > 0 ? got : 0] = 0;
    char *at = text, *end;
    for (long pid; (pid = strtol(at, &end, 10)) > 0 && end != at; at = end) {
        if (*end == 0 || is_server(launch, (pid_t)pid) || getpgid((pid_t)pid) == getpgrp())
            continue; /* the last one may be cut off */
        kill((pid_t)pid, SIGKILL);
        while (waitpid((pid_t)pid, NULL, 0) < 0 && errno == EINTR)
            ;
        killed++;
    }
    return killed;
}

void pct_launch_sweep(const struct pct_launch *launch)
{
    /* Whose parent is killed becomes our child in turn. */
    while (!launch->alone && !launch->running && kill_children(launch))
        ;
}
