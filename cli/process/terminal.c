/* The terminal: see terminal.h. */
#include "terminal.h"
#include "launch.h"
#include <signal.h>
#include <unistd.h>

void pct_terminal_take(const struct pct_launch *launch)
{
    if (launch->terminal && !launch->behind_shell)
        tcsetpgrp(STDIN_FILENO, getpgrp());
}

void pct_terminal_follow_stop(struct pct_launch *launch, const struct pct_process *process, int signal)
{
    if (!launch->terminal)
        return;
    const bool asks = signal == SIGTTIN || signal == SIGTTOU;
    pct_terminal_take(launch);
    if (!launch->behind_shell || !asks || tcgetpgrp(STDIN_FILENO) != getpgrp())
        raise(SIGSTOP);
    launch->behind_shell = tcgetpgrp(STDIN_FILENO) != getpgrp();
    if (!launch->behind_shell)
        tcsetpgrp(STDIN_FILENO, process->pid);
    kill(-process->pid, SIGCONT);
}
