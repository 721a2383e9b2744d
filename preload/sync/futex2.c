/* The futex calls of Linux 6.7 (futex_wake, futex_wait, futex_requeue), as calls of SYS_futex: see futex.h. */
#include "futex.h"
#include <preload/core/kernel.h>
#include <preload/core/sys.h>
#include <preload/core/user_memory.h>
#include <linux/futex.h>
#include <string.h>
#include <time.h>

/* A private or shared word of 32 bits. */
static bool is_plain(unsigned flags)
{
    return (flags & ~(unsigned)FUTEX_PRIVATE_FLAG) == FUTEX_32;
}

static bool translate_requeue(const long a[6], long as[6])
{
    struct futex_waitv words[2];
    if ((unsigned)a[1] || (int)a[2] < 0 || (int)a[3] < 0 || !pct_user_copy_in(words, (void *)a[0], sizeof words) ||
        !is_plain(words[0].flags) || words[0].flags != words[1].flags || words[0].__reserved || words[1].__reserved ||
        words[0].val > UINT32_MAX || words[1].val > UINT32_MAX || words[1].uaddr % 4 ||
        !pct_user_readable((void *)(uintptr_t)words[1].uaddr, 4))
        return false;
    const long call[] = { (long)words[0].uaddr,
                          FUTEX_CMP_REQUEUE | (words[0].flags & FUTEX_PRIVATE_FLAG),
                          (int)a[2],
                          (int)a[3],
                          (long)words[1].uaddr,
                          (long)words[0].val };
    memcpy(as, call, sizeof call);
    /* Without flags, the kernel has this call if it knows that these are none. */
    return PCT_SYS4(PCT_FUTEX2_REQUEUE, NULL, -1, 0, 0) != -ENOSYS;
}

bool pct_futex_translate(long number, const long a[6], long as[6])
{
    if (number == PCT_FUTEX2_REQUEUE)
        return translate_requeue(a, as);
    const bool waits = number == PCT_FUTEX2_WAIT;
    const unsigned flags = (unsigned)a[3];
    const long bits = waits ? a[2] : a[1];
    if (!is_plain(flags) || (waits && ((uint64_t)a[1] > UINT32_MAX || (a[4] && (unsigned)a[5] > CLOCK_MONOTONIC))))
        return false;
    /* The kernel says whether it has these calls, and what is wrong with the word and the bits: to wake nobody does
     * nothing. */
    if (PCT_SYS4(PCT_FUTEX2_WAKE, a[0], bits, 0, flags) || (!waits && !(int)a[2]))
        return false;
    int op = (waits ? FUTEX_WAIT_BITSET : FUTEX_WAKE_BITSET) | (int)(flags & FUTEX_PRIVATE_FLAG);
    op |= waits && a[4] && (clockid_t)a[5] == CLOCK_REALTIME ? FUTEX_CLOCK_REALTIME : 0;
    /* Fewer than one are one. */
    const long call[] = { a[0], op, waits ? a[1] : (int)a[2] > 1 ? a[2] : 1, waits ? a[4] : 0, 0, bits };
    memcpy(as, call, sizeof call);
    return true;
}
