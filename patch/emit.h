/* The code of a trampoline: what runs in place of a patched instruction. Pure: bytes in, bytes out.
 *
 *     .quad RECORD
 *     lea -128(%rsp), %rsp       beyond the red zone; nothing here touches the flags
 *     push %rdx
 *     lea ADDRESS, %rdx          what the instruction will access; always nine bytes
 *     call LEAF
 *     pop %rdx
 *     lea 128(%rsp), %rsp
 *     the instruction itself
 *     jmp back
 *
 * Where a site ends with a call, this comes back to the program's own code, whose address is what others may look at:
 *
 *     pushq $LOW; movl $HIGH, 4(%rsp)    the address behind the site
 *     jmp where the call leads
 *
 * A *leaf* is a short routine near by (preload/patch/patch_leaf.h): it looks whether the place can matter to another
 * thread, and enters the slow half (preload/patch/patch_entry.c) only if so. It keeps all registers but rdx; the flags,
 * too, unless the plan says that nobody reads them. So a trampoline is short, and what most events execute stays in the
 * cache.
 *
 * Where a plain access does not depend on a register (a global variable), so does the mark of its location not: the
 * trampoline looks there itself, without a call. Instead of the push there is then, if nobody reads the flags, or else
 * without changing them,
 *
 *     push %rcx                           push %rcx
 *     mov %fs:MARK, %ecx                  push %rdx
 *     cmp LOCATION_MARK(%rip), %ecx       mov LOCATION_MARK(%rip), %edx
 *     je own                              mov %fs:UNMARK, %ecx         the thread's mark, negated
 *     pop %rcx                            lea (%rdx, %rcx), %ecx
 *     push %rdx                           pop %rdx
 *                                         jrcxz own
 *                                         pop %rcx
 *                                         push %rdx
 *
 * and behind the pop
 *
 *     jmp 1f
 *     own: pop %rcx
 *     1: */
#ifndef PCT_PATCH_EMIT_H
#define PCT_PATCH_EMIT_H

#include "plan.h"
#include <stdbool.h>
#include <stddef.h>

enum {
    PCT_JUMP_SIZE = 5,       /* jmp with a displacement of four bytes */
    PCT_SHORT_JUMP_SIZE = 2, /* of one byte */
    PCT_INT3 = 0xcc,         /* int3 */
    PCT_TRAMPOLINE_SIZE = 83 /* at most */
};

/* A site in the process. Its trampoline points at this. */
struct pct_patched {
    struct pct_plan_site site; /* its address is that in the process */
    uint64_t trampoline;       /* 0: the site was left alone */
};

enum { PCT_LEAF_SIZES = 5 }; /* accesses of 1, 2, 4, 8, 16 bytes */

/* What leaves are for. */
enum {
    PCT_LEAF_READ,
    PCT_LEAF_WRITE,
    PCT_LEAF_BOTH,    /* what reads and then writes */
    PCT_LEAF_ATOMIC,  /* what always changes something */
    PCT_LEAF_COMPARE, /* what compares with the accumulator */
    PCT_LEAF_KINDS
};

/* Where the leaves of a module's trampolines are. */
struct pct_leaves {
    uint64_t slow;                                     /* always enters the slow half */
    uint64_t quick[PCT_LEAF_KINDS][PCT_LEAF_SIZES][2]; /* by log2 of the size; [1] keeps the flags; 0: there is none */
    uint64_t exchange[16][PCT_LEAF_SIZES][2];          /* the same, by the register */
    uint64_t (*mark)(
        uint64_t address); /* where the mark of this location will always be, 0: not known; NULL: of none */
    int32_t own, unmark;   /* where the thread's own is, and what makes that 0, from the thread pointer */
};

/* A thread that was interrupted. */
struct pct_interrupted {
    uint64_t pc, sp, rax, rcx, rdx, flags;
};

/* Write the trampoline of this site, whose instruction is at `code`, to out[PCT_TRAMPOLINE_SIZE]; it will be at address
 * `at`. Returns its size, and in *start where its code begins; 0 if that is out of reach of what the instruction refers
 * to, of the leaves or of the code after it. */
size_t pct_emit_trampoline(uint8_t *out, uint64_t at, const struct pct_patched *patched, const uint8_t *code,
                           const struct pct_leaves *leaves, uint64_t *start);

/* Write a jmp from address `at` to address `to`. False: out of reach. */
bool pct_emit_jump(uint8_t out[PCT_JUMP_SIZE], uint64_t at, uint64_t to);

/* The record behind the return address of a leaf. */
const struct pct_patched *pct_emit_record(uint64_t return_address);

/* A thread was interrupted at pc, in what may be a trampoline of one of these `count` sites: the record of that, NULL
 * if it is none. `from` bounds the memory that may be looked at, from below. */
const struct pct_patched *pct_emit_find(uint64_t pc, uint64_t from, const struct pct_patched *patched, uint64_t count);

/* The thread stands in this trampoline: change *at to where it would stand without. The instruction has then been
 * executed or not, never half. */
void pct_emit_unwind(const struct pct_patched *patched, struct pct_interrupted *at);

#endif
