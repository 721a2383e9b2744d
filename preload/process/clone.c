/* clone, by libc's function and by syscall(). What it makes is not under control, but counted: a thread is one that pct
 * has not seen start; a process, also one that shares memory, is a child. A call in the program's own code (an
 * instruction) is seen by nobody: thread/foreign_threads.c. */
#include "clone.h"
#include <preload/core/kernel.h>
#include <preload/core/pass.h>
#include <preload/core/real.h>
#include <preload/core/shim.h>
#include <preload/core/sys.h>
#include <preload/core/user_memory.h>
#include <preload/io/io.h>
#include <preload/time/family.h>
#include <sched.h>
#include <stdarg.h>

/* Before the call. Returns the child's slot in the family, 0: none. */
static uint32_t expect(uint64_t flags)
{
    struct pct_shim_thread *self = pct_enter();
    if (flags & CLONE_THREAD) {
        pct_uncontrolled(PCT_UNCONTROLLED_FOREIGN);
        return 0;
    }
    pct_fd_inherit_all();
    pct_uncontrolled(PCT_UNCONTROLLED_CHILD);
    return self ? pct_family_expect() : 0;
}

/* libc takes what it needs of the last three, by the flags; the others are whatever stands where they would. */
PCT_EXPORT int clone(int (*run)(void *), void *stack, int flags, void *argument, ...)
{
    va_list rest;
    va_start(rest, argument);
    pid_t *parent = va_arg(rest, pid_t *);
    void *tls = va_arg(rest, void *);
    pid_t *child = va_arg(rest, pid_t *);
    va_end(rest);
    uint32_t slot = expect((uint32_t)flags);
    int made = REAL(clone)(run, stack, flags, argument, parent, tls, child);
    if (slot)
        pct_family_born(slot, made);
    return made;
}

uint32_t pct_clone_expect(long number, const long arguments[6])
{
    uint64_t flags = number == SYS_clone ? (uint64_t)arguments[0] : 0;
    if (number == SYS_clone3 && !pct_user_copy_in(&flags, (const void *)arguments[0], sizeof flags))
        flags = 0;
    return expect(flags);
}
