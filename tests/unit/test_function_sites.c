/* Where functions begin and return: cli/binary/function_sites.c on bytes. Encodings as the assembler writes them. */
/* clang-format off: cmocka.h needs these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include <cli/binary/function_sites.h>
#include <stdlib.h>
#include <string.h>

enum { CODE = 0x1000, AFTER = 0x40 /* bytes: where a second function begins */ };

/* What was found of the function at CODE, and its bytes. */
struct found {
    struct pct_instruction_scan scan;
    struct pct_function_sites sites;
};

static const uint8_t *bytes_of(const void *file, uint64_t address, uint64_t size)
{
    (void)size;
    return (const uint8_t *)file + (address - CODE);
}

static uint64_t start_of(const void *file, uint64_t address)
{
    (void)file;
    return address < CODE + AFTER ? CODE : CODE + AFTER;
}

static struct found find(const uint8_t *code, size_t size, unsigned level, const char *functions)
{
    struct found f = { .scan = { .level = level, .from = CODE, .to = CODE + size } };
    struct pct_plan_function *named;
    bool ended;
    assert_true(pct_instruction_scan_start(&f.scan));
    assert_true(pct_instruction_scan_function(&f.scan, code, size, CODE, &ended));
    int count = pct_plan_functions_parse(&named, functions);
    assert_true(count > 0);
    f.sites = (struct pct_function_sites){
        .scan = &f.scan, .functions = named, .count = (size_t)count, .bytes = bytes_of, .start = start_of, .file = code
    };
    pct_function_sites_add(&f.sites);
    pct_instruction_scan_finish(&f.scan);
    free(named);
    return f;
}

#define FIND(level, functions, ...)                                                                                    \
    ({                                                                                                                 \
        static const uint8_t bytes_[] = { __VA_ARGS__ };                                                               \
        find(bytes_, sizeof bytes_, level, functions);                                                                 \
    })

/* Its only entry or return is a site here, of this many bytes. */
static void expect(const struct found *f, enum pct_site_flags flag, uint64_t at, unsigned length)
{
    unsigned sites = 0;
    for (size_t i = 0; i < f->scan.count; i++) {
        const struct pct_plan_site *site = &f->scan.sites[i];
        if (!(site->flags & flag))
            continue;
        sites++;
        assert_int_equal(site->address, CODE + at);
        assert_int_equal(site->length, length);
    }
    assert_int_equal(sites, 1);
}

static void test_block(void **state)
{
    (void)state;
    /* push %rbp; mov %rsp, %rbp; mov %edi, -4(%rbp); nop; pop %rbp; ret; filling */
    struct found f = FIND(PCT_PATCH_OFF, "1000-1010", 0x55, 0x48, 0x89, 0xe5, 0x89, 0x7d, 0xfc, 0x0f, 0x1f, 0x00, 0x5d,
                          0xc3, 0x90, 0x90, 0x90, 0x90);
    assert_int_equal(f.sites.no_entry, 0);
    assert_int_equal(f.sites.no_return, 0);
    expect(&f, PCT_SITE_ENTERS, 0, 7);
    expect(&f, PCT_SITE_RETURNS, 11, 5); /* the filling is taken in */
    assert_int_equal(f.scan.sites[0].kind, PCT_SITE_PLACE);
    pct_instruction_scan_free(&f.scan);
}

/* mov (%rdi), %eax is what other threads see: the entry cannot stand behind it, and the return not before it. */
static void test_visible(void **state)
{
    (void)state;
    struct found f = FIND(PCT_PATCH_OFF, "1000-1003", 0x8b, 0x07, 0xc3);
    assert_int_equal(f.sites.no_entry, 0);
    expect(&f, PCT_SITE_ENTERS, 0, 2);
    assert_int_equal(f.sites.no_return, CODE + 2 + 1); /* a `ret` of one byte with nothing to share a jump with */
    pct_instruction_scan_free(&f.scan);
    f = FIND(PCT_PATCH_OFF, "1000-1006", 0x8b, 0x07, 0x83, 0xc0, 0x01, 0xc3); /* add $1, %eax between */
    expect(&f, PCT_SITE_ENTERS, 0, 5);
    assert_int_equal(f.sites.no_return, CODE + 5 + 1); /* the entry has taken what is before it */
    pct_instruction_scan_free(&f.scan);
}

/* call 0x1040 at the very beginning: nothing can stand in its place. */
static void test_call_first(void **state)
{
    (void)state;
    struct found f = FIND(PCT_PATCH_OFF, "1000-1008", 0xe8, 0x3b, 0x00, 0x00, 0x00, 0x31, 0xc0, 0xc3);
    assert_int_equal(f.sites.no_entry, CODE + 1);
    expect(&f, PCT_SITE_RETURNS, 5, 3);
    pct_instruction_scan_free(&f.scan);
}

/* Nothing jumps into the middle of a site: jne 0x1003 leads behind the first instruction, mov $1, %eax. */
static void test_target(void **state)
{
    (void)state;
    struct found f = FIND(PCT_PATCH_OFF, "1000-1009", 0x89, 0xf8 /* mov %edi, %eax */, 0x83, 0xe8, 0x01 /* sub $1 */,
                          0x75, 0xfb /* jne 0x1002 */, 0x31, 0xc0 /* xor */, 0xc3);
    assert_int_equal(f.sites.no_entry, 0);
    expect(&f, PCT_SITE_ENTERS, 0, 2);
    pct_instruction_scan_free(&f.scan);
}

/* A jump to another function is a return, one to a part of its own is none, and one that may not be taken none to stand
 * in. */
static void test_tail_call(void **state)
{
    (void)state;
    static const uint8_t
        tail[] = { 0x83, 0xc7, 0x01 /* add $1, %edi */, 0xe9, 0x38, 0x00, 0x00, 0x00 /* jmp 0x1040 */ };
    static const uint8_t branch[] = { 0x83, 0xff, 0x01 /* cmp */, 0x0f, 0x84, 0x37, 0x00, 0x00, 0x00 /* je 0x1040 */ };
    uint8_t code[AFTER + 4];
    memset(code, 0x90, sizeof code);
    memcpy(code, tail, sizeof tail);
    memcpy(code + AFTER, (const uint8_t[]){ 0x31, 0xc0, 0xc3 }, 3); /* xor %eax, %eax; ret */
    struct found f = find(code, sizeof code, PCT_PATCH_OFF, "1000-1008");
    assert_int_equal(f.sites.no_return, 0);
    expect(&f, PCT_SITE_RETURNS, 3, 5); /* right at the jump, where one fits */
    assert_true(f.scan.sites[1].flags & PCT_SITE_RELATIVE);
    assert_int_equal(f.scan.sites[1].displacement, 0x38);
    pct_instruction_scan_free(&f.scan);

    f = find(code, sizeof code, PCT_PATCH_OFF, "1000-1008,1040-1043:cold");
    assert_int_equal(f.sites.no_return, 0);
    expect(&f, PCT_SITE_RETURNS, AFTER, 3);
    pct_instruction_scan_free(&f.scan);

    memcpy(code, branch, sizeof branch);
    f = find(code, sizeof code, PCT_PATCH_OFF, "1000-1009");
    assert_int_equal(f.sites.no_return, CODE + 3 + 1);
    pct_instruction_scan_free(&f.scan);
}

/* With --memory an access there stays a site of its own kind, and is the entry, too. */
static void test_with_memory(void **state)
{
    (void)state;
    /* lock addl $1, (%rdi); mov %esi, %eax; nop; ret */
    struct found f = FIND(PCT_PATCH_ATOMICS, "1000-100a", 0xf0, 0x83, 0x07, 0x01, 0x89, 0xf0, 0x0f, 0x1f, 0x00, 0xc3);
    expect(&f, PCT_SITE_ENTERS, 0, 4);
    assert_int_equal(f.scan.sites[0].kind, PCT_SITE_ATOMIC);
    expect(&f, PCT_SITE_RETURNS, 4, 5); /* a jump fits before the return itself */
    pct_instruction_scan_free(&f.scan);
}

/* Lines: each ends before the next, and what begins and returns there is one site with them, or stays free of them. */
static void test_lines(void **state)
{
    (void)state;
    static const uint8_t code[] = { 0x55,             /* push %rbp */
                                    0x48, 0x89, 0xe5, /* mov %rsp, %rbp */
                                    0x8b, 0x45, 0xfc, /* +4: mov -4(%rbp), %eax: a line */
                                    0x01, 0xc0,       /* +7: add %eax, %eax: another */
                                    0x0f, 0xaf, 0xc0, /* imul %eax, %eax */
                                    0x5d, 0xc3 /* +12: pop %rbp; ret: a third */ };
    struct found f = find(code, sizeof code, PCT_PATCH_OFF, "1000-100e,1004-100e:line,100c-100e:line,1007-100e:line");
    static const struct {
        uint64_t at;
        unsigned length, flags;
    } sites[] = { { 0, 4, PCT_SITE_ENTERS },
                  { 4, 3, PCT_SITE_ENTERS },
                  { 7, 5, PCT_SITE_ENTERS | PCT_SITE_RETURNS },
                  { 12, 2, PCT_SITE_ENTERS } };
    assert_int_equal(f.sites.no_entry, 0);
    assert_int_equal(f.sites.no_return, 0);
    assert_int_equal(f.scan.count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(f.scan.sites[i].address, CODE + sites[i].at);
        assert_int_equal(f.scan.sites[i].length, sites[i].length);
        assert_int_equal(f.scan.sites[i].flags & (PCT_SITE_ENTERS | PCT_SITE_RETURNS), sites[i].flags);
    }
    pct_instruction_scan_free(&f.scan);
    /* A line of a call, direct or not; behind another instruction; by the stack pointer, where that is another then. */
    f = FIND(PCT_PATCH_OFF, "1002-1008:line", 0x31, 0xc0, 0xe8, 0x39, 0x00, 0x00, 0x00, 0xc3);
    expect(&f, PCT_SITE_ENTERS, 2, 5);
    assert_int_equal(f.scan.sites[0].call, 5);
    pct_instruction_scan_free(&f.scan);
    f = FIND(PCT_PATCH_OFF, "1000-1006:line", 0x31, 0xc0, 0x41, 0xff, 0xd4, 0xc3);
    expect(&f, PCT_SITE_ENTERS, 0, 5);
    assert_int_equal(f.scan.sites[0].call, 3);
    pct_instruction_scan_free(&f.scan);
    f = FIND(PCT_PATCH_OFF, "1000-1005:line", 0xff, 0x54, 0x24, 0x08, 0xc3);
    assert_int_equal(f.sites.no_entry, CODE + 1);
    pct_instruction_scan_free(&f.scan);
    /* A line that begins in the middle of an instruction. */
    f = find(code, sizeof code, PCT_PATCH_OFF, "1005-100e:line");
    assert_int_equal(f.sites.no_entry, CODE + 5 + 1);
    pct_instruction_scan_free(&f.scan);
    /* jmp *%rax may lead behind the first instruction of the line. */
    f = FIND(PCT_PATCH_OFF, "1002-100a:line", 0xff, 0xe0, 0x31, 0xc0, 0x31, 0xc9, 0x31, 0xd2, 0xc3, 0x90);
    expect(&f, PCT_SITE_ENTERS, 2, 2);
    pct_instruction_scan_free(&f.scan);
}

static void test_parse(void **state)
{
    (void)state;
    static const char *const bad[] = { "x", "10", "10-", "20-10", "10-20:hot", "10-20,,30-40", "10-20;30-40" };
    struct pct_plan_function *functions;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(pct_plan_functions_parse(&functions, bad[i]), -1);
        free(functions);
    }
    assert_int_equal(pct_plan_functions_parse(&functions, "10-20,a0-b0:cold"), 2);
    assert_int_equal(functions[1].to, 0xb0);
    assert_true(functions[1].cold);
    assert_false(functions[0].cold);
    free(functions);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_block),      cmocka_unit_test(test_visible),
                                        cmocka_unit_test(test_call_first), cmocka_unit_test(test_target),
                                        cmocka_unit_test(test_tail_call),  cmocka_unit_test(test_with_memory),
                                        cmocka_unit_test(test_lines),      cmocka_unit_test(test_parse) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
