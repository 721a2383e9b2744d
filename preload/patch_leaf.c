/* The leaves of trampolines: see patch_leaf.h. */
#include "patch_leaf.h"
#include "patch.h"
#include <sched/memory.h>
#include <string.h>

/* The numbers in the assembly. */
_Static_assert(PCT_CHUNK_LOG == 22 && PCT_ADDRESS_LOG == 47, "an entry of the table, a cell of a chunk");
_Static_assert(PCT_LEAF_SIZES == 5, "the leaves below");

/* One leaf. rdx: the address. \mask: bits of an address that is not aligned, which may be of two locations; \two: it is of
 * two. \keep: the flags are kept. The offset of the mark from the thread pointer is filled in. */
__asm__(".macro pct_leaf name, mask, two, keep\n"
        "pct_leaf_\\name:\n"
        "pushq %rcx\n"
        ".if \\keep\n"
        "pushq %rax\n"
        "lahf\n"
        "seto %al\n"
        ".endif\n"
        ".if \\mask\n"
        "testb $\\mask, %dl\n"
        "jnz 9f\n"
        ".endif\n"
        "movq %rdx, %rcx\n"
        "shrq $19, %rcx\n"
        "andl $0x0ffffff8, %ecx\n"
        "addq pct_leaf_table(%rip), %rcx\n"
        "movq (%rcx), %rcx\n"
        "andl $0x3ffff8, %edx\n"
        "testq %rcx, %rcx\n"
        "jz 9f\n"
        "addq %rcx, %rdx\n"
        "movl %fs:0x7fffffff, %ecx\n"
        "pct_leaf_mark_\\name:\n"
        "cmpl %ecx, 4(%rdx)\n"
        "jne 9f\n"
        ".if \\two\n"
        "cmpl %ecx, 12(%rdx)\n"
        "jne 9f\n"
        ".endif\n"
        "pct_leaf_end_\\name:\n"
        ".if \\keep\n"
        "addb $127, %al\n"
        "sahf\n"
        "popq %rax\n"
        ".endif\n"
        "popq %rcx\n"
        "ret\n"
        "9:\n"
        ".if \\keep\n"
        "addb $127, %al\n"
        "sahf\n"
        "popq %rax\n"
        ".endif\n"
        "popq %rcx\n"
        "jmp *pct_leaf_entry(%rip)\n"
        ".balign 16\n"
        ".pushsection .rodata.pct_leaf, \"a\"\n"
        ".byte \\keep, 0\n"
        ".short pct_leaf_\\name - pct_leaf_begin, pct_leaf_mark_\\name - pct_leaf_begin, "
        "pct_leaf_end_\\name - pct_leaf_begin\n"
        ".popsection\n"
        ".endm\n"
        ".pushsection .rodata.pct_leaf, \"a\"\n"
        ".balign 8\n"
        ".globl pct_leaf_all\n"
        ".hidden pct_leaf_all\n"
        "pct_leaf_all:\n"
        ".popsection\n"
        ".pushsection .rodata.pct_leaves, \"a\"\n"
        ".balign 64\n"
        ".globl pct_leaf_begin, pct_leaf_words, pct_leaf_finish\n"
        ".hidden pct_leaf_begin, pct_leaf_words, pct_leaf_finish\n"
        "pct_leaf_begin:\n"
        "jmp *pct_leaf_entry(%rip)\n" /* the slow one */
        ".balign 16\n"
        "pct_leaf b, 0, 0, 0\n"
        "pct_leaf bk, 0, 0, 1\n"
        "pct_leaf w, 1, 0, 0\n"
        "pct_leaf wk, 1, 0, 1\n"
        "pct_leaf l, 3, 0, 0\n"
        "pct_leaf lk, 3, 0, 1\n"
        "pct_leaf q, 7, 0, 0\n"
        "pct_leaf qk, 7, 0, 1\n"
        "pct_leaf x, 15, 1, 0\n"
        "pct_leaf xk, 15, 1, 1\n"
        ".balign 64\n"
        "pct_leaf_words:\n"
        "pct_leaf_entry: .quad 0\n"
        "pct_leaf_table: .quad 0\n"
        ".balign 64\n"
        "pct_leaf_finish:\n"
        ".popsection\n");

extern const uint8_t begin[] __asm__("pct_leaf_begin") __attribute__((visibility("hidden")));
extern const uint8_t words[] __asm__("pct_leaf_words") __attribute__((visibility("hidden")));
extern const uint8_t finish[] __asm__("pct_leaf_finish") __attribute__((visibility("hidden")));

/* Of each leaf: where it begins, where the offset of the mark ends, where it begins to return; from the beginning of all. */
struct leaf {
    uint8_t keeps, unused;
    uint16_t start, mark, end;
};
extern const struct leaf all[2 * PCT_LEAF_SIZES] __asm__("pct_leaf_all") __attribute__((visibility("hidden")));

static size_t words_at(void)
{
    return (uintptr_t)words - (uintptr_t)begin;
}

size_t pct_leaf_size(void)
{
    return (uintptr_t)finish - (uintptr_t)begin; /* two names in one piece of assembly */
}

void pct_leaf_make(uint8_t *out, uint64_t address, void *const *table, int32_t mark, struct pct_leaves *leaves)
{
    const uint64_t values[] = { (uint64_t)(uintptr_t)pct_patch_entry, (uint64_t)(uintptr_t)table };
    memcpy(out, begin, pct_leaf_size());
    memcpy(out + words_at(), values, sizeof values);
    *leaves = (struct pct_leaves){ .slow = address };
    for (unsigned i = 0; i < 2 * PCT_LEAF_SIZES; i++) {
        memcpy(out + all[i].mark - sizeof mark, &mark, sizeof mark);
        if (table)
            leaves->quick[i / 2][all[i].keeps] = address + all[i].start;
    }
}

static void pop(struct pct_interrupted *at, uint64_t *into)
{
    memcpy(into, (const void *)(uintptr_t)at->sp, sizeof *into);
    at->sp += sizeof *into;
}

/* Undo what a leaf has done so far: `at` is the offset from its start, `end` that of its return. */
static void undo(const struct leaf *leaf, uint64_t offset, uint64_t end, struct pct_interrupted *at)
{
    enum { PUSHED_RCX = 1, PUSHED_RAX = 2, SAVED = 6 }; /* after push, push, lahf and seto */
    enum { ADD = 2, SAHF = 3, POP = 4 };                /* of the return: addb, sahf, pop */
    /* Both ways out are the same instructions, one behind the other, but for ret and jmp. */
    const uint64_t way = leaf->keeps ? POP + 2 : 2;
    uint64_t out = offset < end ? 0 : offset - end;
    if (offset >= end + way)
        out -= way;
    if (leaf->keeps) {
        if (offset >= SAVED && out <= ADD) {
            bool overflow = (uint8_t)at->rax == (out == ADD ? 0x80 : 1);
            at->flags = (at->flags & ~UINT64_C(0x8d5)) | (at->rax >> 8 & 0xd5) | (uint64_t)overflow << 11;
        }
        if (offset >= PUSHED_RAX && out <= SAHF)
            pop(at, &at->rax);
        if (offset >= PUSHED_RCX && out <= POP)
            pop(at, &at->rcx);
    } else if (offset >= PUSHED_RCX && !out) {
        pop(at, &at->rcx);
    }
}

bool pct_leaf_unwind(uint64_t offset, struct pct_interrupted *at)
{
    const struct leaf *leaf = NULL;
    if (offset >= words_at())
        return false;
    for (unsigned i = 0; i < 2 * PCT_LEAF_SIZES && all[i].start <= offset; i++)
        leaf = &all[i];
    if (leaf)
        undo(leaf, offset - leaf->start, leaf->end - leaf->start, at);
    pop(at, &at->pc);
    return true;
}
