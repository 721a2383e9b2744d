/* Signals that tell the command to end, and who has sent them: see launch.h. */
#include <cli/base/cli.h>
#include "descendants.h"
#include "launch.h"
#include <string.h>
#include <unistd.h>

/* nohup ignores it for us; one that is blocked would come all the same. */
static bool hears_hangups(void)
{
    static int answer = -1;
    struct sigaction action;
    if (answer < 0)
        answer = sigaction(SIGHUP, NULL, &action) || action.sa_handler != SIG_IGN;
    return answer;
}

void pct_signals_of_ours(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGCHLD);
    sigaddset(set, SIGIO); /* a host has said something */
    sigaddset(set, SIGINT);
    sigaddset(set, SIGTERM);
    if (hears_hangups())
        sigaddset(set, SIGHUP);
}

static sigset_t before; /* the mask before they were blocked first, */
static bool blocked;    /* which they were */

void pct_signals_block(sigset_t *old)
{
    sigset_t ours;
    pct_signals_of_ours(&ours);
    sigprocmask(SIG_BLOCK, &ours, old);
    if (!blocked)
        before = *old;
    blocked = true;
}

void pct_signals_let_in(void)
{
    if (blocked)
        sigprocmask(SIG_SETMASK, &before, NULL);
}

bool pct_signals_pending(void)
{
    sigset_t pending;
    return !sigpending(&pending) &&
           (sigismember(&pending, SIGINT) || sigismember(&pending, SIGTERM) || sigismember(&pending, SIGHUP));
}

/* Whether this process is a child of ours; that of a run that ends just now, too. */
static bool is_child(pid_t pid)
{
    pid_t parent;
    return pct_process_state(pid, &parent) && parent == getpid();
}

/* Whether a run has sent this signal: a child of ours, one of the group of a child, or a run that has ended since. */
static bool is_from_run(const struct pct_launch *launch, const siginfo_t *info)
{
    pid_t pid = info->si_code <= 0 ? info->si_pid : 0, group = pid > 0 ? getpgid(pid) : 0;
    for (size_t i = 0; i < sizeof launch->past / sizeof *launch->past && pid > 0; i++)
        if (launch->past[i] == pid || launch->past[i] == group)
            return true;
    return group > 0 && group != getpgrp() && (is_child(pid) || is_child(group));
}

int pct_signals_heed(struct pct_launch *launch, const siginfo_t *info)
{
    if (info->si_signo <= 0 || info->si_signo == SIGCHLD || info->si_signo == SIGIO)
        return 0;
    if (!is_from_run(launch, info))
        return info->si_signo;
    if (!launch->spared++)
        pct_cli_say("a run has sent signal %d (%s) to pct, which goes on", info->si_signo, sigdescr_np(info->si_signo));
    return 0;
}

void pct_signals_drain(struct pct_launch *launch)
{
    sigset_t ours, kept;
    siginfo_t info = { 0 };
    const struct timespec now = { 0 };
    pct_signals_of_ours(&ours);
    sigemptyset(&kept);
    while (sigtimedwait(&ours, &info, &now) > 0)
        if (pct_signals_heed(launch, &info))
            sigaddset(&kept, info.si_signo);
    for (int signal = 1; signal < NSIG; signal++)
        if (sigismember(&kept, signal) > 0)
            kill(getpid(), signal);
}
