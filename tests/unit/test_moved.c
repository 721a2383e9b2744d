/* Instructions that move with a short site, random ones: what they leave in registers, flags and on the stack is what
 * they leave where they stood. */
/* clang-format off: cmocka.h needs these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#pragma GCC diagnostic ignored "-Wunused-function"
#include "patched_code.h"
#include <cli/binary/short_sites.h>
#include <signal.h>

enum { SITE = 2, BYTES = 24, STUB = 2048, ROUNDS = 300000, ENOUGH = 1000, STACK = 1 << 15, REGISTERS = 16 };

/* All registers but rsp, as the processor numbers them; in place of rsp the flags. */
static uint64_t before[REGISTERS] __attribute__((used)), after[REGISTERS] __attribute__((used));
static uint64_t own_stack __attribute__((used)), left_stack __attribute__((used));
static uint64_t code_address __attribute__((used)), given_stack __attribute__((used));

void enter_code(void);
void leave_code(void);
__asm__(".text\n"
        ".type enter_code, @function\n"
        "enter_code:\n"
        "push %rbx\n\tpush %rbp\n\tpush %r12\n\tpush %r13\n\tpush %r14\n\tpush %r15\n\t"
        "mov %rsp, own_stack(%rip)\n\tlea before(%rip), %rax\n\t"
        "push 32(%rax)\n\tpopf\n\t"
        "mov 8(%rax), %rcx\n\tmov 16(%rax), %rdx\n\tmov 24(%rax), %rbx\n\tmov 40(%rax), %rbp\n\t"
        "mov 48(%rax), %rsi\n\tmov 56(%rax), %rdi\n\tmov 64(%rax), %r8\n\tmov 72(%rax), %r9\n\t"
        "mov 80(%rax), %r10\n\tmov 88(%rax), %r11\n\tmov 96(%rax), %r12\n\tmov 104(%rax), %r13\n\t"
        "mov 112(%rax), %r14\n\tmov 120(%rax), %r15\n\tmov (%rax), %rax\n\t"
        "mov given_stack(%rip), %rsp\n\t"
        "jmp *code_address(%rip)\n"
        ".type leave_code, @function\n"
        "leave_code:\n"
        "mov %rsp, left_stack(%rip)\n\tmov own_stack(%rip), %rsp\n\t"
        "mov %rax, after(%rip)\n\tlea after(%rip), %rax\n\tpushf\n\tpop 32(%rax)\n\t"
        "mov %rcx, 8(%rax)\n\tmov %rdx, 16(%rax)\n\tmov %rbx, 24(%rax)\n\tmov %rbp, 40(%rax)\n\t"
        "mov %rsi, 48(%rax)\n\tmov %rdi, 56(%rax)\n\tmov %r8, 64(%rax)\n\tmov %r9, 72(%rax)\n\t"
        "mov %r10, 80(%rax)\n\tmov %r11, 88(%rax)\n\tmov %r12, 96(%rax)\n\tmov %r13, 104(%rax)\n\t"
        "mov %r14, 112(%rax)\n\tmov %r15, 120(%rax)\n\t"
        "cld\n\tpop %r15\n\tpop %r14\n\tpop %r13\n\tpop %r12\n\tpop %rbp\n\tpop %rbx\n\tret\n");

static uint64_t state = 88172645463325252u;
static uint64_t draw(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

static const uint8_t *bytes_of(const void *file, uint64_t address, uint64_t size)
{
    (void)size;
    return (const uint8_t *)file + address;
}

/* The site at the beginning of the code, with how much may move; the function ends behind `size` bytes. */
static struct pct_plan_site site_of(const uint8_t *code, size_t size)
{
    struct pct_instruction_scan scan = { .level = PCT_PATCH_ATOMICS, .to = size };
    const struct pct_frame function = { .to = size };
    struct pct_plan_site site = { 0 };
    bool ended;
    assert_true(pct_instruction_scan_start(&scan));
    if (pct_instruction_scan_function(&scan, code, size, 0, &ended)) {
        pct_instruction_scan_finish(&scan);
        pct_short_sites_extend(&scan, &function, 1, bytes_of, code);
        if (scan.count)
            site = scan.sites[0];
    }
    pct_instruction_scan_free(&scan);
    return site;
}

static sigjmp_buf out;
static void faulted(int number)
{
    siglongjmp(out, number);
}

struct left {
    uint64_t registers[REGISTERS], sp;
    uint8_t stack[STACK];
    uint32_t word;
    int fault;
};

static void run_at(const uint8_t *code, uint32_t *word, uint8_t *stack, struct left *left)
{
    for (unsigned i = 0; i < STACK; i++)
        stack[i] = (uint8_t)(i * 7);
    *word = 77;
    code_address = (uint64_t)code;
    given_stack = (uint64_t)(stack + STACK / 2);
    left->fault = sigsetjmp(out, 1);
    if (!left->fault)
        enter_code();
    memcpy(left->registers, after, sizeof after);
    left->registers[4] &= 0xcd5; /* the flags of arithmetic, and of direction */
    left->sp = left_stack;
    memcpy(left->stack, stack, STACK);
    left->word = *word;
}

static void test_moved(void **unused)
{
    (void)unused;
    static struct left here, there;
    static uint8_t alternate[1 << 16];
    const stack_t own = { .ss_sp = alternate, .ss_size = sizeof alternate };
    struct sigaction action = { .sa_handler = faulted, .sa_flags = SA_ONSTACK | SA_NODEFER };
    sigaltstack(&own, NULL);
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
    sigaction(SIGFPE, &action, NULL);
    sigaction(SIGILL, &action, NULL);
    sigaction(SIGTRAP, &action, NULL);
    uint8_t *code = map_code(NULL, CODE_SIZE), *room = map_code(code + CODE_SIZE, NEAR_SIZE),
            *stack = map_code(NULL, STACK);
    uint8_t *patched = map_code(NULL, CODE_SIZE);
    uint32_t *word = map_code(NULL, 4096);
    unsigned moved = 0;
    for (unsigned round = 0; round < ROUNDS && moved < ENOUGH; round++) {
        uint8_t bytes[BYTES + PCT_JUMP_SIZE];
        for (unsigned i = 0; i < BYTES; i++)
            bytes[i] = (uint8_t)(draw() >> 11);
        if (round % 2) /* more of them are instructions */
            bytes[SITE] = (uint8_t)(0x40 | (draw() & 15));
        memcpy(bytes, (const uint8_t[]){ 0x87, 0x38 }, SITE); /* xchg %edi, (%rax) */
        bytes[BYTES] = 0xc3;
        /* Only as much of it as moves: what follows would be none of ours. */
        struct pct_plan_site site = { 0 };
        for (size_t size = SITE + 4; size <= SITE + 13 && !site.more; size++) {
            const uint8_t kept = bytes[size];
            bytes[size] = 0xc3;
            site = site_of(bytes, size + 1);
            if (site.more != size - SITE)
                site.more = 0;
            if (!site.more)
                bytes[size] = kept;
        }
        if (!site.more)
            continue;
        const unsigned end = SITE + site.more;
        void (*const leave)(void) = leave_code;
        memset(code, 0xcc, CODE_SIZE);
        memcpy(code, bytes, end);
        pct_emit_jump(code + end, (uint64_t)(code + end), (uint64_t)(code + STUB));
        memcpy(code + STUB, (const uint8_t[]){ 0xff, 0x25, 0, 0, 0, 0 }, 6);
        memcpy(code + STUB + 6, &leave, sizeof leave);
        memcpy(patched, code, CODE_SIZE);
        struct pct_patched record = { .site = site };
        record.site.length = (uint8_t)end;
        record.site.address = (uint64_t)code;
        struct pct_placing p = { .near = room, .near_address = (uint64_t)room, .near_size = NEAR_SIZE };
        const struct pct_leaves leaves = { .slow = leaf_to(&p, slow_half) };
        uint64_t start = 0;
        assert_true(pct_emit_trampoline(room + 64, (uint64_t)(room + 64), &record, code, &leaves, &start) > 0);
        for (unsigned i = 0; i < REGISTERS; i++)
            before[i] = draw();
        before[0] = (uint64_t)word;
        before[4] = 0x202 | (draw() & 0x8d5);
        run_at(code, word, stack, &here);
        assert_true(pct_emit_jump(code, (uint64_t)code, start));
        run_at(code, word, stack, &there);
        moved++;
        if (here.fault) {
            assert_int_equal(there.fault, here.fault);
            continue;
        }
        /* The trampoline has used what is below the red zone. */
        memset(here.stack, 0, STACK / 2 - 128);
        memset(there.stack, 0, STACK / 2 - 128);
        if (memcmp(&here, &there, sizeof here)) {
            for (unsigned i = 0; i < end; i++)
                print_message("%02x ", bytes[i]);
            fail_msg("differs: word %u %u sp %lx %lx", here.word, there.word, here.sp, there.sp);
        }
    }
    assert_int_equal(moved, ENOUGH);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_moved) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
