/* Futexes, as syscall() has them (syscall.c): a[0] to a[5] are its arguments behind the number. */
#ifndef PCT_PRELOAD_SYNC_FUTEX_H
#define PCT_PRELOAD_SYNC_FUTEX_H

#include <preload/core/real.h>
#include <preload/core/shim.h>
#include <sched/log.h>

/* The real system call. Returns as syscall() does. */
static inline long pct_by_number(long number, const long a[6])
{
    return REAL(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* What a futex call finds or writes in a word, beside what its record says. */
static inline void pct_futex_note(enum pct_op op, const uint32_t *word)
{
    pct_log_memory(&pct_S, op, (uintptr_t)word, sizeof *word);
}

/* SYS_futex. The caller's turn. Returns as syscall() does, with errno. */
long pct_futex(struct pct_shim_thread *self, const long a[6]);

/* FUTEX_LOCK_PI and its like, until this deadline of virtual time. Likewise. */
long pct_futex_lock_pi(struct pct_shim_thread *self, uint32_t *word, int op, uint64_t deadline);
/* FUTEX_TRYLOCK_PI (record: PCT_OP_FUTEX_WAIT) and FUTEX_UNLOCK_PI (PCT_OP_FUTEX_WAKE). Likewise. */
long pct_futex_pi(struct pct_shim_thread *self, enum pct_op record, const long a[6]);

/* SYS_futex_waitv(words, count, flags, timeout, clock): until one of the words is woken, whose index it returns.
 * Likewise. */
long pct_futex_waitv(struct pct_shim_thread *self, const long a[6]);

/* The calls of Linux 6.7, whose numbers older headers do not have. */
enum { PCT_FUTEX2_WAKE = 454, PCT_FUTEX2_WAIT, PCT_FUTEX2_REQUEUE };

/* Such a call as SYS_futex has it, in `as`. False: it has not, or what is wrong with it is for the kernel to say. */
bool pct_futex_translate(long number, const long a[6], long as[6]);

/* A thread without the baton is about to make SYS_futex: if that wakes, then those that wait here, too. */
void pct_futex_tell(const long a[6]);

#endif
