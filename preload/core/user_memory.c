/* The target's memory, where the kernel would read or write it: user_memory.h. */
#include "user_memory.h"
#include "host.h"
#include "host_threads.h"
#include "kernel.h"
#include "shim.h"
#include "sys.h"
#include <linux/futex.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>

enum { PAGE = 4096, WORD = 4, MASK = 8 };

/* Whether it stands on the page of this, a frame of the stack or something else that is there. */
static bool is_near(const void *at, size_t size, const void *there)
{
    uintptr_t page = (uintptr_t)there / PAGE;
    return (uintptr_t)at / PAGE == page && size <= PAGE - (uintptr_t)at % PAGE;
}

/* A word can be read if this does anything but fail. A sandbox that does not tell: then the program has to be right. */
static bool word_readable(uintptr_t word)
{
    return PCT_SYS6(SYS_futex, word, FUTEX_CMP_REQUEUE | FUTEX_PRIVATE_FLAG, 0, 0, word, 0) != -EFAULT;
}

bool pct_user_readable(const void *from, size_t size)
{
    uintptr_t at = (uintptr_t)from, end = at + size;
    if (!size || is_near(from, size, __builtin_frame_address(0)))
        return true;
    if (end < at || !word_readable(at & ~(uintptr_t)(WORD - 1)))
        return false;
    for (uintptr_t page = at / PAGE * PAGE + PAGE; page < end; page += PAGE)
        if (!word_readable(page))
            return false;
    return true;
}

bool pct_user_readable_beside(const void *from, size_t size, const void *readable)
{
    return is_near(from, size, readable) || pct_user_readable(from, size);
}

bool pct_user_copy_in(void *to, const void *from, size_t size)
{
    if (!pct_user_readable(from, size))
        return false;
    memcpy(to, from, size);
    return true;
}

/* The kernel writes something there: the signal mask of the thread, or one number of its state. */
static bool mask_writable(uintptr_t at)
{
    return pct_host_sys4(SYS_rt_sigprocmask, SIG_BLOCK, 0, (long)at, MASK) != -EFAULT;
}

static bool word_writable(uintptr_t at)
{
    /* A sandbox that kills need not let this pass. */
    return pct_shim.confined || PCT_SYS2(SYS_prctl, PR_GET_PDEATHSIG, at) != -EFAULT;
}

static bool writable(uintptr_t at, size_t size)
{
    uintptr_t end = at + size;
    if (!at) /* for the kernel, that would be nowhere to write to */
        return false;
    if (size < MASK)
        return word_writable(at);
    if (end < at || !mask_writable(at))
        return false;
    for (uintptr_t page = at / PAGE * PAGE + PAGE; page < end; page += PAGE)
        if (!mask_writable(page < end - MASK ? page : end - MASK))
            return false;
    return true;
}

bool pct_user_copy_out(void *to, const void *from, size_t size)
{
    if (!is_near(to, size, __builtin_frame_address(0)) && !writable((uintptr_t)to, size))
        return false;
    memcpy(to, from, size);
    return true;
}

long pct_user_copy_pieces(const struct iovec *to, const struct iovec *from, long pieces)
{
    /* Of contexts the kernel knows but the process. */
    const long self = pct_host_contexts ? pct_shim.pid : pct_any_tid();
    return pct_host_sys(SYS_process_vm_readv, self, (long)to, 1, (long)from, pieces, 0);
}
