/* What a sandbox leaves the shim to ask: see seccomp.h. Where a filter keeps the kernel from saying whether a call
 * would block, the call is made without the baton (PASS), and is no matter of the schedule. */
#include "seccomp.h"
#include "shim.h"
#include "sys.h"
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/prctl.h>
#include <sys/wait.h>

static enum { ANSWERS, UNSURE, REFUSES } about[PCT_QUESTIONS];

/* Not at once: a filter may kill for the question, and not every program does what it is asked for. */
void pct_seccomp_entered(void)
{
    pct_shim.confined = true;
    for (int i = 0; i < PCT_QUESTIONS; i++)
        about[i] = UNSURE;
}

static bool refused(enum pct_question question)
{
    if (question == PCT_QUESTION_CHILD)
        return pct_refused(PCT_SYS6(SYS_waitid, P_ALL, 0, NULL, WEXITED | WNOHANG | WNOWAIT, NULL, 0));
    return pct_refused(PCT_SYS3(SYS_poll, NULL, 0, 0)) || pct_refused(PCT_SYS2(SYS_fcntl, -1, F_GETFL));
}

bool pct_seccomp_refuses(enum pct_question question)
{
    if (PCT_UNLIKELY(about[question] == UNSURE))
        about[question] = refused(question) ? REFUSES : ANSWERS;
    return about[question] == REFUSES;
}

/* Whether a filter of system calls was there when the program began: not one of its own. */
static bool is_filtered(void)
{
    static const char mode[] = "Seccomp:\t";
    static char text[4096]; /* not on the stack of a handler that forks */
    long fd = PCT_SYS3(SYS_open, "/proc/self/status", O_RDONLY | O_CLOEXEC, 0);
    long got = fd < 0 ? 0 : PCT_SYS3(SYS_read, fd, text, sizeof text - 1);
    if (fd >= 0)
        PCT_SYS1(SYS_close, fd);
    text[got > 0 ? got : 0] = 0;
    for (const char *at = text; *at; at++)
        if (!strncmp(at, mode, sizeof mode - 1))
            return at[sizeof mode - 1] == '2';
    return false;
}

bool pct_seccomp_may_share(void)
{
    int status = 0;
    if (pct_shim.confined)
        return false;
    if (!is_filtered())
        return true;
    /* It may kill for the question, so that a child asks. Nobody else hears of it: its end has no signal, and a
     * debugger does not get it. */
    long pid = PCT_SYS6(SYS_clone, CLONE_UNTRACED, 0, 0, 0, 0, 0);
    if (!pid) {
        PCT_SYS6(SYS_prctl, PR_SET_DUMPABLE, 0, 0, 0, 0, 0);
        PCT_SYS3(SYS_shmget, IPC_PRIVATE, 0, 0);
        PCT_SYS3(SYS_shmat, -1, NULL, 0);
        PCT_SYS1(SYS_exit_group, 0);
    }
    return pid > 0 && PCT_SYS4(SYS_wait4, pid, &status, __WALL, NULL) == pid && !status;
}
