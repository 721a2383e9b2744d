/* Whether this machine has watchpoints: see watch.h. */
#include "watch.h"
#include <cli/base/cli.h>
#include <common/watchpoint.h>
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Before, the kernel killed for a trap while SIGTRAP is blocked, as it is while libc makes a thread. */
enum { LEAST_MAJOR = 6 };

static volatile sig_atomic_t trapped;

static void note(int signal)
{
    (void)signal;
    trapped = 1;
}

/* Touch a variable that is watched as the shim does it (preload/memory/watch.c). Returns 0 if that was noticed, or an
 * errno. */
static int try_one(void)
{
    static volatile int variable;
    struct perf_event_attr attr = PCT_WATCHPOINT((uintptr_t)&variable, sizeof variable, 0);
    struct sigaction action = { .sa_handler = note }, before;
    sigset_t trap, mask;
    sigemptyset(&trap);
    sigaddset(&trap, SIGTRAP);
    if (sigaction(SIGTRAP, &action, &before))
        return errno;
    sigprocmask(SIG_UNBLOCK, &trap, &mask);
    long event = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    int error = event < 0 ? errno : 0;
    trapped = 0;
    variable++;
    if (event >= 0)
        close((int)event);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    sigaction(SIGTRAP, &before, NULL);
    return error ? error : trapped ? 0 : EOPNOTSUPP;
}

bool pct_watch_try(struct pct_watch_refusal *refusal)
{
    struct utsname system;
    bool old = !uname(&system) && atoi(system.release) < LEAST_MAJOR;
    int error = old ? ENOSYS : try_one();
    const char *why, *way = "";
    switch (error) {
    case 0:
        return true;
    case EPERM:
    case EACCES:
        why = "the kernel refuses them here (perf_event_open)";
        way = "as root, `sysctl kernel.perf_event_paranoid=2`, and in a container allow perf_event_open in its seccomp "
              "profile";
        break;
    case ENOSYS:
    case EINVAL:
    case E2BIG:
        why = "they take Linux 6.0 or later";
        break;
    case ENOSPC:
        why = "something else uses them all";
        way = "end what does (a debugger, perf)";
        break;
    case EOPNOTSUPP:
        why = "the processor, or the virtual machine, has none";
        break;
    default:
        snprintf(refusal->why, sizeof refusal->why, "perf_event_open: %s", strerror(error));
        refusal->way = way;
        return false;
    }
    snprintf(refusal->why, sizeof refusal->why, "%s", why);
    refusal->way = way;
    return false;
}

int pct_watch_check(const char *watch)
{
    struct pct_watch_refusal refusal;
    if (pct_watch_try(&refusal))
        return 0;
    return pct_cli_usage(
        "--watch: there are no watchpoints: %s; %s%spatch the program instead: --memory=globals --focus=%.*s",
        refusal.why, refusal.way, *refusal.way ? "; or " : "", (int)strcspn(watch, "+:"), watch);
}
