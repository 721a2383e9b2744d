/* A program that gives up its rights and becomes another one (setpriv, a daemon's start script) shall stay recorded:
 * the trace of a run belongs to the user of the `pct` that made it, and the next program could not open it. So it is
 * given to the new user beforehand, as long as there is the right to. Only a file that `pct` has made for one run: any
 * other is its owner's.
 *
 * May be called by any thread at any time; touches nothing of the scheduler's. */
#include <common/exploration.h>
#include <preload/core/real.h>
#include <preload/core/shim.h>
#include <preload/core/sys.h>
#include <preload/memory/channel.h>

/* From now on the effective user is `user` (-1: as before). Returns the one to give the file back to, or -1. Asks
 * nothing of the kernel once there is a filter, which may kill for it. */
static uid_t give(uid_t user)
{
    if (user == (uid_t)-1 || !pct_shim.launcher || !pct_shim.mapped || pct_shim.confined)
        return (uid_t)-1;
    uid_t before = (uid_t)PCT_SYS0(SYS_geteuid);
    if (user == before || PCT_SYS3(SYS_lchown, pct_shim.trace_path, user, -1))
        return (uid_t)-1;
    return before;
}

#define GIVEN_TO(user, call)                                                                                           \
    ({                                                                                                                 \
        uid_t before_ = give(user);                                                                                    \
        pct_explored_hidden(PCT_KEY_KERNEL, false);                                                                    \
        int failed_ = (call), error_ = errno;                                                                          \
        if (failed_ && before_ != (uid_t)-1)                                                                           \
            PCT_SYS3(SYS_lchown, pct_shim.trace_path, before_, -1);                                                    \
        errno = error_;                                                                                                \
        failed_;                                                                                                       \
    })

PCT_EXPORT int setuid(uid_t user)
{
    return GIVEN_TO(user, REAL(setuid)(user));
}

PCT_EXPORT int seteuid(uid_t user)
{
    return GIVEN_TO(user, REAL(seteuid)(user));
}

PCT_EXPORT int setreuid(uid_t real, uid_t user)
{
    return GIVEN_TO(user, REAL(setreuid)(real, user));
}

PCT_EXPORT int setresuid(uid_t real, uid_t user, uid_t saved)
{
    return GIVEN_TO(user, REAL(setresuid)(real, user, saved));
}
