/* Waiting for child processes. Children run outside the scheduler of this process, under schedulers of their own; so
 * waiting for one is a wait for the outside world. Whether it would wait is asked of the kernel with WNOWAIT: that
 * takes nothing away. */
#include <preload/core/real.h>
#include <preload/core/seccomp.h>
#include <preload/core/sys.h>
#include <preload/io/io.h>
#include <preload/thread/cancel.h>
#include <preload/time/family.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>

struct child {
    idtype_t type;
    id_t id;
    int options;
};

static bool ready(const struct pct_io *io)
{
    const struct child *child = io->arg;
    siginfo_t info = { 0 };
    long failed = PCT_SYS6(SYS_waitid, child->type, child->id, &info, child->options | WNOHANG | WNOWAIT, NULL, 0);
    return failed || info.si_pid;
}

static bool refused(void)
{
    return pct_seccomp_refuses(PCT_QUESTION_CHILD);
}

/* Pass the point of a wait for a child; returns 0 when the call would not wait, -1 with errno EINTR. */
static int begin(struct pct_shim_thread *self, const struct child *child, bool waits)
{
    const struct pct_io io = { .ready = ready, .arg = child, .certain = true };
    pct_cancel_point(self);
    if (!waits) {
        pct_here(self, PCT_OP_CHILD_WAIT);
        return 0;
    }
    if (pct_io_wait(self, PCT_OP_CHILD_WAIT, -1, &io, PCT_REACH_FAMILY, PCT_NEVER, true) == PCT_READY)
        return 0;
    pct_done(self, PCT_OP_CHILD_WAIT, PCT_ARG_ERROR, NULL);
    errno = EINTR;
    return -1;
}

/* Whether this is the descriptor of a process, and not to be waited for: the call returns EAGAIN instead. */
static bool is_nonblocking(idtype_t type, id_t id)
{
    if (type != P_PIDFD)
        return false;
    const long flags = PCT_SYS2(SYS_fcntl, id, F_GETFL);
    return flags >= 0 && flags & O_NONBLOCK;
}

/* found: whether there was a child to report. */
static void end(struct pct_shim_thread *self, bool failed, bool found)
{
    int error = errno;
    bool nothing = failed ? error == EAGAIN : !found;
    pct_io_done(self, PCT_OP_CHILD_WAIT, nothing ? PCT_ARG_BUSY : failed ? PCT_ARG_ERROR : 0, NULL);
    if (nothing)
        pct_sched_spin(&pct_S, &self->core);
    errno = error;
}

PCT_EXPORT pid_t wait4(pid_t pid, int *status, int options, struct rusage *usage)
{
    PCT_ENTER(self);
    if (!self || refused())
        return PASS(PCT_OP_CHILD_WAIT, PCT_CLASS_NONE, NULL, REAL(wait4)(pid, status, options, usage));
    if (options & ~(WNOHANG | WUNTRACED | WCONTINUED | __WNOTHREAD | __WCLONE | __WALL))
        return REAL(wait4)(pid, status, options, usage); /* EINVAL */
    const struct child child = { .type = pid == -1 ? P_ALL
                                         : pid > 0 ? P_PID
                                                   : P_PGID,
                                 .id = (id_t)(pid == -1 ? 0
                                              : pid < 0 ? -pid
                                                        : pid),
                                 .options = (options & ~WNOHANG) | WEXITED };
    if (begin(self, &child, !(options & WNOHANG)))
        return -1;
    int how = 0;
    pid_t found = REAL(wait4)(pid, status ? status : &how, options, usage);
    if (found > 0 && !WIFSTOPPED(status ? *status : how) && !WIFCONTINUED(status ? *status : how))
        pct_family_gone(found);
    end(self, found < 0, found);
    return found;
}

PCT_EXPORT pid_t waitpid(pid_t pid, int *status, int options)
{
    return wait4(pid, status, options, NULL);
}

PCT_EXPORT pid_t wait3(int *status, int options, struct rusage *usage)
{
    return wait4(-1, status, options, usage);
}

PCT_EXPORT pid_t wait(int *status)
{
    return wait4(-1, status, 0, NULL);
}

PCT_EXPORT int waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
    PCT_ENTER(self);
    if (!self || refused())
        return PASS(PCT_OP_CHILD_WAIT, PCT_CLASS_NONE, NULL, REAL(waitid)(type, id, info, options));
    const struct child child = { .type = type, .id = id, .options = options & ~WNOHANG };
    if (begin(self, &child, !(options & WNOHANG) && !is_nonblocking(type, id)))
        return -1;
    siginfo_t found = { 0 };
    int failed = REAL(waitid)(type, id, info ? info : &found, options);
    const siginfo_t *what = info ? info : &found;
    if (!failed && !(options & WNOWAIT) && what->si_code <= CLD_DUMPED)
        pct_family_gone(what->si_pid);
    end(self, failed, !failed && what->si_pid);
    return failed;
}
