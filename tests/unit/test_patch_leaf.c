/* The leaves that trampolines call: what they do, and that a thread that is interrupted at any of their instructions is
 * brought back to where it came from. They run natively here, instruction by instruction. */
/* clang-format off: cmocka.h needs these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include <preload/patch/patch_leaf.c> /* NOLINT: the shim is no library */
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

/* What a leaf is called with, and what it leaves. The program's rdx is on the stack, where a trampoline puts it. */
static struct call {
    uint64_t leaf, address, flags, rax, rcx, rdx, others, after, pc, sp, back;
} now __attribute__((used));
void run_leaf(void);
__asm__(".text\n"
        "run_leaf:\n"
        ".irp reg, rbx, rbp, r12, r13, r14, r15\n"
        "pushq %\\reg\n"
        ".endr\n"
        "movq %rsp, now+80(%rip)\n"
        "leaq -256(%rsp), %rsp\n"
        "pushq now+40(%rip)\n"
        "movq %rsp, now+72(%rip)\n"
        "leaq 1f(%rip), %rax\n"
        "movq %rax, now+64(%rip)\n"
        "movq now+48(%rip), %rax\n"
        ".irp reg, rbx, rbp, rsi, rdi, r8, r9, r10, r11, r12, r13, r14, r15\n"
        "movq %rax, %\\reg\n"
        ".endr\n"
        "movq now+24(%rip), %rax\n"
        "movq now+32(%rip), %rcx\n"
        "movq now+8(%rip), %rdx\n"
        "pushq now+16(%rip)\n"
        "popfq\n" /* the trap flag, too */
        "callq *now(%rip)\n"
        "1: pushfq\n"
        "popq now+56(%rip)\n"
        "pushq $2\n"
        "popfq\n"
        "movq %rax, now+24(%rip)\n"
        "movq %rcx, now+32(%rip)\n"
        "movq now+80(%rip), %rsp\n"
        ".irp reg, r15, r14, r13, r12, rbp, rbx\n"
        "popq %\\reg\n"
        ".endr\n"
        "ret\n");
_Static_assert(offsetof(struct call, flags) == 16 && offsetof(struct call, rcx) == 32 &&
                   offsetof(struct call, others) == 48 && offsetof(struct call, back) == 80,
               "the assembly above");

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
    wrong += at.pc != now.pc || at.sp != now.sp || at.rax != wanted.rax || at.rcx != wanted.rcx ||
             (keeps && !same(at.flags));
}

/* Call a leaf for this address, with these flags, step by step. Returns the flags afterwards. */
static uint64_t call_with(uint64_t leaf, uint64_t address, uint64_t flags, const struct call *registers)
{
    struct sigaction action = { .sa_sigaction = step, .sa_flags = SA_SIGINFO | SA_ONSTACK };
    now = *registers;
    now.leaf = leaf;
    now.address = address;
    now.flags = flags | 0x102;
    wanted = (struct pct_interrupted){ .rax = now.rax, .rcx = now.rcx, .flags = flags };
    entered = steps = wrong = 0;
    sigaction(SIGTRAP, &action, NULL);
    run_leaf();
    assert_true(steps > 0);
    assert_int_equal(wrong, 0);
    assert_int_equal(now.rax, wanted.rax);
    assert_int_equal(now.rcx, wanted.rcx);
    return now.after;
}

static uint64_t call(uint64_t leaf, uint64_t address, uint64_t flags)
{
    return call_with(leaf, address, flags, &(struct call){ .rax = 0x1122334455667788, .rcx = 0x99aabbccddeeff00 });
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
    const uint8_t kinds[] = { PCT_LEAF_READ, PCT_LEAF_WRITE, PCT_LEAF_BOTH };
    /* Locations 8 and 9 of the chunk are this thread's, 10 is another's. */
    const uint64_t mine = base + 64, others = base + 80;
    const uint64_t chunk_bytes = (uint64_t)1 << PCT_CHUNK_LOG;
    chunk[8] = chunk[9] = chunk[chunk_bytes / 8 - 1] = (uint64_t)MINE << 32 | 5;
    chunk[10] = (uint64_t)OTHERS << 32;
    for (unsigned size = 0; size < PCT_LEAF_SIZES; size++)
        for (unsigned which = 0; which < 6; which++)
            for (unsigned i = 0; i < sizeof flags / sizeof *flags; i++) {
                const bool keep = which & 1;
                uint64_t leaf = leaves.quick[kinds[which / 2]][size][keep];
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

/* One access to a location that counts, where all that it takes is a record; or one thing is not so, and the slow half
 * is entered. */
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
            const bool still = i % 4 == 3;
            memset(records, 0, sizeof records);
            pct_S = (struct pct_sched){ .current = what == NOT_HOLDER ? NULL : &self.core,
                                        .record = records + 1,
                                        .stop = records + (what == AT_STOP ? 1 : 2),
                                        .live = what == ALONE ? 1 : 2,
                                        .step_ns = step,
                                        .still = still,
                                        .base = 5000,
                                        .progress.in_a_row = 7 };
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
            assert_int_equal(pct_S.base, 5000 - (what == ALL && step && !still ? step - PCT_MEMORY_NS : 0));
            assert_int_equal(pct_S.progress.in_a_row, what == ALL ? 0 : 7);
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

static uint64_t draw(void)
{
    static uint64_t state = 1;
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return state >> 33;
}

/* Accesses that may be looks: the leaf leaves what the slow half would leave, or leaves all to it. */
static void looks_like_the_slow_half(uint64_t leaf, unsigned size, unsigned op, bool keep, int value)
{
    enum { BEFORE = 3, RECORDS = 6 };
    static uint64_t place[2], records[RECORDS], expected[RECORDS];
    static struct pct_shim_thread self;
    const uint64_t address = (uint64_t)(uintptr_t)place,
                   mask = size == 3 ? UINT64_MAX : (UINT64_C(1) << (8 << size)) - 1;
    const uint64_t record = PCT_RECORD(3, op, 0, 77), other = PCT_RECORD(3, op, 0, 78);
    const uint64_t before[] = { PCT_RECORD(3, PCT_OP_LOAD, 0, 9), PCT_RECORD(3, PCT_OP_ATOMIC_TRY, 0, 9),
                                PCT_RECORD(3, PCT_OP_MUTEX_LOCK, 0, 9), PCT_RECORD(3, PCT_OP_ATOMIC_TRY + 1, 0, 9),
                                PCT_RECORD(4, PCT_OP_LOAD, 0, 9) };
    const uint32_t repeats[] = { 0, 5, PCT_MEMORY_SPIN - 2, PCT_MEMORY_SPIN - 1, PCT_MEMORY_SPIN };
    table[address >> PCT_CHUNK_LOG] = chunk;
    chunk[pct_memory_index(address)] = PCT_CELL_SHARED | 77;
    memset(&self, 0, sizeof self);
    self.core.id = 3;
    self.core.stamp = PCT_RECORD(3, 0, 0, 0);
    own.points = &self;
    place[0] = 0x8899aabbccddeeff;
    const bool same_value = draw() % 2, compares = op == PCT_OP_ATOMIC_TRY && value < 0;
    const uint64_t operand = (place[0] & mask) ^ (same_value ? 0 : UINT64_C(1) << (8 << size) / 2) ^ ~mask;
    const bool changes = op == PCT_OP_ATOMIC_TRY && same_value == compares, first = draw() % 4 == 0;
    struct call registers = { .rax = ~operand, .rcx = ~operand, .rdx = ~operand, .others = ~operand };
    *(compares || !value ? &registers.rax
      : value == 1       ? &registers.rcx
      : value == 2       ? &registers.rdx
                         : &registers.others) = operand;
    bool again = false;
    for (unsigned i = 0; i < 4; i++) {
        self.recent.record[i] = draw() % 6 ? other + i : record;
        again |= self.recent.record[i] == record;
    }
    self.recent.next = (uint32_t)draw();
    self.recent.repeats = repeats[draw() % 5];
    memset(records, 0, sizeof records);
    records[BEFORE - 1] = before[draw() % 5];
    memcpy(expected, records, sizeof records);
    pct_S = (struct pct_sched){ .current = &self.core,
                                .record = records + BEFORE,
                                .block = records + (first ? BEFORE : 0),
                                .stop = records + RECORDS,
                                .live = 2,
                                .step_ns = draw() % 2 ? 1000 : 0,
                                .base = 5000,
                                .progress.in_a_row = 7 };
    struct pct_sched s = pct_S, untouched = pct_S;
    struct pct_memory_recent recent = self.recent, untouched_recent = self.recent;
    s.record = expected + BEFORE;
    s.block = expected + (first ? BEFORE : 0);
    s.stop = expected + RECORDS;
    bool done = pct_memory_pass(&s, table, &self.core, &recent, address, (enum pct_op)op, true);
    if (done && changes)
        pct_memory_progress(&s, &recent);
    bool knows_more = again && !changes && (first || PCT_RECORD_THREAD(records[BEFORE - 1]) != 3);
    const uint64_t f = flags[draw() % (sizeof flags / sizeof *flags)];
    keeps = keep;
    uint64_t after = call_with(leaf, address, f, &registers);
    assert_true(!keep || same(after));
    assert_int_equal(entered, !done || knows_more);
    if (entered) {
        assert_memory_equal(&pct_S, &untouched, sizeof untouched);
        assert_memory_equal(&self.recent, &untouched_recent, sizeof recent);
        assert_true(!records[BEFORE]);
        return;
    }
    assert_memory_equal(&self.recent, &recent, sizeof recent);
    assert_memory_equal(records, expected, sizeof records);
    assert_ptr_equal(pct_S.record, records + BEFORE + 1);
    assert_int_equal(pct_S.base, s.base);
    assert_int_equal(pct_S.progress.in_a_row, s.progress.in_a_row);
    if (!size)
        return;
    /* Not aligned: not for leaves. */
    call_with(leaf, address + 7, f, &registers);
    assert_int_equal(entered, 1);
    assert_memory_equal(&self.recent, &recent, sizeof recent);
}

static void test_looks(void **state)
{
    enum { STATES = 24 };
    (void)state;
    for (unsigned size = 0; size < PCT_LEAF_SIZES - 1; size++)
        for (unsigned keep = 0; keep < 2; keep++)
            for (unsigned i = 0; i < STATES; i++) {
                looks_like_the_slow_half(leaves.quick[PCT_LEAF_READ][size][keep], size, PCT_OP_LOAD, keep, -1);
                looks_like_the_slow_half(leaves.quick[PCT_LEAF_COMPARE][size][keep], size, PCT_OP_ATOMIC_TRY, keep, -1);
                for (int value = 0; value < 16; value++)
                    if (value != 4) /* rsp */
                        looks_like_the_slow_half(leaves.exchange[value][size][keep], size, PCT_OP_ATOMIC_TRY, keep,
                                                 value);
            }
    assert_int_equal(leaves.exchange[4][2][0], 0);
    assert_int_equal(leaves.quick[PCT_LEAF_COMPARE][4][0], 0);
}

/* Where there is no table, every access is asked about. */
static void test_no_table(void **state)
{
    (void)state;
    pct_leaf_make(code, (uint64_t)code, NULL, own_at(), &leaves);
    for (unsigned kind = 0; kind < PCT_LEAF_KINDS; kind++)
        assert_int_equal(leaves.quick[kind][2][0], 0);
}

/* How far a jump goes. */
static void test_reach(void **state)
{
    (void)state;
    uint8_t out[PCT_JUMP_SIZE];
    assert_true(pct_emit_jump(out, 0x1000, 0x1005));
    assert_memory_equal(out, "\xe9\0\0\0\0", 5);
    assert_true(pct_emit_jump(out, 0, 5 + UINT64_C(0x7fffffff)));
    assert_false(pct_emit_jump(out, 0, 5 + UINT64_C(0x80000000)));
    assert_true(pct_emit_jump(out, UINT64_C(0x80000000), 5));
    assert_false(pct_emit_jump(out, UINT64_C(0x80000000), 4));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_own), cmocka_unit_test(test_points),
                                        cmocka_unit_test(test_looks), cmocka_unit_test(test_no_table),
                                        cmocka_unit_test(test_reach) };
    return cmocka_run_group_tests_name("patch_leaf", tests, begin_group, end_group);
}
