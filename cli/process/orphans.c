/* What runs leave behind outside of their process groups: a daemon with a session of its own, for one. Its parent has
 * ended, so it has become our child: pct_launch_prepare() makes us the reaper of our descendants.
 *
 * They may multiply faster than they can be killed. So all of them are stopped first, and killed when none makes
 * another. */
#include <cli/base/cli.h>
#include "descendants.h"
#include "launch.h"
#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* What cannot be ended in this many seconds is left: it is another user's, or the kernel holds it. */
#define SWEEP_SECONDS 20.0

/* While runs are under way, this many of our children may belong to none. */
enum { FEW = 64 };

/* A shell may have had children before it became this process: they are nobody's run. */
static struct pct_pids earlier;

static bool is_earlier(pid_t pid)
{
    for (size_t i = 0; i < earlier.count; i++)
        if (earlier.pid[i] == pid)
            return true;
    return false;
}

static bool is_server(const struct pct_launch *launch, pid_t pid)
{
    for (unsigned i = 0; i < PCT_FORKSERVERS; i++)
        if (launch->forks.servers[i].pid == pid)
            return true;
    return pct_hosts_has(launch, pid);
}

static void list_children(struct pct_pids *all)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/children", getpid());
    pct_pids_add_from(all, path);
}

void pct_launch_spare(void)
{
    if (!earlier.count)
        list_children(&earlier);
}

/* Our children but the servers, those that we had before, and helpers of our own, which are in our process group.
 * Returns whether there are any. */
static bool find(const struct pct_launch *launch, struct pct_pids *all)
{
    size_t count = 0;
    all->count = 0;
    list_children(all);
    for (size_t i = 0; i < all->count; i++)
        if (!is_server(launch, all->pid[i]) && !is_earlier(all->pid[i]) && getpgid(all->pid[i]) != getpgrp())
            all->pid[count++] = all->pid[i];
    all->count = count;
    return count;
}

/* Whether this one can still make a child. */
static bool is_alive(pid_t pid)
{
    pid_t parent;
    char state = pct_process_state(pid, &parent);
    return state && !strchr("TtZX", state);
}

/* Stop all, and all that they have made, and so on. Returns whether all were stopped already: there are no others then,
 * as whoever could have made one stood still when its children were listed. */
static bool stop(struct pct_pids *all)
{
    bool stopped = true;
    for (size_t i = 0; i < all->count; i++) {
        if (is_alive(all->pid[i])) {
            kill(all->pid[i], SIGSTOP);
            stopped = false;
        }
        pct_pids_add_children(all, all->pid[i]);
    }
    return stopped;
}

void pct_launch_sweep(struct pct_launch *launch)
{
    struct pct_pids all = { .count = 0 };
    const bool idle = launch->running <= launch->postponed;
    double end = 0;
    if (launch->alone)
        return;
    /* With several workers, some run always goes on. */
    launch->crowded = !idle && find(launch, &all) && all.count > launch->running + FEW;
    while (idle && find(launch, &all)) {
        double now = pct_cli_now();
        if (end <= 0)
            end = now + SWEEP_SECONDS;
        if (now >= end) {
            pct_cli_say("process %d, which a run has left behind, cannot be ended; it goes on", all.pid[0]);
            break;
        }
        if (!stop(&all) && now < end - SWEEP_SECONDS / 2)
            continue;
        for (size_t i = 0; i < all.count; i++)
            kill(all.pid[i], SIGKILL);
        bool reaped = false;
        for (size_t i = 0; i < all.count; i++)
            reaped |= waitpid(all.pid[i], NULL, WNOHANG) > 0;
        if (!reaped)
            usleep(200);
    }
    free(all.pid);
}
