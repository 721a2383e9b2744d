/* The code of a trampoline: what runs in place of a patched instruction. Pure: bytes in, bytes out.
 *
 *     lea -128(%rsp), %rsp       beyond the red zone; neither this nor anything else here touches the flags
 *     push %rcx
 *     mov %fs:BUDGET, %rcx
 *     jrcxz 2f
 *     lea -1(%rcx), %rcx
 *     mov %rcx, %fs:BUDGET
 *  1: pop %rcx
 *     lea 128(%rsp), %rsp
 *     the instruction itself
 *     jmp back
 *  2: call *ENTRY                the slow half (preload/patch_entry.c): it finds the record behind its return address
 *     jmp 1b
 *     .quad ENTRY, RECORD
 *
 * BUDGET is a 64-bit counter in the thread's own storage: how many events the thread may pass without calling ENTRY. */
#ifndef PCT_PATCH_EMIT_H
#define PCT_PATCH_EMIT_H

#include "plan.h"
#include <stdbool.h>
#include <stddef.h>

enum {
    PCT_JUMP_SIZE = 5,       /* jmp with a displacement of four bytes */
    PCT_SHORT_JUMP_SIZE = 2, /* of one byte */
    PCT_TRAMPOLINE_SIZE = 83 /* at most */
};

/* A site in the process. Its trampoline points at this. */
struct pct_patched {
    struct pct_plan_site site; /* its address is that in the process */
    uint64_t trampoline;       /* 0: the site was left alone */
};

/* What all trampolines of a process share. */
struct pct_trampolines {
    uint64_t entry;
    int32_t budget; /* offset of the counter from the thread pointer */
};

/* Write the trampoline of this site, whose instruction is at `code`, to out[PCT_TRAMPOLINE_SIZE]; it will run at address
 * `at`. Returns its size; 0 if that is out of reach of what the instruction refers to, or of the code after it. */
size_t pct_emit_trampoline(uint8_t *out, uint64_t at, const struct pct_patched *patched, const uint8_t *code,
                           const struct pct_trampolines *shared);

/* Write a jmp from address `at` to address `to`. False: out of reach. */
bool pct_emit_jump(uint8_t out[PCT_JUMP_SIZE], uint64_t at, uint64_t to);

/* The record behind a return address of the slow half's. */
const struct pct_patched *pct_emit_record(uint64_t return_address);

/* A thread was interrupted at pc, in what may be a trampoline that can be read: the record of that trampoline, NULL if
 * it is none. `from` bounds the memory that may be looked at, from below. */
const struct pct_patched *pct_emit_find(uint64_t pc, uint64_t from);

/* Where the same thread would stand without the trampoline: the pc; *sp and *rcx change from what they are at `pc` to what
 * they would be. The instruction has then been executed or not, never half. */
uint64_t pct_emit_unwind(const struct pct_patched *patched, uint64_t pc, uint64_t *sp, uint64_t *rcx);

#endif
