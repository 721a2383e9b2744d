/* A library for the pct command itself: a process that was stopped goes on, and ends, just before somebody asks for its
 * state, so that the answer is no longer there. That is what happens by chance when a target is stopped and
 * continued. */
#include <dlfcn.h>
#include <signal.h>
#include <sys/wait.h>

int waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
    int (*real)(idtype_t, id_t, siginfo_t *, int) =
        (int (*)(idtype_t, id_t, siginfo_t *, int))dlsym(RTLD_NEXT, "waitid");
    if (type == P_PID && (options & WSTOPPED) && !(options & WNOWAIT)) {
        siginfo_t ended;
        kill((pid_t)id, SIGCONT);
        real(P_PID, id, &ended, WEXITED | WNOWAIT);
    }
    return real(type, id, info, options);
}
