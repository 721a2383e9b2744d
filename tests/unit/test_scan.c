/* Finding the instructions to patch: cli/binary/instruction_scan.c on bytes. Encodings as the assembler writes them. */
/* clang-format off: cmocka.h needs these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include <cli/binary/instruction_scan.h>
#include <string.h>

enum { CODE = 0x1000, DATA = 0x3000, DATA_END = 0x4000 };

static struct pct_range globals[] = { { DATA, DATA_END } };

/* Scan one function at CODE. */
static struct pct_instruction_scan scan(unsigned level, bool fixed, const uint8_t *code, size_t size, bool *sound)
{
    struct pct_instruction_scan s = {
        .level = level, .from = CODE, .to = CODE + size, .globals = globals, .globals_count = 1, .fixed = fixed
    };
    bool ended;
    assert_true(pct_instruction_scan_start(&s));
    *sound = pct_instruction_scan_function(&s, code, size, CODE, &ended);
    pct_instruction_scan_finish(&s);
    return s;
}

#define SCAN(level, fixed, ...)                                                                                        \
    ({                                                                                                                 \
        static const uint8_t bytes_[] = { __VA_ARGS__ };                                                               \
        bool sound_;                                                                                                   \
        struct pct_instruction_scan sites_ = scan(level, fixed, bytes_, sizeof bytes_, &sound_);                       \
        assert_true(sound_);                                                                                           \
        sites_;                                                                                                        \
    })

static void expect_one(struct pct_instruction_scan s, enum pct_site_kind kind, unsigned length, unsigned size)
{
    assert_int_equal(s.count, 1);
    assert_int_equal(s.sites[0].address, CODE);
    assert_int_equal(s.sites[0].kind, kind);
    assert_int_equal(s.sites[0].length, length);
    assert_int_equal(s.sites[0].size, size);
    pct_instruction_scan_free(&s);
}

static void expect_none(struct pct_instruction_scan s)
{
    assert_int_equal(s.count, 0);
    pct_instruction_scan_free(&s);
}

static void test_atomics(void **state)
{
    (void)state;
    /* lock addl $1, (%rdi); xchg %eax, (%rdi); lock cmpxchg %rcx, (%rdi); mfence; lock orl $0, (%rsp); pause */
    expect_one(SCAN(PCT_PATCH_ATOMICS, false, 0xf0, 0x83, 0x07, 0x01), PCT_SITE_ATOMIC, 4, 4);
    expect_one(SCAN(PCT_PATCH_ATOMICS, false, 0x87, 0x07), PCT_SITE_EXCHANGE, 2, 4);
    expect_one(SCAN(PCT_PATCH_ATOMICS, false, 0xf0, 0x48, 0x0f, 0xb1, 0x0f), PCT_SITE_COMPARE, 5, 8);
    expect_one(SCAN(PCT_PATCH_ATOMICS, false, 0x0f, 0xae, 0xf0), PCT_SITE_FENCE, 3, 0);
    expect_one(SCAN(PCT_PATCH_ATOMICS, false, 0xf0, 0x83, 0x0c, 0x24, 0x00), PCT_SITE_FENCE, 5, 0);
    expect_one(SCAN(PCT_PATCH_ATOMICS, false, 0xf3, 0x90), PCT_SITE_PAUSE, 2, 0);
    /* xchg %eax, %ecx; lock addl $1, %fs:0x10 */
    expect_none(SCAN(PCT_PATCH_ALL, false, 0x91));
    expect_none(SCAN(PCT_PATCH_ALL, false, 0x64, 0xf0, 0x83, 0x04, 0x25, 0x10, 0, 0, 0, 0x01));
}

static void test_exchanged_register(void **state)
{
    (void)state;
    /* xchg %r9b, (%rdi); xchg %ah, (%rdi), whose value is not that of the lowest byte of a register */
    struct pct_instruction_scan s = SCAN(PCT_PATCH_ATOMICS, false, 0x44, 0x86, 0x0f);
    assert_int_equal(s.sites[0].value, 9);
    pct_instruction_scan_free(&s);
    s = SCAN(PCT_PATCH_ATOMICS, false, 0x86, 0x27);
    assert_int_equal(s.sites[0].value, PCT_SITE_NO_REGISTER);
    pct_instruction_scan_free(&s);
}

static void expect_call(struct pct_instruction_scan s, unsigned length, bool returns)
{
    assert_int_equal(s.count, 1);
    assert_int_equal(s.sites[0].call, returns ? length : 0);
    expect_one(s, PCT_SITE_CALL, length, 8);
}

static void test_calls(void **state)
{
    (void)state;
    /* call *DATA(%rip), jmp *DATA(%rip), notrack jmp *DATA(%rip); call *DATA(, %rax, 8), jmp *DATA(, %rax, 8) */
    expect_call(SCAN(PCT_PATCH_GLOBALS, false, 0xff, 0x15, 0xfa, 0x1f, 0, 0), 6, true);
    expect_call(SCAN(PCT_PATCH_ALL, false, 0xff, 0x25, 0xfa, 0x1f, 0, 0), 6, false);
    expect_call(SCAN(PCT_PATCH_GLOBALS, false, 0x3e, 0xff, 0x25, 0xf9, 0x1f, 0, 0), 7, false);
    expect_call(SCAN(PCT_PATCH_GLOBALS, true, 0xff, 0x14, 0xc5, 0, 0x30, 0, 0), 7, true);
    expect_call(SCAN(PCT_PATCH_GLOBALS, true, 0xff, 0x24, 0xc5, 0, 0x30, 0, 0), 7, false);
    /* of no global, or not asked for: those of the linker's table are no globals */
    expect_none(SCAN(PCT_PATCH_ATOMICS, false, 0xff, 0x15, 0xfa, 0x1f, 0, 0));
    expect_none(SCAN(PCT_PATCH_GLOBALS, false, 0xff, 0x15, 0xfa, 0x2f, 0, 0));
    expect_none(SCAN(PCT_PATCH_GLOBALS, false, 0xff, 0x14, 0xc5, 0, 0x30, 0, 0));
    /* call *(%rax) */
    expect_none(SCAN(PCT_PATCH_GLOBALS, false, 0xff, 0x10));
    expect_call(SCAN(PCT_PATCH_ALL, false, 0xff, 0x10), 2, true);
    /* push DATA(%rip) is counted */
    struct pct_instruction_scan s = SCAN(PCT_PATCH_GLOBALS, false, 0xff, 0x35, 0xfa, 0x1f, 0, 0);
    assert_int_equal(s.omitted[PCT_PLAN_OMITTED_CONTROL], 1);
    expect_none(s);
}

/* Where a function that the user has named returns, there is one site. */
static void test_call_in_site(void **state)
{
    (void)state;
    static const uint8_t code[] = { 0xff, 0x25, 0xfa, 0x1f, 0, 0 };
    struct pct_instruction_scan s = {
        .level = PCT_PATCH_GLOBALS, .from = CODE, .to = CODE + sizeof code, .globals = globals, .globals_count = 1
    };
    bool ended;
    assert_true(pct_instruction_scan_start(&s));
    assert_true(pct_instruction_scan_function(&s, code, sizeof code, CODE, &ended));
    struct pct_plan_site place = pct_instruction_scan_site(CODE, code, sizeof code);
    place.kind = PCT_SITE_PLACE;
    pct_instruction_scan_add(&s, &place);
    pct_instruction_scan_finish(&s);
    assert_int_equal(s.omitted[PCT_PLAN_OMITTED_CONTROL], 1);
    expect_one(s, PCT_SITE_PLACE, 6, 0);
}

static void test_globals(void **state)
{
    (void)state;
    /* mov 0x2000(%rip), %eax: 0x1006 + 0x2000 is in the data; with 0x10 it is not */
    struct pct_instruction_scan s = SCAN(PCT_PATCH_GLOBALS, false, 0x8b, 0x05, 0x00, 0x20, 0x00, 0x00);
    assert_true(s.sites[0].flags & PCT_SITE_RELATIVE);
    assert_int_equal(s.sites[0].displacement_at, 2);
    assert_int_equal(s.sites[0].displacement, 0x2000);
    expect_one(s, PCT_SITE_READ, 6, 4);
    expect_none(SCAN(PCT_PATCH_GLOBALS, false, 0x8b, 0x05, 0x10, 0x00, 0x00, 0x00));
    expect_none(SCAN(PCT_PATCH_ATOMICS, false, 0x8b, 0x05, 0x00, 0x20, 0x00, 0x00));
    /* addl $1, 0x2000(%rip) */
    expect_one(SCAN(PCT_PATCH_GLOBALS, false, 0x83, 0x05, 0x00, 0x20, 0x00, 0x00, 0x01), PCT_SITE_UPDATE, 7, 4);
    /* mov %eax, 0x3010(,%rcx,4): the data of a module that is not moved */
    static const uint8_t indexed[] = { 0x89, 0x04, 0x8d, 0x10, 0x30, 0x00, 0x00 };
    bool sound;
    s = scan(PCT_PATCH_GLOBALS, true, indexed, sizeof indexed, &sound);
    assert_int_equal(s.sites[0].base, PCT_SITE_NO_REGISTER);
    assert_int_equal(s.sites[0].index, 1);
    assert_int_equal(s.sites[0].scale, 4);
    expect_one(s, PCT_SITE_WRITE, 7, 4);
    expect_none(scan(PCT_PATCH_GLOBALS, false, indexed, sizeof indexed, &sound));
    /* lea 0x2000(%rip), %rax */
    expect_none(SCAN(PCT_PATCH_GLOBALS, false, 0x48, 0x8d, 0x05, 0x00, 0x20, 0x00, 0x00));
}

#define LEA_DATA 0x48, 0x8d, 0x05, 0xf9, 0x1f, 0, 0 /* lea DATA(%rip), %rax, at CODE */

/* An access by an address that the function has taken. */
static void expect_taken(struct pct_instruction_scan s, unsigned at)
{
    assert_int_equal(s.count, 1);
    assert_int_equal(s.sites[0].address, CODE + at);
    pct_instruction_scan_free(&s);
}

static void test_taken_addresses(void **state)
{
    (void)state;
    /* mov (%rax,%rdx,4), %ecx; mov (%rdx,%rax), %ecx; not mov (%rdx,%rax,4), nor an access by atomics alone */
    struct pct_instruction_scan s = SCAN(PCT_PATCH_GLOBALS, false, LEA_DATA, 0x8b, 0x0c, 0x90);
    assert_int_equal(s.sites[0].kind, PCT_SITE_READ);
    assert_int_equal(s.sites[0].base, 0);
    assert_int_equal(s.sites[0].index, 2);
    expect_taken(s, 7);
    expect_taken(SCAN(PCT_PATCH_GLOBALS, false, LEA_DATA, 0x8b, 0x0c, 0x02), 7);
    expect_none(SCAN(PCT_PATCH_GLOBALS, false, LEA_DATA, 0x8b, 0x0c, 0x82));
    expect_none(SCAN(PCT_PATCH_ATOMICS, false, LEA_DATA, 0x8b, 0x0c, 0x90));
    /* what lies elsewhere: lea 0x10(%rip), %rax; mov (%rax), %ecx */
    expect_none(SCAN(PCT_PATCH_GLOBALS, false, 0x48, 0x8d, 0x05, 0x10, 0, 0, 0, 0x8b, 0x08));
    /* mov $DATA, %eax; mov (%rax), %ecx, where modules stay; lea DATA(,%rdi,4), %rax; mov (%rax), %ecx */
    expect_taken(SCAN(PCT_PATCH_GLOBALS, true, 0xb8, 0, 0x30, 0, 0, 0x8b, 0x08), 5);
    expect_none(SCAN(PCT_PATCH_GLOBALS, false, 0xb8, 0, 0x30, 0, 0, 0x8b, 0x08));
    expect_taken(SCAN(PCT_PATCH_GLOBALS, true, 0x48, 0x8d, 0x04, 0xbd, 0, 0x30, 0, 0, 0x8b, 0x08), 8);
}

static void test_addresses_move(void **state)
{
    (void)state;
    /* add %rdi, %rax; add %rax, %rdi; lea 8(%rax,%rdi), %rdi; cmovne %rax, %rdi; inc %rax: and an access */
    expect_taken(SCAN(PCT_PATCH_GLOBALS, false, LEA_DATA, 0x48, 0x01, 0xf8, 0x8b, 0x08), 10);
    expect_taken(SCAN(PCT_PATCH_GLOBALS, false, LEA_DATA, 0x48, 0x01, 0xc7, 0x8b, 0x0f), 10);
    expect_taken(SCAN(PCT_PATCH_GLOBALS, false, LEA_DATA, 0x48, 0x8d, 0x7c, 0x38, 0x08, 0x8b, 0x0f), 12);
    expect_taken(SCAN(PCT_PATCH_GLOBALS, false, LEA_DATA, 0x48, 0x0f, 0x45, 0xf8, 0x8b, 0x0f), 11);
    expect_taken(SCAN(PCT_PATCH_GLOBALS, false, LEA_DATA, 0x48, 0xff, 0xc0, 0x8b, 0x08), 10);
    /* written anew: mov (%rdi), %rax; sub %rax, %rax; xor %eax, %eax; pop %rax */
    expect_none(SCAN(PCT_PATCH_GLOBALS, false, LEA_DATA, 0x48, 0x8b, 0x07, 0x8b, 0x08));
    expect_none(SCAN(PCT_PATCH_GLOBALS, false, LEA_DATA, 0x48, 0x29, 0xc0, 0x8b, 0x08));
    expect_none(SCAN(PCT_PATCH_GLOBALS, false, LEA_DATA, 0x31, 0xc0, 0x8b, 0x08));
    expect_none(SCAN(PCT_PATCH_GLOBALS, false, LEA_DATA, 0x58, 0x8b, 0x08));
    /* mov %rax, %rbx, a call, mov (%rbx), %ecx; a call, mov (%rax), %ecx */
    expect_taken(SCAN(PCT_PATCH_GLOBALS, false, LEA_DATA, 0x48, 0x89, 0xc3, 0xe8, 0, 0, 0, 0, 0x8b, 0x0b), 15);
    expect_none(SCAN(PCT_PATCH_GLOBALS, false, LEA_DATA, 0xe8, 0, 0, 0, 0, 0x8b, 0x08));
}

static void test_addresses_branch(void **state)
{
    (void)state;
    /* behind a return, where a branch leads or none: jne 1f; ret; 1: mov (%rax), %ecx */
    expect_taken(SCAN(PCT_PATCH_GLOBALS, false, LEA_DATA, 0x75, 0x01, 0xc3, 0x8b, 0x08), 10);
    expect_none(SCAN(PCT_PATCH_GLOBALS, false, LEA_DATA, 0xc3, 0x8b, 0x08));
    /* a loop whose condition stands at its end: jmp 2f; 1: mov (%rax), %ecx; 2: cmp %edx, %edi; jne 1b */
    expect_taken(SCAN(PCT_PATCH_GLOBALS, false, LEA_DATA, 0xeb, 0x02, 0x8b, 0x08, 0x39, 0xd7, 0x75, 0xfa), 9);
    /* branches out of the function, forward and back */
    expect_none(SCAN(PCT_PATCH_GLOBALS, false, LEA_DATA, 0x75, 0x7f, 0x75, 0x80, 0xc3, 0x8b, 0x08));
}

static void test_all(void **state)
{
    (void)state;
    /* mov (%rdi), %eax; mov (%rsp), %eax; mov -8(%rbp), %eax without and with a frame */
    expect_one(SCAN(PCT_PATCH_ALL, false, 0x8b, 0x07), PCT_SITE_READ, 2, 4);
    expect_none(SCAN(PCT_PATCH_ALL, false, 0x8b, 0x04, 0x24));
    expect_one(SCAN(PCT_PATCH_ALL, false, 0x8b, 0x45, 0xf8), PCT_SITE_READ, 3, 4);
    expect_none(SCAN(PCT_PATCH_ALL, false, 0x55, 0x48, 0x89, 0xe5, 0x8b, 0x45, 0xf8));
    /* nopw (%rax,%rax); prefetcht0 (%rdi); movl %fs:0x10, %eax */
    expect_none(SCAN(PCT_PATCH_ALL, false, 0x66, 0x0f, 0x1f, 0x04, 0x00));
    expect_none(SCAN(PCT_PATCH_ALL, false, 0x0f, 0x18, 0x0f));
    expect_none(SCAN(PCT_PATCH_ALL, false, 0x64, 0x8b, 0x04, 0x25, 0x10, 0, 0, 0));
}

static void test_omitted(void **state)
{
    (void)state;
    /* rep movsb has no place of its own; bts %rax, (%rdi) may touch a place far away, bts $1, (%rdi) may not */
    struct pct_instruction_scan s = SCAN(PCT_PATCH_ALL, false, 0xf3, 0xa4);
    assert_int_equal(s.omitted[PCT_PLAN_OMITTED_STRING], 1);
    expect_none(s);
    /* movsb, and stosl, are of one byte; push %rax is none */
    s = SCAN(PCT_PATCH_ALL, false, 0xa4, 0xab, 0x50);
    assert_int_equal(s.omitted[PCT_PLAN_OMITTED_STRING], 2);
    expect_none(s);
    expect_none(SCAN(PCT_PATCH_ATOMICS, false, 0xa4));
    s = SCAN(PCT_PATCH_ALL, false, 0x48, 0x0f, 0xab, 0x07);
    assert_int_equal(s.omitted[PCT_PLAN_OMITTED_OTHER], 1);
    expect_none(s);
    expect_one(SCAN(PCT_PATCH_ALL, false, 0x0f, 0xba, 0x2f, 0x01), PCT_SITE_UPDATE, 4, 4);
    /* lock bts %ecx, (%rdi) is an atomic access, wherever; lock bts $1, (%rdi) */
    s = SCAN(PCT_PATCH_ATOMICS, false, 0xf0, 0x0f, 0xab, 0x0f);
    assert_int_equal(s.sites[0].value, 1);
    expect_one(s, PCT_SITE_ATOMIC, 4, 4);
    s = SCAN(PCT_PATCH_ATOMICS, false, 0xf0, 0x0f, 0xba, 0x2f, 0x01);
    assert_int_equal(s.sites[0].value, PCT_SITE_NO_REGISTER);
    expect_one(s, PCT_SITE_ATOMIC, 5, 4);
}

static void test_entered(void **state)
{
    (void)state;
    /* lock addl $1, (%rdi); jmp to behind the prefix, to its start */
    struct pct_instruction_scan s = SCAN(PCT_PATCH_ALL, false, 0xf0, 0x83, 0x07, 0x01, 0xeb, 0xfb);
    assert_true(s.sites[0].flags & PCT_SITE_ENTERED);
    pct_instruction_scan_free(&s);
    s = SCAN(PCT_PATCH_ALL, false, 0xf0, 0x83, 0x07, 0x01, 0xeb, 0xfa);
    assert_false(s.sites[0].flags & PCT_SITE_ENTERED);
    pct_instruction_scan_free(&s);
}

static void test_no_code(void **state)
{
    (void)state;
    static const uint8_t bad[] = { 0x90, 0x06, 0x07 }, cut[] = { 0x90, 0x8b };
    bool sound;
    struct pct_instruction_scan s = scan(PCT_PATCH_ALL, false, bad, sizeof bad, &sound);
    assert_false(sound);
    pct_instruction_scan_free(&s);
    s = scan(PCT_PATCH_ALL, false, cut, sizeof cut, &sound);
    assert_false(sound);
    pct_instruction_scan_free(&s);
}

static void test_pads(void **state)
{
    (void)state;
    /* ret; six bytes of nops; nop. Then the same after an instruction that goes on, and with a branch into it. */
    struct pct_instruction_scan s = SCAN(PCT_PATCH_ALL, false, 0xc3, 0x66, 0x0f, 0x1f, 0x44, 0, 0, 0x90, 0xc3);
    assert_int_equal(s.pad_count, 1);
    assert_int_equal(s.pads[0].address, CODE + 1);
    assert_int_equal(s.pads[0].size, 7);
    pct_instruction_scan_free(&s);
    s = SCAN(PCT_PATCH_ALL, false, 0x90, 0x66, 0x0f, 0x1f, 0x44, 0, 0, 0x90, 0xc3);
    assert_int_equal(s.pad_count, 0);
    pct_instruction_scan_free(&s);
    s = SCAN(PCT_PATCH_ALL, false, 0xeb, 0x08, 0xc3, 0x66, 0x0f, 0x1f, 0x44, 0, 0, 0x90, 0xc3);
    assert_int_equal(s.pad_count, 1); /* to the ret behind it... */
    pct_instruction_scan_free(&s);
    s = SCAN(PCT_PATCH_ALL, false, 0xeb, 0x01, 0xc3, 0x66, 0x0f, 0x1f, 0x44, 0, 0, 0x90, 0xc3);
    assert_int_equal(s.pad_count, 0); /* ...and into it */
    pct_instruction_scan_free(&s);
}

static void test_gaps(void **state)
{
    (void)state;
    static const uint8_t fill[] = { 0xcc, 0xcc, 0xcc, 0x0f, 0x1f, 0x00 }, table[] = { 0xcc, 1, 2, 3, 4, 5, 6 };
    struct pct_instruction_scan s = { .level = PCT_PATCH_ALL, .from = CODE, .to = CODE + 64 };
    assert_true(pct_instruction_scan_start(&s));
    pct_instruction_scan_gap(&s, fill, sizeof fill, CODE, false); /* something falls into it */
    pct_instruction_scan_gap(&s, table, sizeof table, CODE, true);
    assert_int_equal(s.pad_count, 0);
    pct_instruction_scan_gap(&s, fill, sizeof fill, CODE, true);
    pct_instruction_scan_gap(&s, fill, 2, CODE + 32, true); /* for a return before it, until then */
    assert_int_equal(s.pad_count, 2);
    pct_instruction_scan_finish(&s);
    assert_int_equal(s.pad_count, 1);
    pct_instruction_scan_free(&s);
}

/* One site, not at the start. */
static void expect_look(struct pct_instruction_scan s, unsigned offset, unsigned size)
{
    assert_int_equal(s.count, 1);
    assert_int_equal(s.sites[0].address, CODE + offset);
    assert_int_equal(s.sites[0].kind, PCT_SITE_LOOK);
    assert_int_equal(s.sites[0].size, size);
    assert_true(s.sites[0].flags & PCT_SITE_WAITS);
    pct_instruction_scan_free(&s);
}

static void test_waits(void **state)
{
    (void)state;
    /* 1: mov (%rdi), %eax; test %eax, %eax; je 1b */
    expect_look(SCAN(PCT_PATCH_ATOMICS, false, 0x8b, 0x07, 0x85, 0xc0, 0x74, 0xfa), 0, 4);
    expect_look(SCAN(PCT_PATCH_GLOBALS, false, 0x8b, 0x07, 0x85, 0xc0, 0x74, 0xfa), 0, 4);
    /* with a counter: 2: sub $1, %ecx; je 3f; mov 8(%rbp), %rdx; test %rdx, %rdx; je 2b; 3: */
    expect_look(SCAN(PCT_PATCH_ATOMICS, false, 0x83, 0xe9, 0x01, 0x74, 0x09, 0x48, 0x8b, 0x55, 0x08, 0x48, 0x85, 0xd2,
                     0x74, 0xf2),
                5, 8);
    /* over an array, again and again: 8: mov %rsi, %rax; xor %ecx, %ecx; 9: add (%rax), %ecx; add $64, %rax; cmp %rdi,
     * %rax; jne 9b; test %ecx, %ecx; jne 8b */
    expect_look(SCAN(PCT_PATCH_ATOMICS, false, 0x48, 0x89, 0xf0, 0x31, 0xc9, 0x03, 0x08, 0x48, 0x83, 0xc0, 0x40, 0x48,
                     0x39, 0xf8, 0x75, 0xf5, 0x85, 0xc9, 0x75, 0xec),
                5, 4);
    /* mov 0x2000(%rip), %eax; test %eax, %eax; je: a site already, or not */
    struct pct_instruction_scan s =
        SCAN(PCT_PATCH_GLOBALS, false, 0x8b, 0x05, 0x00, 0x20, 0, 0, 0x85, 0xc0, 0x74, 0xf6);
    assert_true(s.sites[0].flags & PCT_SITE_WAITS);
    expect_one(s, PCT_SITE_READ, 6, 4);
    expect_look(SCAN(PCT_PATCH_ATOMICS, false, 0x8b, 0x05, 0x00, 0x20, 0, 0, 0x85, 0xc0, 0x74, 0xf6), 0, 4);
}

static void test_no_waits(void **state)
{
    (void)state;
    /* along a string: add $1, %rdi; cmpb $0, (%rdi); jne */
    expect_none(SCAN(PCT_PATCH_GLOBALS, false, 0x48, 0x83, 0xc7, 0x01, 0x80, 0x3f, 0x00, 0x75, 0xf7));
    /* along a list: mov (%rax), %rax; test %rax, %rax; jne */
    expect_none(SCAN(PCT_PATCH_GLOBALS, false, 0x48, 0x8b, 0x00, 0x48, 0x85, 0xc0, 0x75, 0xf8));
    /* a loop that writes: mov (%rdi), %eax; mov %eax, (%rsi); test %eax, %eax; je */
    expect_none(SCAN(PCT_PATCH_GLOBALS, false, 0x8b, 0x07, 0x89, 0x06, 0x85, 0xc0, 0x74, 0xf8));
    /* one that calls: mov (%rdi), %eax; call *%rbx; test %eax, %eax; je */
    expect_none(SCAN(PCT_PATCH_GLOBALS, false, 0x8b, 0x07, 0xff, 0xd3, 0x85, 0xc0, 0x74, 0xf8));
    /* one that adds up a table, once for each of something: as above, without the xor */
    expect_none(SCAN(PCT_PATCH_GLOBALS, false, 0x48, 0x89, 0xf0, 0x03, 0x08, 0x48, 0x83, 0xc0, 0x40, 0x48, 0x39, 0xf8,
                     0x75, 0xf5, 0x85, 0xc9, 0x75, 0xee));
    /* what it reads decides nothing: mov (%rdi), %eax; sub $1, %edx; jne */
    expect_none(SCAN(PCT_PATCH_GLOBALS, false, 0x8b, 0x07, 0x83, 0xea, 0x01, 0x75, 0xf9));
    /* on the thread's own stack: mov 8(%rsp), %eax; test %eax, %eax; je */
    expect_none(SCAN(PCT_PATCH_GLOBALS, false, 0x8b, 0x44, 0x24, 0x08, 0x85, 0xc0, 0x74, 0xf8));
    /* no loop, but a path that goes back to the other: mov (%rdi), %eax; jmp to it */
    expect_none(SCAN(PCT_PATCH_GLOBALS, false, 0x8b, 0x07, 0xeb, 0xfc));
    /* a constant: mov 0x10(%rip), %eax; test %eax, %eax; je */
    expect_none(SCAN(PCT_PATCH_GLOBALS, false, 0x8b, 0x05, 0x10, 0, 0, 0, 0x85, 0xc0, 0x74, 0xf6));
    /* pause; mov (%rdi), %eax; test %eax, %eax; je: the pause is enough */
    expect_one(SCAN(PCT_PATCH_ATOMICS, false, 0xf3, 0x90, 0x8b, 0x07, 0x85, 0xc0, 0x74, 0xf8), PCT_SITE_PAUSE, 2, 0);
}

/* movl $1, %fs:-4; movl $1, 8(%rsp): below the thread pointer stand the thread's variables, above it what is libc's;
 * locals, where somebody may point to them. */
static void test_stacks(void **state)
{
    (void)state;
    static const uint8_t own[] = { 0x64, 0xc7, 0x04, 0x25, 0xfc, 0xff, 0xff, 0xff, 1, 0, 0, 0 };
    static const uint8_t libcs[] = { 0x64, 0xc7, 0x04, 0x25, 0x10, 0, 0, 0, 1, 0, 0, 0 };
    static const uint8_t indexed[] = { 0x64, 0xc7, 0x00, 1, 0, 0, 0 }; /* %fs:(%rax) */
    static const uint8_t local[] = { 0xc7, 0x44, 0x24, 0x08, 1, 0, 0, 0 };
    bool sound;
    struct pct_instruction_scan s = scan(PCT_PATCH_STACKS, false, own, sizeof own, &sound);
    assert_int_equal(s.sites[0].base, PCT_SITE_THREAD_POINTER);
    assert_int_equal(s.sites[0].displacement, -4);
    expect_one(s, PCT_SITE_WRITE, sizeof own, 4);
    expect_none(scan(PCT_PATCH_ALL, false, own, sizeof own, &sound));
    expect_none(scan(PCT_PATCH_STACKS, false, libcs, sizeof libcs, &sound));
    expect_one(scan(PCT_PATCH_STACKS, false, indexed, sizeof indexed, &sound), PCT_SITE_WRITE, sizeof indexed, 4);
    for (unsigned pointed = 0; pointed < 2; pointed++) {
        bool ended;
        s = (struct pct_instruction_scan){
            .level = PCT_PATCH_STACKS, .from = CODE, .to = CODE + sizeof local, .pointed = pointed
        };
        assert_true(pct_instruction_scan_start(&s));
        assert_true(pct_instruction_scan_function(&s, local, sizeof local, CODE, &ended));
        pct_instruction_scan_finish(&s);
        assert_int_equal(s.count, pointed);
        pct_instruction_scan_free(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stacks),
        cmocka_unit_test(test_atomics),
        cmocka_unit_test(test_exchanged_register),
        cmocka_unit_test(test_calls),
        cmocka_unit_test(test_call_in_site),
        cmocka_unit_test(test_globals),
        cmocka_unit_test(test_taken_addresses),
        cmocka_unit_test(test_addresses_move),
        cmocka_unit_test(test_addresses_branch),
        cmocka_unit_test(test_all),
        cmocka_unit_test(test_omitted),
        cmocka_unit_test(test_entered),
        cmocka_unit_test(test_no_code),
        cmocka_unit_test(test_pads),
        cmocka_unit_test(test_gaps),
        cmocka_unit_test(test_waits),
        cmocka_unit_test(test_no_waits),
    };
    return cmocka_run_group_tests_name("scan", tests, NULL, NULL);
}
