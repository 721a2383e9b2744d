/* Files that a run of a host opens for reading: see host.h. The filter of system calls cannot tell what a path names,
 * so it traps, and the handler of that looks. What is read leaves nothing; the descriptor is closed when the run is
 * over. */
#include "host.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <ucontext.h>

/* In there, each process finds itself: a host has other mappings and descriptors than another copy. */
enum { PROC = 0x9fa0 };

/* Whether opening and reading what this descriptor (O_PATH) stands for changes nothing, and finds what any run would.
 */
static bool is_harmless(long fd)
{
    struct stat status;
    struct statfs system;
    if (pct_host_sys4(SYS_fstat, fd, (long)&status, 0, 0) || pct_host_sys4(SYS_fstatfs, fd, (long)&system, 0, 0))
        return false;
    if (S_ISCHR(status.st_mode)) /* /dev/null, /dev/zero */
        return status.st_rdev == makedev(1, 3) || status.st_rdev == makedev(1, 5);
    return (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)) && system.f_type != PROC;
}

bool pct_host_open(int call, void *context)
{
    static const long harmless = O_CLOEXEC | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | 0100000 /* O_LARGEFILE */;
    greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
    bool at = call == SYS_openat;
    if (!pct_host_may_open() || (!at && call != SYS_open))
        return false;
    long folder = at ? (int)regs[REG_RDI] : AT_FDCWD, path = at ? regs[REG_RSI] : regs[REG_RDI];
    long flags = (int)(at ? regs[REG_RDX] : regs[REG_RSI]);
    if (flags & ~harmless)
        return false;
    long fd = pct_host_sys4(SYS_openat, folder, path, O_PATH | O_CLOEXEC | (flags & O_NOFOLLOW), 0);
    if (fd >= 0) {
        bool may = is_harmless(fd);
        pct_host_sys4(SYS_close, fd, 0, 0, 0);
        if (!may)
            return false;
        fd = pct_host_sys4(SYS_openat, folder, path, flags, 0);
    }
    regs[REG_RAX] = fd;
    return true;
}
