/* The leaves of trampolines: see patch_leaf.h. */
#include "patch_leaf.h"
#include <preload/memory/memory.h>
#include "patch.h"
#include <sched/memory.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

/* The numbers in the assembly. */
_Static_assert(PCT_CHUNK_LOG == 22 && PCT_ADDRESS_LOG == 47, "an entry of the table, a cell of a chunk");
_Static_assert(PCT_LEAF_SIZES == 5 && PCT_LEAF_KINDS == 5, "the leaves below");
_Static_assert(PCT_RECORD_THREAD(UINT64_C(0x7fff) << 48) == 0x7fff && PCT_RECORD_OP(UINT64_C(0x7f) << 41) == 0x7f,
               "a record");
_Static_assert((int64_t)PCT_CELL_SHARED == INT64_MIN, "the sign of a cell");

/* What a thread that stands at an instruction of a leaf has saved: on the stack, from the top down; flags in rax as
 * LAHF and SETO have them. From the instruction at which this is noted on, up to the next note. */
enum state {
    NOTHING,
    RCX,
    RCX_RAX,
    RCX_RAX_AND_FLAGS,       /* these in rax */
    RCX_RAX_FLAGS,           /* these on the stack, too */
    RCX_RAX_AND_FLAGS_ADDED, /* as the former, but 127 was added to the overflow flag, to have it back */
};
struct note {
    uint16_t at; /* from the beginning of all */
    uint16_t state;
};

enum { EXCHANGE = PCT_LEAF_KINDS };

/* A leaf, by what it is for: PCT_LEAF_*, or EXCHANGE. */
struct leaf {
    uint8_t kind, size, keeps, value; /* value: of an exchange, the register */
    uint16_t start;
};

/* Places whose offset from the thread pointer is filled in: from the beginning of all, and what of struct
 * pct_memory_own it is. */
struct hole {
    uint16_t end, of;
};

_Static_assert(PCT_MEMORY_NS == 20, "pct_leaf_record has it as a number");

/* Never called: a function only so that the assembly gets its numbers from the compiler.
 *
 * rdx: the address, in a leaf; in pct_leaf_point that of the cell. \\mask: bits of an address that is not aligned,
 * which may be of one location more than \\cells. \\keep: the flags are kept. pct_leaf_point is pct_memory_pass()
 * (sched/memory.h) of an access that changes something: what it writes comes after all that it asks, and the record
 * counts with the last of it. It asks first what the cell and the end of the budget say, then whether the thread holds
 * the baton (pct_memory_own.points). */
static __attribute__((used, noinline)) void assembly(void)
{
    __asm__ volatile(
        ".macro pct_leaf_note state\n"
        "771: .pushsection .rodata.pct_leaf_notes, \"a\"\n"
        ".short 771b - pct_leaf_begin, \\state\n"
        ".popsection\n"
        ".endm\n"
        ".macro pct_leaf_note_before keep\n"
        ".if \\keep\n"
        "pct_leaf_note %c[and_flags]\n"
        ".else\n"
        "pct_leaf_note %c[rcx]\n"
        ".endif\n"
        ".endm\n"
        /* While rax is on the stack for a leaf's own purposes. */
        ".macro pct_leaf_note_within keep\n"
        ".if \\keep\n"
        "pct_leaf_note %c[flags]\n"
        ".else\n"
        "pct_leaf_note %c[rax]\n"
        ".endif\n"
        ".endm\n"
        ".macro pct_leaf_hole of\n"
        "772: .pushsection .rodata.pct_leaf_holes, \"a\"\n"
        ".short 772b - pct_leaf_begin, \\of\n"
        ".popsection\n"
        ".endm\n"

        ".macro pct_leaf_enter kind, size, keep, value=0\n"
        ".balign 16\n"
        "773: .pushsection .rodata.pct_leaf_all, \"a\"\n"
        ".byte \\kind, \\size, \\keep, \\value\n"
        ".short 773b - pct_leaf_begin\n"
        ".popsection\n"
        "pct_leaf_note %c[nothing]\n"
        "pushq %%rcx\n"
        "pct_leaf_note %c[rcx]\n"
        ".if \\keep\n"
        "pushq %%rax\n"
        "pct_leaf_note %c[rax]\n"
        "lahf\n"
        "seto %%al\n"
        "pct_leaf_note %c[and_flags]\n"
        ".endif\n"
        ".endm\n"

        /* Its rest: all is given back. */
        ".macro pct_leaf_leave keep\n"
        ".if \\keep\n"
        "pct_leaf_note %c[and_flags]\n"
        "addb $127, %%al\n"
        "pct_leaf_note %c[added]\n"
        "sahf\n"
        "pct_leaf_note %c[rax]\n"
        "popq %%rax\n"
        ".endif\n"
        "pct_leaf_note %c[rcx]\n"
        "popq %%rcx\n"
        "pct_leaf_note %c[nothing]\n"
        ".endm\n"

        /* rdx: the address of the cell. Otherwise to 9. */
        ".macro pct_leaf_cell\n"
        "movq %%rdx, %%rcx\n"
        "shrq $19, %%rcx\n"
        "andl $0x0ffffff8, %%ecx\n"
        "addq pct_leaf_table(%%rip), %%rcx\n"
        "movq (%%rcx), %%rcx\n"
        "andl $0x3ffff8, %%edx\n"
        "testq %%rcx, %%rcx\n"
        "jz 9f\n"
        "addq %%rcx, %%rdx\n"
        ".endm\n"

        ".macro pct_leaf_if_not_aligned mask, there\n"
        ".if \\mask\n"
        "testb $\\mask, %%dl\n"
        "jnz \\there\n"
        ".endif\n"
        ".endm\n"

        /* To \\other if not all of these cells are this thread's own. */
        ".macro pct_leaf_own cells, other\n"
        "movl %%fs:0x7fffffff, %%ecx\n"
        "pct_leaf_hole %c[mark]\n"
        "cmpl %%ecx, 4(%%rdx)\n"
        "jne \\other\n"
        ".if \\cells > 1\n"
        "cmpl %%ecx, 12(%%rdx)\n"
        "jne \\other\n"
        ".endif\n"
        ".if \\cells > 2\n"
        "cmpl %%ecx, 20(%%rdx)\n"
        "jne \\other\n"
        ".endif\n"
        ".endm\n"

        /* What begins as pct_leaf_look, of an access that is not aligned: the location behind must be this thread's
         * own, too, whether it is touched or not. */
        ".macro pct_leaf_unaligned mask, cells, keep\n"
        ".if \\mask\n"
        "pct_leaf_note_before \\keep\n"
        "5: pct_leaf_cell\n"
        "pct_leaf_own \\cells + 1, 9f\n"
        "pct_leaf_leave \\keep\n"
        "ret\n"
        ".endif\n"
        ".endm\n"

        /* On a point at which nobody is asked, up to where something is written. Otherwise to 8. rax: the scheduler;
         * rcx: the record; rdx: the thread. */
        ".macro pct_leaf_ask op, keep\n"
        "pushq %%rax\n"
        "pct_leaf_note_within \\keep\n"
        "movq pct_leaf_sched(%%rip), %%rax\n"
        "movq (%%rdx), %%rcx\n"
        "movq %c[record](%%rax), %%rdx\n"
        "testq %%rcx, %%rcx\n"
        "jns 8f\n"
        "andl $0x1ffffff, %%ecx\n"
        "jz 8f\n"
        "cmpq %c[stop](%%rax), %%rdx\n"
        "jae 8f\n"
        "movq %%fs:0x7fffffff, %%rdx\n"
        "pct_leaf_hole %c[points]\n"
        "testq %%rdx, %%rdx\n"
        "jz 8f\n"
        "cmpq %c[current](%%rax), %%rdx\n"
        "jne 8f\n"
        "cmpl $1, %c[live](%%rax)\n"
        "jbe 8f\n"
        "orq %c[stamp](%%rdx), %%rcx\n"
        "orq pct_leaf_\\op(%%rip), %%rcx\n"
        ".endm\n"

        /* The record, and back to the program. rax, rcx: as above. */
        ".macro pct_leaf_record keep, progress\n"
        "movq %c[record](%%rax), %%rdx\n"
        "movq %%rcx, (%%rdx)\n"
        "movq %c[step_ns](%%rax), %%rcx\n"
        "testq %%rcx, %%rcx\n"
        "jz 7f\n"
        "cmpb $0, %c[still](%%rax)\n"
        "jne 7f\n"
        "subq $20, %%rcx\n" /* PCT_MEMORY_NS: there may be 30 operands */
        "subq %%rcx, %c[base](%%rax)\n"
        "7:\n"
        ".if \\progress\n"
        "movq $0, %c[spin_run](%%rax)\n"
        ".endif\n"
        "addq $8, %%rdx\n"
        "movq %%rdx, %c[record](%%rax)\n"
        "popq %%rax\n"
        "pct_leaf_leave \\keep\n"
        "ret\n"
        "pct_leaf_note_within \\keep\n"
        "8: popq %%rax\n"
        ".endm\n"

        ".macro pct_leaf_point op, keep\n"
        "pct_leaf_ask \\op, \\keep\n"
        "movl $0, %c[repeats](%%rdx)\n"
        "pct_leaf_record \\keep, 1\n"
        ".endm\n"

        /* pct_memory_looked(), up to what it says of the steps before this one: whether the record is one of the last
         * few, which is at 1, or becomes the last of them. What may spin is asked about. */
        ".macro pct_leaf_recent\n"
        "cmpl $%c[spin] - 1, %c[repeats](%%rdx)\n"
        "jae 8f\n"
        ".irp at, 0, 8, 16, 24\n"
        "cmpq %%rcx, %c[recent] + \\at(%%rdx)\n"
        "je 1f\n"
        ".endr\n"
        "movl %c[next](%%rdx), %%eax\n"
        "andl $3, %%eax\n"
        "movq %%rcx, %c[recent](%%rdx,%%rax,8)\n"
        "incl %c[next](%%rdx)\n"
        "movl $0, %c[repeats](%%rdx)\n"
        ".endm\n"

        /* A point of an access that may have been a look, and has changed something. */
        ".macro pct_leaf_point_changes op, keep\n"
        "pct_leaf_ask \\op, \\keep\n"
        "pct_leaf_recent\n"
        "1: movl $0, %c[repeats](%%rdx)\n"
        "movq pct_leaf_sched(%%rip), %%rax\n"
        "pct_leaf_record \\keep, 1\n"
        ".endm\n"

        /* And of one that has changed nothing. A look like one of the last few counts if the step before it was one by
         * this thread at memory; of a step by another thread, the slow half knows more. */
        ".macro pct_leaf_point_looks op, keep\n"
        "pct_leaf_ask \\op, \\keep\n"
        "pct_leaf_recent\n"
        "jmp 2f\n"
        "1: movq %%rax, %%rdx\n"
        "movq %c[record](%%rdx), %%rax\n"
        "cmpq %c[block](%%rdx), %%rax\n"
        "jbe 8f\n"
        "movq -8(%%rax), %%rax\n"
        "movq %%rax, %%rdx\n"
        "xorq %%rcx, %%rdx\n"
        "shlq $1, %%rdx\n"
        "shrq $49, %%rdx\n"
        "jnz 8f\n"
        "movq %%fs:0x7fffffff, %%rdx\n"
        "pct_leaf_hole %c[points]\n"
        "shrq $41, %%rax\n"
        "andl $0x7f, %%eax\n"
        "subl $%c[first], %%eax\n"
        "cmpl $%c[last] - %c[first], %%eax\n"
        "jbe 3f\n"
        "movl $-1, %c[repeats](%%rdx)\n"
        "3: incl %c[repeats](%%rdx)\n"
        "2: movq pct_leaf_sched(%%rip), %%rax\n"
        "pct_leaf_record \\keep, 0\n"
        ".endm\n"

        ".macro pct_leaf_slow keep\n"
        "9: pct_leaf_leave \\keep\n"
        "jmp *pct_leaf_entry(%%rip)\n"
        ".endm\n"

        ".macro pct_leaf_look kind, size, mask, cells, keep\n"
        "pct_leaf_enter \\kind, \\size, \\keep\n"
        "pct_leaf_if_not_aligned \\mask, 5f\n"
        "pct_leaf_cell\n"
        "pct_leaf_own \\cells, 9f\n"
        "pct_leaf_leave \\keep\n"
        "ret\n"
        "pct_leaf_unaligned \\mask, \\cells, \\keep\n"
        "pct_leaf_slow \\keep\n"
        ".endm\n"

        /* What is a point where the place is not the thread's own. */
        ".macro pct_leaf_plain kind, size, mask, keep, point:vararg\n"
        "pct_leaf_enter \\kind, \\size, \\keep\n"
        "pct_leaf_if_not_aligned \\mask, 5f\n"
        "pct_leaf_cell\n"
        "pct_leaf_own 1, 6f\n"
        "pct_leaf_leave \\keep\n"
        "ret\n"
        "pct_leaf_unaligned \\mask, 1, \\keep\n"
        "pct_leaf_note_before \\keep\n"
        "6: \\point, \\keep\n"
        "pct_leaf_slow \\keep\n"
        ".endm\n"

        ".macro pct_leaf_atomic size, mask, keep\n"
        "pct_leaf_enter %c[atomic], \\size, \\keep\n"
        "pct_leaf_if_not_aligned \\mask, 9f\n"
        "pct_leaf_cell\n"
        "pct_leaf_point update, \\keep\n"
        "pct_leaf_slow \\keep\n"
        ".endm\n"

        /* What follows once it is known whether a try changes anything. */
        ".macro pct_leaf_tries keep\n"
        "pct_leaf_note_before \\keep\n"
        "pct_leaf_changes_\\keep: pct_leaf_cell\n"
        "pct_leaf_point_changes try, \\keep\n"
        "pct_leaf_slow \\keep\n"
        "pct_leaf_note_before \\keep\n"
        "pct_leaf_looks_\\keep: pct_leaf_cell\n"
        "pct_leaf_point_looks try, \\keep\n"
        "pct_leaf_slow \\keep\n"
        ".endm\n"

        /* The accumulator is in rax, or on the stack. */
        ".macro pct_leaf_compare size, mask, keep, a, c\n"
        "pct_leaf_enter %c[compare], \\size, \\keep\n"
        "pct_leaf_if_not_aligned \\mask, 9f\n"
        ".if \\keep\n"
        "movq (%%rsp), %%rcx\n"
        "cmp %%\\c, (%%rdx)\n"
        ".else\n"
        "cmp %%\\a, (%%rdx)\n"
        ".endif\n"
        "je pct_leaf_changes_\\keep\n"
        "jmp pct_leaf_looks_\\keep\n"
        "pct_leaf_slow \\keep\n"
        ".endm\n"

        /* value: the number of the register; at: where on the stack its value stands, from the leaf's return address.
         */
        ".macro pct_leaf_exchange size, mask, keep, value, register, at=none\n"
        "pct_leaf_enter %c[exchange], \\size, \\keep, \\value\n"
        "pct_leaf_if_not_aligned \\mask, 9f\n"
        ".ifnc \\at,none\n"
        "movq \\at + 8 + 8 * \\keep(%%rsp), %%rcx\n"
        ".endif\n"
        "cmp %%\\register, (%%rdx)\n"
        "jne pct_leaf_changes_\\keep\n"
        "jmp pct_leaf_looks_\\keep\n"
        "pct_leaf_slow \\keep\n"
        ".endm\n"

        ".macro pct_leaf_exchanges size, mask, keep, a, c, b, bp, si, di, suffix\n"
        ".if \\keep\n"
        "pct_leaf_exchange \\size, \\mask, \\keep, 0, \\c, -16\n"
        ".else\n"
        "pct_leaf_exchange \\size, \\mask, \\keep, 0, \\a\n"
        ".endif\n"
        "pct_leaf_exchange \\size, \\mask, \\keep, 1, \\c, -8\n"
        "pct_leaf_exchange \\size, \\mask, \\keep, 2, \\c, 8\n"
        "pct_leaf_exchange \\size, \\mask, \\keep, 3, \\b\n"
        "pct_leaf_exchange \\size, \\mask, \\keep, 5, \\bp\n"
        "pct_leaf_exchange \\size, \\mask, \\keep, 6, \\si\n"
        "pct_leaf_exchange \\size, \\mask, \\keep, 7, \\di\n"
        "pct_leaf_exchange \\size, \\mask, \\keep, 8, r8\\suffix\n"
        "pct_leaf_exchange \\size, \\mask, \\keep, 9, r9\\suffix\n"
        "pct_leaf_exchange \\size, \\mask, \\keep, 10, r10\\suffix\n"
        "pct_leaf_exchange \\size, \\mask, \\keep, 11, r11\\suffix\n"
        "pct_leaf_exchange \\size, \\mask, \\keep, 12, r12\\suffix\n"
        "pct_leaf_exchange \\size, \\mask, \\keep, 13, r13\\suffix\n"
        "pct_leaf_exchange \\size, \\mask, \\keep, 14, r14\\suffix\n"
        "pct_leaf_exchange \\size, \\mask, \\keep, 15, r15\\suffix\n"
        ".endm\n"

        ".macro pct_leaf_of_size size, mask, keep, a, c, b, bp, si, di, suffix\n"
        "pct_leaf_plain %c[read], \\size, \\mask, \\keep, pct_leaf_point_looks load\n"
        "pct_leaf_plain %c[write], \\size, \\mask, \\keep, pct_leaf_point store\n"
        "pct_leaf_look %c[both], \\size, \\mask, 1, \\keep\n"
        "pct_leaf_atomic \\size, \\mask, \\keep\n"
        "pct_leaf_compare \\size, \\mask, \\keep, \\a, \\c\n"
        "pct_leaf_exchanges \\size, \\mask, \\keep, \\a, \\c, \\b, \\bp, \\si, \\di, \\suffix\n"
        ".endm\n"

        ".irp table, all, notes, holes\n"
        ".pushsection .rodata.pct_leaf_\\table, \"a\"\n"
        ".balign 8\n"
        "pct_leaf_\\table:\n"
        ".popsection\n"
        ".endr\n"

        ".pushsection .rodata.pct_leaves, \"a\"\n"
        ".balign 64\n"
        "pct_leaf_begin:\n"
        "pct_leaf_note %c[nothing]\n"
        "jmp *pct_leaf_entry(%%rip)\n" /* the slow one */
        ".irp keep, 0, 1\n"
        "pct_leaf_tries \\keep\n"
        "pct_leaf_of_size 0, 0, \\keep, al, cl, bl, bpl, sil, dil, b\n"
        "pct_leaf_of_size 1, 1, \\keep, ax, cx, bx, bp, si, di, w\n"
        "pct_leaf_of_size 2, 3, \\keep, eax, ecx, ebx, ebp, esi, edi, d\n"
        "pct_leaf_of_size 3, 7, \\keep, rax, rcx, rbx, rbp, rsi, rdi\n"
        "pct_leaf_look %c[read], 4, 15, 2, \\keep\n"
        "pct_leaf_look %c[write], 4, 15, 2, \\keep\n"
        "pct_leaf_look %c[both], 4, 15, 2, \\keep\n"
        ".endr\n"
        ".balign 64\n"
        "pct_leaf_words:\n"
        "pct_leaf_entry: .quad 0\n"
        "pct_leaf_table: .quad 0\n"
        "pct_leaf_sched: .quad 0\n"
        "pct_leaf_store: .quad 0\n"
        "pct_leaf_update: .quad 0\n"
        "pct_leaf_load: .quad 0\n"
        "pct_leaf_try: .quad 0\n"
        ".balign 64\n"
        "pct_leaf_finish:\n"
        ".popsection\n"

        ".irp table, all, notes, holes\n"
        ".pushsection .rodata.pct_leaf_\\table, \"a\"\n"
        "pct_leaf_\\table\\()_end:\n"
        ".popsection\n"
        ".endr\n"
        :
        : [nothing] "i"(NOTHING), [rcx] "i"(RCX), [rax] "i"(RCX_RAX), [and_flags] "i"(RCX_RAX_AND_FLAGS),
          [flags] "i"(RCX_RAX_FLAGS), [added] "i"(RCX_RAX_AND_FLAGS_ADDED), [read] "i"(PCT_LEAF_READ),
          [write] "i"(PCT_LEAF_WRITE), [both] "i"(PCT_LEAF_BOTH), [atomic] "i"(PCT_LEAF_ATOMIC),
          [compare] "i"(PCT_LEAF_COMPARE), [exchange] "i"(EXCHANGE), [mark] "i"(offsetof(struct pct_memory_own, mark)),
          [points] "i"(offsetof(struct pct_memory_own, points)), [current] "i"(offsetof(struct pct_sched, current)),
          [record] "i"(offsetof(struct pct_sched, record)), [stop] "i"(offsetof(struct pct_sched, stop)),
          [live] "i"(offsetof(struct pct_sched, live)), [step_ns] "i"(offsetof(struct pct_sched, step_ns)),
          [base] "i"(offsetof(struct pct_sched, base)), [spin_run] "i"(offsetof(struct pct_sched, progress.in_a_row)),
          [stamp] "i"(offsetof(struct pct_shim_thread, core.stamp)),
          [repeats] "i"(offsetof(struct pct_shim_thread, recent.repeats)),
          [still] "i"(offsetof(struct pct_sched, still)), [recent] "i"(offsetof(struct pct_shim_thread, recent.record)),
          [next] "i"(offsetof(struct pct_shim_thread, recent.next)), [block] "i"(offsetof(struct pct_sched, block)),
          [spin] "i"(PCT_MEMORY_SPIN), [first] "i"(PCT_OP_LOAD), [last] "i"(PCT_OP_ATOMIC_TRY));
}

extern const uint8_t begin[] __asm__("pct_leaf_begin");
extern const uint8_t words[] __asm__("pct_leaf_words");
extern const uint8_t finish[] __asm__("pct_leaf_finish");
extern const struct leaf all[] __asm__("pct_leaf_all"), all_end[] __asm__("pct_leaf_all_end");
extern const struct note notes[] __asm__("pct_leaf_notes"), notes_end[] __asm__("pct_leaf_notes_end");
extern const struct hole holes[] __asm__("pct_leaf_holes"), holes_end[] __asm__("pct_leaf_holes_end");

static size_t words_at(void)
{
    return (uintptr_t)words - (uintptr_t)begin;
}

size_t pct_leaf_size(void)
{
    return (uintptr_t)finish - (uintptr_t)begin; /* two names in one piece of assembly */
}

void pct_leaf_make(uint8_t *out, uint64_t address, void *const *table, int32_t own, struct pct_leaves *leaves)
{
    const uint64_t values[] = { (uint64_t)(uintptr_t)pct_patch_entry,
                                (uint64_t)(uintptr_t)table,
                                (uint64_t)(uintptr_t)&pct_S,
                                PCT_RECORD(0, PCT_OP_STORE, 0, 0),
                                PCT_RECORD(0, PCT_OP_ATOMIC_UPDATE, 0, 0),
                                PCT_RECORD(0, PCT_OP_LOAD, 0, 0),
                                PCT_RECORD(0, PCT_OP_ATOMIC_TRY, 0, 0) };
    memcpy(out, begin, pct_leaf_size());
    memcpy(out + words_at(), values, sizeof values);
    for (const struct hole *h = holes; h < holes_end; h++) {
        const int32_t offset = own + h->of;
        memcpy(out + h->end - sizeof offset, &offset, sizeof offset);
    }
    *leaves = (struct pct_leaves){ .slow = address };
    if (!table)
        return;
    leaves->own = own + (int32_t)offsetof(struct pct_memory_own, mark);
    leaves->unmark = own + (int32_t)offsetof(struct pct_memory_own, unmark);
    for (const struct leaf *l = all; l < all_end; l++)
        if (l->kind == EXCHANGE)
            leaves->exchange[l->value][l->size][l->keeps] = address + l->start;
        else
            leaves->quick[l->kind][l->size][l->keeps] = address + l->start;
}

static uint64_t pop(struct pct_interrupted *at)
{
    uint64_t value;
    memcpy(&value, (const void *)(uintptr_t)at->sp, sizeof value);
    at->sp += sizeof value;
    return value;
}

bool pct_leaf_unwind(uint64_t offset, struct pct_interrupted *at)
{
    if (offset >= words_at())
        return false;
    enum state state = NOTHING;
    for (const struct note *n = notes; n < notes_end && n->at <= offset; n++)
        state = (enum state)n->state;
    if (state == RCX_RAX_FLAGS)
        at->rax = pop(at);
    if (state >= RCX_RAX_AND_FLAGS) {
        bool overflow = (uint8_t)at->rax == (state == RCX_RAX_AND_FLAGS_ADDED ? 0x80 : 1);
        at->flags = (at->flags & ~UINT64_C(0x8d5)) | (at->rax >> 8 & 0xd5) | (uint64_t)overflow << 11;
    }
    if (state >= RCX_RAX)
        at->rax = pop(at);
    if (state >= RCX)
        at->rcx = pop(at);
    at->pc = pop(at);
    return true;
}
