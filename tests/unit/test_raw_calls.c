/* What is counted of a program's code (cli/binary/raw_calls.c): instructions, not bytes that look like them. */
/* clang-format off: cmocka.h needs these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include <cli/binary/elf_facts.h>
#include <string.h>
#include <sys/syscall.h>

enum { ROOM = 1 << 14 };

static const unsigned char code[] = {
    0xb8, 0xca, 0x00, 0x00, 0x00,                      /* mov $202, %eax */
    0x0f, 0x05,                                        /* syscall */
    0x31, 0xc0,                                        /* xor %eax, %eax */
    0x0f, 0x05,                                        /* syscall */
    0x0f, 0x05,                                        /* syscall: nobody knows which */
    0xb9, 0x0f, 0x05, 0xcd, 0x80,                      /* mov $0x80cd050f, %ecx */
    0x48, 0xb8, 0x0f, 0x31, 0x0f, 0xc7, 0xf0, 0, 0, 0, /* movabs $..., %rax */
    0x0f, 0x31,                                        /* rdtsc */
    0x0f, 0x01, 0xf9,                                  /* rdtscp */
    0x48, 0x0f, 0xc7, 0xf0,                            /* rdrand %rax */
    0x0f, 0xc7, 0xfb,                                  /* rdseed %ebx */
    0xf0, 0x0f, 0xc7, 0x0f,                            /* lock cmpxchg8b (%rdi) */
    0x0f, 0x34,                                        /* sysenter */
    0xcd, 0x80,                                        /* int $0x80 */
};

static void check(const struct pct_raw_calls *raw, uint64_t times)
{
    assert_int_equal(raw->total, 3 * times);
    assert_int_equal(raw->by_number[SYS_futex], times);
    assert_int_equal(raw->by_number[SYS_read], times);
    assert_int_equal(raw->unknown, times);
    assert_int_equal(raw->clock, 2 * times);
    assert_int_equal(raw->random, 2 * times);
    assert_int_equal(raw->legacy, 2 * times);
}

static void instructions_are_counted_where_they_are(void **unused)
{
    (void)unused;
    struct pct_raw_calls raw = { 0 };
    pct_raw_calls_count(&raw, code, sizeof code);
    check(&raw, 1);
}

/* In long code, which is decoded only near such bytes, mostly from inside an instruction on. */
static void likewise_far_from_each_other(void **unused)
{
    (void)unused;
    /* push; mov %rsp,%rbp; mov -4(%rbp),%eax; add $1,%eax; movabs $...,%rcx; call; cmp $1000,%eax; jne; leave; ret */
    static const unsigned char other[] = { 0x55, 0x48, 0x89, 0xe5, 0x8b, 0x45, 0xfc, 0x83, 0xc0, 0x01, 0x48, 0xb9,
                                           1,    2,    3,    4,    5,    6,    7,    8,    0xe8, 0x10, 0x20, 0,
                                           0,    0x3d, 0xe8, 3,    0,    0,    0x75, 0xf0, 0xc9, 0xc3 };
    static unsigned char all[ROOM];
    struct pct_raw_calls raw = { 0 };
    size_t size = 0, times = 0;
    for (size_t between = 0; between < 30; between += 3, times++) {
        for (size_t i = 0; i < between; i++, size += sizeof other)
            memcpy(all + size, other, sizeof other);
        memcpy(all + size, code, sizeof code);
        size += sizeof code;
        assert_true(size < ROOM - 1024);
    }
    pct_raw_calls_count(&raw, all, size);
    check(&raw, times);
}

/* Code that ends within an instruction, or has none. */
static void ends_are_no_instructions(void **unused)
{
    (void)unused;
    struct pct_raw_calls raw = { 0 };
    for (size_t size = 0; size < 3; size++)
        pct_raw_calls_count(&raw, (const unsigned char *)"\x0f\xc7", size);
    pct_raw_calls_count(&raw, (const unsigned char *)"\x90\xcd", 2);
    assert_int_equal(raw.total + raw.clock + raw.random + raw.legacy, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instructions_are_counted_where_they_are),
        cmocka_unit_test(likewise_far_from_each_other),
        cmocka_unit_test(ends_are_no_instructions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
