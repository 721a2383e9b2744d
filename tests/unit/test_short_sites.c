/* What may move with a short site: cli/binary/short_sites.c on bytes. Encodings as the assembler writes them. */
/* clang-format off: cmocka.h needs these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include <cli/binary/short_sites.h>
#include <string.h>

enum { CODE = 0x1000, SITE = 2 /* bytes of xchg %edi, (%rax) */ };

static const uint8_t *bytes_of(const void *file, uint64_t address, uint64_t size)
{
    (void)size;
    return (const uint8_t *)file + (address - CODE);
}

static bool fixed; /* the code is an executable's, which is not moved */

/* Of the first site, the bytes that may move with it. second: where another function begins; 0: there is none. */
static unsigned more(const uint8_t *code, size_t size, size_t second, bool part)
{
    struct pct_instruction_scan scan = { .level = PCT_PATCH_ATOMICS, .from = CODE, .to = CODE + size, .fixed = fixed };
    const struct pct_frame functions[] = { { .from = CODE, .to = CODE + (second ? second : size), .part = part },
                                           { .from = CODE + second, .to = CODE + size } };
    bool ended;
    assert_true(pct_instruction_scan_start(&scan));
    for (size_t i = 0; i <= (second != 0); i++)
        assert_true(pct_instruction_scan_function(&scan, code + (functions[i].from - CODE),
                                                  functions[i].to - functions[i].from, functions[i].from, &ended));
    pct_instruction_scan_finish(&scan);
    pct_short_sites_extend(&scan, functions, second ? 2 : 1, bytes_of, code);
    assert_true(scan.count > 0);
    assert_int_equal(scan.sites[0].length, SITE);
    const unsigned found = scan.sites[0].more;
    pct_instruction_scan_free(&scan);
    return found;
}

#define XCHG 0x87, 0x38
#define MORE(second, part, ...)                                                                                        \
    ({                                                                                                                 \
        static const uint8_t bytes_[] = { __VA_ARGS__ };                                                               \
        more(bytes_, sizeof bytes_, second, part);                                                                     \
    })

static void test_moves(void **state)
{
    (void)state;
    assert_int_equal(MORE(0, false, XCHG, 0xb8, 0, 0, 0, 0, 0xc3), 5);             /* mov $0, %eax */
    assert_int_equal(MORE(0, false, XCHG, 0x31, 0xc0, 0x5b, 0xc3), 3);             /* xor %eax, %eax; pop %rbx */
    assert_int_equal(MORE(0, false, XCHG, 0x0f, 0x1f, 0x00, 0xc3), 3);             /* nopl (%rax) */
    assert_int_equal(MORE(0, false, XCHG, 0x48, 0x8d, 0x04, 0x90, 0xc3), 4);       /* lea (%rax, %rdx, 4), %rax */
    assert_int_equal(MORE(0, false, XCHG, 0x48, 0x8b, 0x44, 0x24, 0x08, 0xc3), 5); /* mov 8(%rsp), %rax */
    assert_int_equal(MORE(0, false, XCHG, 0x99, 0x48, 0x98, 0xc3), 3);             /* cltd; cltq */
    assert_int_equal(MORE(0, false, XCHG, 0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8, 0xc3), 10); /* movabs */
}

static void test_stays(void **state)
{
    (void)state;
    assert_int_equal(MORE(0, false, XCHG, 0xc3), 0);                               /* ret: too few */
    assert_int_equal(MORE(0, false, XCHG, 0x85, 0xff, 0x75, 0xfa, 0xc3), 0);       /* test; jne: goes elsewhere */
    assert_int_equal(MORE(0, false, XCHG, 0xe8, 0, 0, 0, 0, 0xc3), 0);             /* call */
    assert_int_equal(MORE(0, false, XCHG, 0x8b, 0x40, 0x08, 0xc3), 0);             /* mov 8(%rax), %eax: may fail */
    assert_int_equal(MORE(0, false, XCHG, 0x48, 0x8d, 0x05, 0, 1, 0, 0, 0xc3), 0); /* lea 0x100(%rip), %rax */
    assert_int_equal(MORE(0, false, XCHG, 0xf7, 0xf1, 0x90, 0xc3), 0);             /* div %ecx: may fail */
    assert_int_equal(MORE(0, false, XCHG, 0xf2, 0x0f, 0x2c, 0xc8, 0xc3), 0);       /* cvttsd2si: may trap */
    assert_int_equal(MORE(0, false, XCHG, 0x87, 0x10, 0x90, 0x90, 0x90, 0xc3), 0); /* a site of its own */
    assert_int_equal(MORE(0, false, XCHG, 0x90, 0xf3, 0x90, 0x90, 0xc3), 0);       /* pause, likewise */
    assert_int_equal(MORE(0, false, XCHG, 0x9d, 0x31, 0xc0, 0xc3), 0);             /* popf: may trap */
    assert_int_equal(MORE(0, false, XCHG, 0x0f, 0x0b, 0x90, 0xc3), 0);             /* ud2 */
    assert_int_equal(MORE(0, false, XCHG, 0x8e, 0xd8, 0x90, 0xc3), 0);             /* mov %eax, %ds */
}

/* Nothing else may lead to what moves. */
static void test_led_to(void **state)
{
    (void)state;
    /* mov $0, %eax; then jne back to it, or to the site, which stays where it is */
    assert_int_equal(MORE(0, false, XCHG, 0xb8, 0, 0, 0, 0, 0x75, 0xf9, 0xc3), 0);
    assert_int_equal(MORE(0, false, XCHG, 0xb8, 0, 0, 0, 0, 0x75, 0xf7, 0xc3), 5);
    /* jmp *%rdx, jmp *0x100(%rip): anywhere in the function */
    assert_int_equal(MORE(0, false, XCHG, 0xb8, 0, 0, 0, 0, 0xff, 0xe2), 0);
    assert_int_equal(MORE(0, false, XCHG, 0xb8, 0, 0, 0, 0, 0xff, 0x25, 0, 1, 0, 0), 0);
    /* lea, in another function, of its address: somebody goes there later; or of the site's */
    assert_int_equal(MORE(8, false, XCHG, 0xb8, 0, 0, 0, 0, 0xc3, 0x48, 0x8d, 0x05, 0xf3, 0xff, 0xff, 0xff, 0xc3), 0);
    assert_int_equal(MORE(8, false, XCHG, 0xb8, 0, 0, 0, 0, 0xc3, 0x48, 0x8d, 0x05, 0xf1, 0xff, 0xff, 0xff, 0xc3), 5);
    /* mov $0x1002, %eax: the same where code stands at fixed addresses; else a number */
    assert_int_equal(MORE(8, false, XCHG, 0xb8, 0, 0, 0, 0, 0xc3, 0xb8, 0x02, 0x10, 0, 0, 0xc3), 5);
    fixed = true;
    assert_int_equal(MORE(8, false, XCHG, 0xb8, 0, 0, 0, 0, 0xc3, 0xb8, 0x02, 0x10, 0, 0, 0xc3), 0);
    fixed = false;
    /* a part of a function, by its table or as it goes on in the middle of another one; where that begins is a call */
    assert_int_equal(MORE(0, true, XCHG, 0xb8, 0, 0, 0, 0, 0xc3), 0);
    assert_int_equal(MORE(9, false, XCHG, 0xb8, 0, 0, 0, 0, 0xeb, 0x01, 0x90, 0xc3), 0);
    assert_int_equal(MORE(9, false, XCHG, 0xb8, 0, 0, 0, 0, 0xeb, 0x00, 0x90, 0xc3), 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_moves), cmocka_unit_test(test_stays),
                                        cmocka_unit_test(test_led_to) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
