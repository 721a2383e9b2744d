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

static __thread struct pct_memory_own own = { .mark = MINE };
union pct_page pct_page;

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

static const size_t directory = sizeof(void *) << (PCT_ADDRESS_LOG - PCT_CHUNK_LOG);
static const uint64_t base = UINT64_C(0x7f1234400000), flags[] = { 0, FLAGS, 0x800, 0x0d5, 0x041, 0x880, 0x014 };
static void **table;
static uint64_t *chunk;
static struct pct_leaves leaves;

static int32_t own_at(void)
{
    const void *volatile place = &own; /* volatile: linkers do not know every instruction that could use its offset */
    return (int32_t)((const char *)place - (char *)__builtin_thread_pointer());
}

static int begin_group(void **state)
{
    (void)state;
    table = mmap(NULL, directory, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    code = mmap(NULL, pct_leaf_size(), PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    chunk = calloc(((size_t)1 << (PCT_CHUNK_LOG - 3)) + 2, sizeof *chunk);
    if (table == MAP_FAILED || code == MAP_FAILED || !chunk)
        return -1;
    table[base >> PCT_CHUNK_LOG] = chunk;
    pct_leaf_make(code, (uint64_t)code, table, own_at(), &leaves);
    return 0;
}

static int end_group(void **state)
{
    (void)state;
    munmap(table, directory);
    munmap(code, pct_leaf_size());
    free(chunk);
    return 0;
}

/* Leaves that look whether the location is the thread's own. */
static void test_own(void **state)
{
    (void)state;
    /* Locations 8 and 9 of the chunk are this thread's, 10 is another's. */
    const uint64_t mine = base + 64, others = base + 80;
    const uint64_t chunk_bytes = (uint64_t)1 << PCT_CHUNK_LOG;
    chunk[8] = chunk[9] = chunk[chunk_bytes / 8 - 1] = (uint64_t)MINE << 32 | 5;
    chunk[10] = (uint64_t)OTHERS << 32;
    for (unsigned size = 0; size < PCT_LEAF_SIZES; size++)
        for (unsigned which = 0; which < 4; which++)
            for (unsigned i = 0; i < sizeof flags / sizeof *flags; i++) {
                const bool keep = which & 1;
                uint64_t leaf = leaves.quick[which & 2 ? PCT_LEAF_WRITE : PCT_LEAF_READ][size][keep];
                keeps = keep;
                assert_true(leaf != 0);
                const struct {
                    uint64_t address;
                    bool asks;
                } accesses[] = { { mine, false },
                                 { others, true },
                                 { base + 72, size == 4 }, /* sixteen bytes: not aligned */
                                 { mine + 1,
                                   size == 4 }, /* not aligned: the next location must be this thread's, too */
                                 { mine + 7, size == 4 },
                                 { mine + 9, size > 0 },
                                 { base + chunk_bytes - 7, size > 0 },       /* there is none behind it in the chunk */
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
    call(leaves.quick[PCT_LEAF_READ][4][1], mine, 0);
    assert_int_equal(entered, 1);
}

/* One access to a location that counts, where all that it takes is a record; or one thing is not so, and the slow half is entered. */
static void test_points(void **state)
{
    enum { ALL, NO_POINTS, NOT_HOLDER, AT_STOP, ALONE, NOT_SHARED, NO_NUMBER, CASES };
    static uint64_t records[4];
    static struct pct_shim_thread self;
    const uint64_t address = base + 96, step_ns = 1000;
    (void)state;
    self.core.stamp = PCT_RECORD(3, 0, 0, 0);
    for (unsigned which = 0; which < 4 * (PCT_LEAF_SIZES - 1) * CASES; which++) {
        const unsigned what = which % CASES, keep = which / CASES % 2, atomic = which / CASES / 2 % 2,
                       size = which / CASES / 4;
        const uint32_t op = atomic ? PCT_OP_ATOMIC_UPDATE : PCT_OP_STORE;
        for (unsigned i = 0; i < sizeof flags / sizeof *flags; i++) {
            const uint64_t step = i % 2 ? step_ns : 0; /* 0: real time */
            memset(records, 0, sizeof records);
            pct_S = (struct pct_sched){ .current = what == NOT_HOLDER ? NULL : &self.core,
                                        .record = records + 1,
                                        .stop = records + (what == AT_STOP ? 1 : 2),
                                        .live = what == ALONE ? 1 : 2,
                                        .step_ns = step,
                                        .base = 5000,
                                        .spin_run = 7 };
            self.recent.repeats = 9;
            own.points = what == NO_POINTS ? NULL : &self;
            chunk[12] = (what == NO_NUMBER ? 0 : 77) | (what == NOT_SHARED ? (uint64_t)OTHERS << 32 : PCT_CELL_SHARED);
            keeps = keep;
            uint64_t after =
                call(leaves.quick[atomic ? PCT_LEAF_ATOMIC : PCT_LEAF_WRITE][size][keep], address, flags[i]);
            assert_true(!keep || same(after));
            assert_int_equal(entered, what != ALL);
            assert_ptr_equal(pct_S.record, records + (what == ALL ? 2 : 1));
            assert_true(records[1] == (what == ALL ? PCT_RECORD(3, op, 0, 77) : 0));
            assert_int_equal(pct_S.base, 5000 - (what == ALL && step ? step - PCT_MEMORY_NS : 0));
            assert_int_equal(pct_S.spin_run, what == ALL ? 0 : 7);
            assert_int_equal(self.recent.repeats, what == ALL ? 0 : 9);
            assert_true(!records[0] && !records[2] && !records[3]);
        }
    }
    /* Of a thread that pct does not know, while nobody holds the baton. */
    own.points = NULL;
    pct_S.current = NULL;
    call(leaves.quick[PCT_LEAF_ATOMIC][2][1], address, 0);
    assert_int_equal(entered, 1);
}

/* Where there is no table, every access is asked about. */
static void test_no_table(void **state)
{
    (void)state;
    pct_leaf_make(code, (uint64_t)code, NULL, own_at(), &leaves);
    for (unsigned kind = 0; kind < PCT_LEAF_KINDS; kind++)
        assert_int_equal(leaves.quick[kind][2][0], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_own), cmocka_unit_test(test_points),
                                        cmocka_unit_test(test_no_table) };
    return cmocka_run_group_tests_name("patch_leaf", tests, begin_group, end_group);
}
