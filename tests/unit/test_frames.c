/* Whose locals others may know of: cli/binary/frames.c on bytes. Encodings as the assembler writes them. */
/* clang-format off: cmocka.h needs these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include <cli/binary/frames.h>
#include <string.h>

enum { FUNCTION_SIZE = 16, MOST = 3 };

static uint8_t code[MOST * FUNCTION_SIZE];
static struct pct_frame frames[MOST];
static size_t count;

static const uint8_t *bytes_of(const void *file, uint64_t address, uint64_t size)
{
    (void)size;
    return (const uint8_t *)file + address;
}

/* One more function, from the next multiple of FUNCTION_SIZE on; the rest are `nop`. */
static void add(const uint8_t *bytes, size_t size, bool part)
{
    const uint64_t from = count * FUNCTION_SIZE;
    assert_true(size <= FUNCTION_SIZE && count < MOST);
    memset(code + from, 0x90, FUNCTION_SIZE);
    memcpy(code + from, bytes, size);
    frames[count++] = (struct pct_frame){ .from = from, .to = from + FUNCTION_SIZE, .part = part };
}

#define ADD(part, ...) add((const uint8_t[]){ __VA_ARGS__ }, sizeof(const uint8_t[]){ __VA_ARGS__ }, part)

/* Which of them something may point into, as bits; they are forgotten. */
static unsigned pointed(void)
{
    unsigned which = 0;
    assert_true(pct_frames_look(frames, count, bytes_of, code));
    for (size_t i = 0; i < count; i++)
        which |= (unsigned)frames[i].pointed << i;
    count = 0;
    return which;
}

#define POINTED(...) (ADD(false, __VA_ARGS__), pointed())

static void test_without_frame(void **state)
{
    (void)state;
    /* sub $24, %rsp; movl $1, 12(%rsp); add $24, %rsp; ret */
    assert_int_equal(POINTED(0x48, 0x83, 0xec, 0x18, 0xc7, 0x44, 0x24, 0x0c, 1, 0, 0, 0, 0x48, 0x83, 0xc4, 0x18), 0);
    /* lea 12(%rsp), %rdi; lea (%rax,%rsp), %rdi; mov %rsp, %rdi; mov %rsp, (%rdi); push %rsp */
    assert_int_equal(POINTED(0x48, 0x8d, 0x7c, 0x24, 0x0c), 1);
    assert_int_equal(POINTED(0x48, 0x8d, 0x3c, 0x04), 1);
    assert_int_equal(POINTED(0x48, 0x89, 0xe7), 1);
    assert_int_equal(POINTED(0x48, 0x89, 0x27), 1);
    assert_int_equal(POINTED(0x54), 1);
    /* lea -64(%rsp), %rsp; mov %rbp, %rsp; push %rbx; lea 8(%rbp), %rdi: rbp is as any register here */
    assert_int_equal(POINTED(0x48, 0x8d, 0x64, 0x24, 0xc0), 0);
    assert_int_equal(POINTED(0x48, 0x89, 0xec), 0);
    assert_int_equal(POINTED(0x53), 0);
    assert_int_equal(POINTED(0x48, 0x8d, 0x7d, 0x08), 0);
    /* mov 8(%rsp), %eax: an argument, of which nobody has the address */
    assert_int_equal(POINTED(0x8b, 0x44, 0x24, 0x08), 0);
}

#define FRAME 0x55, 0x48, 0x89, 0xe5 /* push %rbp; mov %rsp, %rbp */

static void test_with_frame(void **state)
{
    (void)state;
    static const uint8_t plain[] = { FRAME, 0xc3 }, entered[] = { 0xf3, 0x0f, 0x1e, 0xfa, FRAME };
    assert_true(pct_frames_has_pointer(plain, sizeof plain));
    assert_true(pct_frames_has_pointer(entered, sizeof entered));
    assert_false(pct_frames_has_pointer(entered, sizeof entered - 1));
    assert_false(pct_frames_has_pointer(plain + 1, sizeof plain - 1));
    /* movl $1, -4(%rbp); leave; lea -4(%rbp), %rdi; mov %rbp, %rdi */
    assert_int_equal(POINTED(FRAME, 0xc7, 0x45, 0xfc, 1, 0, 0, 0, 0xc9), 0);
    assert_int_equal(POINTED(FRAME, 0x48, 0x8d, 0x7d, 0xfc), 1);
    assert_int_equal(POINTED(FRAME, 0x48, 0x89, 0xef), 1);
    /* sub $8, %rsp; push %rbp: an argument */
    assert_int_equal(POINTED(FRAME, 0x48, 0x83, 0xec, 0x08, 0x55), 1);
}

static void test_parts(void **state)
{
    (void)state;
    /* The first, with a pointer (mov %rsp, %rdi) or without, jumps to the second, or that one into it. */
    for (unsigned has = 0; has < 2; has++) {
        for (unsigned back = 0; back < 2; back++) {
            ADD(false, 0x48, 0x89, has ? 0xe7 : 0xc7, back ? 0x90 : 0xeb, back ? 0x90 : 11);
            ADD(true, back ? 0xeb : 0x90, back ? 0xf2 : 0x90);
            ADD(false, 0x90);
            assert_int_equal(pointed(), has ? 3 : 0);
        }
    }
    /* The second has the pointer. */
    ADD(false, 0x0f, 0x84, 10, 0, 0, 0); /* je */
    ADD(true, 0x48, 0x89, 0xe7);
    assert_int_equal(pointed(), 3);
    /* A call makes no part. */
    ADD(false, 0xe8, 11, 0, 0, 0);
    ADD(false, 0x48, 0x89, 0xe7);
    assert_int_equal(pointed(), 2);
}

/* A landing pad that exceptions alone come to, whatever its first instruction is: no branch tells whose it is. */
static void test_landing_pads(void **state)
{
    (void)state;
    /* push $3; addl $1, 0x1c(%rsp) */
    ADD(false, 0x90);
    ADD(true, 0x6a, 0x03, 0x83, 0x44, 0x24, 0x1c, 0x01);
    ADD(false, 0x90);
    assert_int_equal(pointed(), 2);
    /* It ends in a tail call. */
    ADD(false, 0x90);
    ADD(true, 0x6a, 0x03, 0xeb, 12);
    ADD(false, 0x90);
    assert_int_equal(pointed(), 6);
}

static void test_no_code(void **state)
{
    (void)state;
    ADD(false, 0x06);
    assert_false(pct_frames_look(frames, count, bytes_of, code));
    count = 0;
}

#define WITHIN(...)                                                                                                    \
    ({                                                                                                                 \
        static const uint8_t bytes_[] = { __VA_ARGS__ };                                                               \
        pct_frames_begins_within(bytes_, bytes_ + sizeof bytes_);                                                      \
    })

static void test_unwinding(void **state)
{
    (void)state;
    enum { NOP = 0, SAME = 0x08, REMEMBER = 0x0a, CFA = 0x0c, CFA_OFFSET = 0x0e, EXPRESSION = 0x0f };
    enum { ADVANCE = 0x40, OFFSET = 0x80, RESTORE = 0xc0, ADVANCE_BYTE = 0x02 };
    assert_false(WITHIN(NOP, NOP, NOP));
    assert_false(WITHIN(ADVANCE | 1, CFA_OFFSET, 16, OFFSET | 6, 2, ADVANCE | 3, CFA, 6, 16));
    assert_false(WITHIN(ADVANCE_BYTE, 100, CFA_OFFSET, 16));
    assert_false(WITHIN(CFA_OFFSET, 8, SAME, 3, ADVANCE | 1));
    assert_true(WITHIN(CFA_OFFSET, 32, OFFSET | 3, 2, ADVANCE | 7, CFA_OFFSET, 8));
    assert_true(WITHIN(OFFSET | 3, 0x82, 0x01, REMEMBER, RESTORE | 3, CFA_OFFSET, 0x88, 0x01));
    assert_true(WITHIN(CFA, 6, 16));
    assert_true(WITHIN(EXPRESSION, 1, 0x56));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_without_frame), cmocka_unit_test(test_with_frame),
                                        cmocka_unit_test(test_parts),         cmocka_unit_test(test_landing_pads),
                                        cmocka_unit_test(test_no_code),       cmocka_unit_test(test_unwinding) };
    return cmocka_run_group_tests_name("frames", tests, NULL, NULL);
}
