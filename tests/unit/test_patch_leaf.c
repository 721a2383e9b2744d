/* The leaves that trampolines call: what they do, and that a thread that is interrupted at any of their instructions is brought
 * back to where it came from. They run natively here, instruction by instruction. */
/* clang-format off: cmocka.h needs these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include <preload/patch_leaf.c> /* NOLINT: the shim is no library */
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { FLAGS = 0x8d5, MINE = 0x40000001, OTHERS = 0x40000002 };

static __thread uint32_t own_mark = MINE;

static uint64_t entered __attribute__((used));
__asm__(".text\n"
        ".type pct_patch_entry, @function\n"
        "pct_patch_entry:\n"
        "movq $1, entered(%rip)\n" /* keeps the flags */
        "ret\n");

static uint8_t *code;
static uint64_t steps, wrong;
static struct pct_interrupted wanted;
static bool keeps;

static bool same(uint64_t flags)
{
    return !((flags ^ wanted.flags) & FLAGS);
}

static void step(int signal, siginfo_t *info, void *context)
{
    const greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
    struct pct_interrupted at = { .pc = (uint64_t)regs[REG_RIP],
                                  .sp = (uint64_t)regs[REG_RSP],
                                  .rax = (uint64_t)regs[REG_RAX],
                                  .rcx = (uint64_t)regs[REG_RCX],
                                  .flags = (uint64_t)regs[REG_EFL] };
    (void)signal;
    (void)info;
    if (!pct_leaf_unwind(at.pc - (uint64_t)code, &at))
        return;
    steps++;
    wrong += at.pc != wanted.pc || at.sp != wanted.sp || at.rax != wanted.rax || at.rcx != wanted.rcx ||
             (keeps && !same(at.flags));
}

/* Call a leaf for this address, with these flags, step by step. Returns the flags afterwards. */
static uint64_t call(uint64_t leaf, uint64_t address, uint64_t flags)
{
    uint64_t rax = 0x1122334455667788, rcx = 0x99aabbccddeeff00, after, back, sp;
    struct sigaction action = { .sa_sigaction = step, .sa_flags = SA_SIGINFO | SA_ONSTACK };
    wanted = (struct pct_interrupted){ .rax = rax, .rcx = rcx, .flags = flags };
    entered = steps = wrong = 0;
    sigaction(SIGTRAP, &action, NULL);
    __asm__ volatile(
        "leaq -256(%%rsp), %%rsp\n\t"
        "leaq 1f(%%rip), %[back]\n\t"
        "movq %[back], %[pc]\n\t"
        "movq %%rsp, %[stack]\n\t"
        "pushq %[flags]\n\t"
        "popfq\n\t" /* the trap flag, too */
        "callq *%[leaf]\n"
        "1: pushfq\n\t"
        "popq %[after]\n\t"
        "pushq $2\n\t"
        "popfq\n\t"
        "leaq 256(%%rsp), %%rsp"
        : "+a"(rax), "+c"(rcx),
          "+d"(address), [after] "=&r"(after), [back] "=&r"(back), [pc] "=m"(wanted.pc), [stack] "=m"(wanted.sp)
        : [leaf] "r"(leaf), [flags] "r"(flags | 0x102)
        : "memory", "cc");
    sp = wanted.sp;
    assert_true(sp != 0 && steps > 0);
    assert_int_equal(wrong, 0);
    assert_int_equal(rax, wanted.rax);
    assert_int_equal(rcx, wanted.rcx);
    return after;
}

static void test_leaves(void **state)
{
    (void)state;
    const size_t directory = sizeof(void *) << (PCT_ADDRESS_LOG - PCT_CHUNK_LOG);
    void **table = mmap(NULL, directory, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    code = mmap(NULL, pct_leaf_size(), PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint64_t *chunk = calloc((size_t)1 << (PCT_CHUNK_LOG - 3), sizeof *chunk);
    assert_true(table != MAP_FAILED && code != MAP_FAILED && chunk);
    const void *volatile place =
        &own_mark; /* volatile: linkers do not know every instruction that could use its offset */
    const int32_t mark = (int32_t)((const char *)place - (char *)__builtin_thread_pointer());
    struct pct_leaves leaves;
    pct_leaf_make(code, (uint64_t)code, table, mark, &leaves);
    /* Locations 8 and 9 of the chunk are this thread's, 10 is another's. */
    const uint64_t base = UINT64_C(0x7f1234400000), mine = base + 64, others = base + 80;
    table[base >> PCT_CHUNK_LOG] = chunk;
    chunk[8] = chunk[9] = (uint64_t)MINE << 32 | 5;
    chunk[10] = (uint64_t)OTHERS << 32;
    static const uint64_t flags[] = { 0, FLAGS, 0x800, 0x0d5, 0x041, 0x880, 0x014 };
    for (unsigned size = 0; size < PCT_LEAF_SIZES; size++)
        for (unsigned keep = 0; keep < 2; keep++)
            for (unsigned i = 0; i < sizeof flags / sizeof *flags; i++) {
                uint64_t leaf = leaves.quick[size][keep];
                keeps = keep;
                assert_true(leaf != 0);
                const struct {
                    uint64_t address;
                    bool asks;
                } accesses[] = { { mine, false },
                                 { others, true },
                                 { base + 72, size == 4 },                   /* sixteen bytes: not aligned */
                                 { mine + 1, size > 0 },                     /* not aligned */
                                 { mine + (UINT64_C(1) << 40), true },       /* there is no chunk */
                                 { mine | UINT64_C(0xffff) << 48, false } }; /* the table ends there */
                for (unsigned a = 0; a < sizeof accesses / sizeof *accesses; a++) {
                    uint64_t after = call(leaf, accesses[a].address, flags[i]);
                    assert_int_equal(entered, accesses[a].asks);
                    assert_true(!keep || same(after));
                }
            }
    keeps = true;
    assert_true(same(call(leaves.slow, mine, FLAGS)));
    assert_int_equal(entered, 1);
    assert_false(pct_leaf_unwind(pct_leaf_size(), &wanted));
    /* One of the two locations is another's. */
    chunk[9] = (uint64_t)OTHERS << 32;
    call(leaves.quick[4][1], mine, 0);
    assert_int_equal(entered, 1);
    pct_leaf_make(code, (uint64_t)code, NULL, mark, &leaves);
    assert_int_equal(leaves.quick[2][0], 0);
    munmap(table, directory);
    munmap(code, pct_leaf_size());
    free(chunk);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_leaves) };
    return cmocka_run_group_tests_name("patch_leaf", tests, NULL, NULL);
}
