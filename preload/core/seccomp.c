/* What a program forbids itself. A seccomp filter may keep the kernel from answering what the shim asks before a call
 * that may block: whether it would. Then such calls are made without the baton (PASS), and are no matter of the
 * schedule. A limit on memory counts the address space of the trace, too: most of it is given back. */
#include "seccomp.h"
#include "real.h"
#include "start_files.h"
#include "sys.h"
#include "user_memory.h"
#include <preload/io/io.h>
#include <preload/signals/signals.h>
#include <preload/watchdog/watchdog.h>
#include <sched/record.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

static enum { ANSWERS, UNSURE, REFUSES } about[PCT_QUESTIONS];

/* Not at once: a filter may kill for the question, and not every program does what it is asked for. */
void pct_seccomp_entered(void)
{
    pct_shim.confined = true;
    for (int i = 0; i < PCT_QUESTIONS; i++)
        about[i] = UNSURE;
}

/* For the others this thread ends here, but goes on beside them, and can tell nobody what it does. They must not take
 * its pipes for ones that only they write to. */
static void leave_for_good(struct pct_shim_thread *self)
{
    pct_here(self, PCT_OP_THREAD_FINISH);
    pct_uncontrolled(PCT_UNCONTROLLED_STRICT);
    pct_sched_meet_foreign(&pct_S, PCT_FOREIGN_THREADS | PCT_FOREIGN_SILENT);
    pct_fd_share_all();
    uint64_t mask = pct_signal_retire(self);
    self->beside = true;
    __atomic_store_n(&self->lingers, 1, __ATOMIC_SEQ_CST);
    pct_record(&pct_S, &self->core, PCT_OP_THREAD_FINISH, 0, self->core.id);
    pct_sched_finish(&pct_S, &self->core);
    pct_signal_mask(SIG_SETMASK, mask);
}

/* Only read, write and the end of the thread will be left: all that the scheduler needs is gone. If there is but this
 * thread, it needs none: the trace ends here. */
bool pct_seccomp_strict(void)
{
    struct pct_shim_thread *self = pct_enter();
    if (PCT_SYS1(SYS_prctl, PR_GET_SECCOMP)) /* the kernel will refuse */
        return false;
    if (self && !pct_sched_alone(&pct_S)) {
        leave_for_good(self);
        return true;
    }
    if (!self)
        return true;
    self->beside = pct_shim.confined = true;
    pct_shim.ended = true;
    pct_sched_shut(&pct_S);
    return true;
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
    char text[4096];
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
    /* It may kill for the question, so that a child asks. Nobody else hears of its end: it has no signal. */
    long pid = PCT_SYS6(SYS_clone, 0, 0, 0, 0, 0, 0);
    if (!pid) {
        PCT_SYS6(SYS_prctl, PR_SET_DUMPABLE, 0, 0, 0, 0, 0);
        PCT_SYS3(SYS_shmget, IPC_PRIVATE, 0, 0);
        PCT_SYS3(SYS_shmat, -1, NULL, 0);
        PCT_SYS1(SYS_exit_group, 0);
    }
    return pid > 0 && PCT_SYS4(SYS_wait4, pid, &status, __WALL, NULL) == pid && !status;
}

/* As libc's: it has four arguments behind the first, whatever of them was given. */
PCT_EXPORT int prctl(int option, ...)
{
    va_list arguments;
    unsigned long a[4];
    va_start(arguments, option);
    for (int i = 0; i < 4; i++)
        a[i] = va_arg(arguments, unsigned long);
    va_end(arguments);
    bool strict = option == PR_SET_SECCOMP && a[0] == SECCOMP_MODE_STRICT && pct_seccomp_strict();
    if (option == PR_SET_SECCOMP && !strict)
        pct_watchdog_have();
    if (option == PR_SET_NAME)
        pct_shim.named = true;
    int result = REAL(prctl)(option, a[0], a[1], a[2], a[3]);
    if (option == PR_SET_SECCOMP && !strict && !result)
        pct_seccomp_entered();
    return result;
}

/* At most an eighth of what the program leaves itself is the trace's. What is recorded stays. */
static void give_back(pid_t pid, enum __rlimit_resource resource, const struct rlimit *limit)
{
    struct rlimit wanted;
    if (resource != RLIMIT_AS || !limit || (pid && pid != pct_shim.pid) ||
        !pct_user_copy_in(&wanted, limit, sizeof wanted) || wanted.rlim_cur == RLIM_INFINITY)
        return;
    /* Nobody else may be recording meanwhile. */
    bool alone = pct_enter() || (pct_shim.mode == PCT_MODE_FREE && pct_S.threads == 1);
    size_t most = (wanted.rlim_cur / 8) & ~(size_t)4095, least = pct_record_held(&pct_S);
    most = most > least ? most : (least + 4095) & ~(size_t)4095;
    if (!alone || pct_S.ring || most >= pct_shim.mapped)
        return;
    if (PCT_SYS2(SYS_munmap, (char *)pct_shim.header + most, pct_shim.mapped - most))
        return;
    pct_shim.space -= pct_shim.mapped - most;
    pct_shim.mapped = most;
    pct_record_cut(&pct_S, (char *)pct_shim.header + most);
}

PCT_EXPORT int prlimit(pid_t pid, enum __rlimit_resource resource, const struct rlimit *new, struct rlimit *old)
{
    give_back(pid, resource, new);
    return REAL(prlimit)(pid, resource, new, old);
}

/* GLIBC: the same function. */
PCT_EXPORT int prlimit64(pid_t pid, enum __rlimit_resource resource, const struct rlimit64 *new, struct rlimit64 *old)
{
    return prlimit(pid, resource, (const struct rlimit *)new, (struct rlimit *)old);
}

PCT_EXPORT int setrlimit(enum __rlimit_resource resource, const struct rlimit *limit)
{
    give_back(0, resource, limit);
    return REAL(setrlimit)(resource, limit);
}

PCT_EXPORT int setrlimit64(enum __rlimit_resource resource, const struct rlimit64 *limit)
{
    return setrlimit(resource, (const struct rlimit *)limit);
}

/* Whether what the program has mapped itself may be locked. */
static bool may_lock(void)
{
    struct rlimit limit;
    uint64_t used = pct_start_space_used();
    return used && !PCT_SYS4(SYS_prlimit64, 0, RLIMIT_MEMLOCK, NULL, &limit) && used - pct_shim.space <= limit.rlim_cur;
}

/* All that is mapped is meant, and all that will be. The shim's mappings are mostly address space: a gigabyte for the
 * trace, which would be memory and blocks of a file. Where the process may not lock so much, but natively could lock
 * its own, it is told that it has: nothing else tells. Linux before 4.4 knows no MCL_ONFAULT. */
PCT_EXPORT int mlockall(int flags)
{
    int error = errno;
    if (!(flags & (MCL_CURRENT | MCL_FUTURE)) || flags & ~(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT))
        return REAL(mlockall)(flags);
    int failed = REAL(mlockall)(flags | MCL_ONFAULT);
    if (failed && errno == EINVAL)
        failed = REAL(mlockall)(flags);
    if (!failed || (errno != ENOMEM && errno != EPERM) || !may_lock())
        return failed;
    errno = error;
    return 0;
}
