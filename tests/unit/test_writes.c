/* Unit tests of preload/watchdog/writes.h: what the instructions of loops that wait, and of some that compute, write.
 * Links with: writes.o. */
/* clang-format off: cmocka.h needs these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include <preload/watchdog/writes.h>

enum { STACK = 0x7000, STACK_END = 0x8000 };

/* Of the instruction with these bytes, in a thread whose stack pointer is in [STACK, STACK_END), all else is not. */
#define WRITES(...) writes((const unsigned char[PCT_WRITES_CODE]){ __VA_ARGS__ })
static bool writes(const unsigned char *code)
{
    ucontext_t context = { .uc_flags = 0 };
    context.uc_mcontext.gregs[REG_RSP] = STACK + 0x800;
    context.uc_mcontext.gregs[REG_RBP] = STACK + 0x900;
    context.uc_mcontext.gregs[REG_RAX] = 0x100000;
    return pct_writes_elsewhere(code, &context, STACK, STACK_END);
}

static void test_what_only_looks(void **unused)
{
    (void)unused;
    assert_false(WRITES(0x8b, 0x00));             /* mov (%rax),%eax */
    assert_false(WRITES(0x83, 0x38, 0x00));       /* cmpl $0,(%rax) */
    assert_false(WRITES(0x81, 0x38, 0, 0, 0, 0)); /* cmpl $0,(%rax), long */
    assert_false(WRITES(0x39, 0x08));             /* cmp %ecx,(%rax) */
    assert_false(WRITES(0x85, 0x00));             /* test %eax,(%rax) */
    assert_false(WRITES(0xf6, 0x00, 0x01));       /* testb $1,(%rax) */
    assert_false(WRITES(0x0f, 0xb6, 0x00));       /* movzbl (%rax),%eax */
    assert_false(WRITES(0xf3, 0x90));             /* pause */
    assert_false(WRITES(0x74, 0xfb));             /* je */
    assert_false(WRITES(0x0f, 0x84, 0, 0, 0, 0)); /* je, long */
    assert_false(WRITES(0xeb, 0xfe));             /* jmp */
    assert_false(WRITES(0xe8, 0, 0, 0, 0));       /* call: on the stack */
    assert_false(WRITES(0x50));                   /* push %rax */
    assert_false(WRITES(0x0f, 0x94, 0xc0));       /* sete %al */
    assert_false(WRITES(0xf0, 0x0f, 0xb1, 0x08)); /* lock cmpxchg %ecx,(%rax): a lock's loop */
    assert_false(WRITES(0x87, 0x08));             /* xchg %ecx,(%rax): likewise */
    assert_false(WRITES(0xc5, 0xf9, 0x90, 0x00)); /* kmovb (%rax),%k0: no SETcc */
}

static void test_what_writes(void **unused)
{
    (void)unused;
    assert_true(WRITES(0x89, 0x08));                      /* mov %ecx,(%rax) */
    assert_true(WRITES(0xc7, 0x00, 1, 0, 0, 0));          /* movl $1,(%rax) */
    assert_true(WRITES(0x83, 0x00, 0x01));                /* addl $1,(%rax) */
    assert_true(WRITES(0xff, 0x00));                      /* incl (%rax) */
    assert_true(WRITES(0xf7, 0x18));                      /* negl (%rax) */
    assert_true(WRITES(0x0f, 0x94, 0x00));                /* sete (%rax) */
    assert_true(WRITES(0xf0, 0x0f, 0xc1, 0x08));          /* lock xadd %ecx,(%rax): a ticket */
    assert_true(WRITES(0xf3, 0xaa));                      /* rep stosb */
    assert_true(WRITES(0xa3, 0, 0, 0, 0, 0, 0, 0, 0));    /* movabs %eax,... */
    assert_true(WRITES(0x0f, 0x11, 0x00));                /* movups %xmm0,(%rax) */
    assert_true(WRITES(0xc5, 0xfc, 0x11, 0x00));          /* vmovups %ymm0,(%rax) */
    assert_true(WRITES(0x64, 0x89, 0x08));                /* mov %ecx,%fs:(%rax) */
    assert_true(WRITES(0x0f, 0x05));                      /* syscall */
    assert_true(WRITES(0x0f, 0x31));                      /* rdtsc: a clock */
    assert_true(WRITES(0x62, 0xf1, 0x7c, 0x48, 0x11, 0)); /* EVEX: not known */
}

static void test_registers_and_the_stack_are_its_own(void **unused)
{
    (void)unused;
    assert_false(WRITES(0x89, 0xc8));                         /* mov %ecx,%eax */
    assert_false(WRITES(0xff, 0xc0));                         /* inc %eax */
    assert_false(WRITES(0x48, 0x89, 0x04, 0x24));             /* mov %rax,(%rsp) */
    assert_false(WRITES(0x89, 0x44, 0x24, 0x0c));             /* mov %eax,12(%rsp) */
    assert_false(WRITES(0x89, 0x45, 0xfc));                   /* mov %eax,-4(%rbp) */
    assert_false(WRITES(0x89, 0x85, 0xfc, 0xff, 0xff, 0xff)); /* the same, long */
    assert_true(WRITES(0x89, 0x85, 0x00, 0x00, 0x00, 0x7f));  /* mov %eax,...(%rbp), far away */
    assert_true(WRITES(0x89, 0x04, 0x8c));                    /* mov %eax,(%rsp,%rcx,4) */
    assert_true(WRITES(0x41, 0x89, 0x04, 0x24));              /* mov %eax,(%r12), which is no stack pointer */
    assert_true(WRITES(0x89, 0x05, 0, 0, 0, 0));              /* mov %eax,...(%rip) */
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_only_looks),
        cmocka_unit_test(test_what_writes),
        cmocka_unit_test(test_registers_and_the_stack_are_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
