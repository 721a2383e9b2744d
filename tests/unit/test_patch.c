/* Trampolines and where they go: patch/emit.c and patch/place.c. */
/* clang-format off: cmocka.h needs these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "patched_code.h"
#include <Zydis/Zydis.h>
#include <signal.h>
#include <ucontext.h>

static void test_jump(void **state)
{
    (void)state;
    /* addl $0x100, (%rdi); mov (%rdi), %eax; ret */
    static const uint8_t code[] = { 0x81, 0x07, 0x00, 0x01, 0x00, 0x00, 0x8b, 0x07, 0xc3 };
    uint32_t value = 7;
    struct fixture f = place(code, sizeof code, site_at(0, 6, PCT_SITE_UPDATE), (struct pct_pad){ 0 });
    assert_int_equal(f.place.ways[PCT_WAY_JUMP], 1);
    run(&f, &value, 0x100);
    drop(&f);
}

static void test_relative(void **state)
{
    (void)state;
    /* mov 0x100(%rip), %eax; add $1, %eax; ret: the displacement is made right in the trampoline */
    static const uint8_t code[] = { 0x8b, 0x05, 0x00, 0x01, 0x00, 0x00, 0x83, 0xc0, 0x01, 0xc3 };
    struct fixture f = place(code, sizeof code, relative_at(0, 6, PCT_SITE_READ, 0x100), (struct pct_pad){ 0 });
    uint32_t (*function)(void) = (uint32_t(*)(void))(void *)f.code;
    f.code[0x106] = 41;
    assert_int_equal(f.place.ways[PCT_WAY_JUMP], 1);
    accessed = 0;
    budget = 1;
    assert_int_equal(function(), 42);
    assert_ptr_equal(accessed, &f.code[0x106]);
    drop(&f);
}

/* A global: the trampoline looks whose it is, with the flags and without, and asks nobody if it is the thread's. */
static void test_look(void **state)
{
    (void)state;
    /* cmp %esi, %edi; addl $256, 64(%rip), at 2; then the carry flag of the cmp, or nothing, and the sum; ret */
    static const uint8_t dead[] = {
        0x39, 0xf7, 0x81, 0x05, 0x40, 0, 0, 0, 0, 1, 0, 0, 0x8b, 0x05, 0x3a, 0, 0, 0, 0xc3
    };
    /* cmp %esi, %edi; mov 64(%rip), %eax; adc $0, %eax; ret */
    static const uint8_t live[] = { 0x39, 0xf7, 0x8b, 0x05, 0x40, 0, 0, 0, 0x83, 0xd0, 0, 0xc3 };
    enum { MINE, OTHERS, NONE };
    for (int flags = 0; flags < 2; flags++) {
        struct pct_plan_site site = relative_at(2, flags ? 6 : 10, flags ? PCT_SITE_READ : PCT_SITE_UPDATE, 64);
        site.flags = PCT_SITE_RELATIVE | (flags ? 0 : PCT_SITE_FLAGS_DEAD);
        struct fixture f = place_with_marks(flags ? live : dead, flags ? sizeof live : sizeof dead, site);
        uint32_t (*function)(uint32_t, uint32_t) = (uint32_t(*)(uint32_t, uint32_t))(void *)f.code;
        uint32_t *global = (uint32_t *)(f.code + 2 + site.length + 64), wanted = 0;
        assert_int_equal(f.place.ways[PCT_WAY_JUMP], 1);
        assert_int_equal(marked, (uint64_t)global);
        for (int whose = MINE; whose <= NONE; whose++) {
            *location_mark = whose == MINE ? own_mark : whose == OTHERS ? own_mark + 1 : 0;
            events = budget = 0;
            for (uint32_t carry = 0; carry < 2; carry++) {
                wanted += flags ? 0 : 256;
                assert_int_equal(function(1 - carry, 1), wanted + (flags ? carry : 0));
                assert_int_equal(*global, wanted);
            }
            assert_int_equal(events, whose == MINE ? 0 : 2);
            assert_true(whose == MINE || last == f.place.patched);
        }
        drop(&f);
    }
}

/* Where the mark is not near enough, or more than it counts, a leaf is called as for any other place. */
static void test_no_look(void **state)
{
    (void)state;
    static const uint8_t code[] = { 0x8b, 0x05, 0x40, 0, 0, 0, 0xc3 };
    const struct {
        uint8_t kind, size, flags;
        int32_t displacement;
        bool looks;
    } sites[] = { { PCT_SITE_READ, 4, 0, 67, true },     { PCT_SITE_WRITE, 8, 0, 66, true },
                  { PCT_SITE_READ, 4, 0, 71, false }, /* of two locations */
                  { PCT_SITE_READ, 16, 0, 66, false },   { PCT_SITE_ATOMIC, 4, 0, 66, false },
                  { PCT_SITE_COMPARE, 4, 0, 66, false }, { PCT_SITE_READ, 4, PCT_SITE_WAITS, 66, false } };
    for (unsigned i = 0; i < sizeof sites / sizeof *sites; i++) {
        struct pct_plan_site site = relative_at(0, 6, sites[i].kind, sites[i].displacement);
        site.size = sites[i].size;
        site.flags = (uint8_t)(PCT_SITE_RELATIVE | sites[i].flags);
        struct fixture f = place_with_marks(code, sizeof code, site);
        assert_int_equal(*(const uint8_t *)(f.place.patched->trampoline + 5), sites[i].looks ? 0x51 : 0x52);
        drop(&f);
    }
}

static void test_pun(void **state)
{
    (void)state;
    /* jmp over four bytes; addl $1, (%rdi); jmp +0; mov (%rdi), %eax; ret. The distance ends in the bytes of the second
     * jmp: it is 0xeb0000 and up, which lies in the room that place() leaves. */
    static const uint8_t code[] = {
        0xeb, 0x04, 0x90, 0x90, 0x90, 0x90, 0x83, 0x07, 0x01, 0xeb, 0x00, 0x8b, 0x07, 0xc3
    };
    uint32_t value = 7;
    struct fixture f = place(code, sizeof code, site_at(6, 3, PCT_SITE_UPDATE), (struct pct_pad){ 0 });
    assert_int_equal(f.place.ways[PCT_WAY_PUN], 1);
    /* What follows the site is as it was. */
    assert_memory_equal(f.code + 9, code + 9, sizeof code - 9);
    run(&f, &value, 1);
    drop(&f);
}

/* No page for an island is to be had. */
static uint8_t *map_none(void *context, uint64_t address)
{
    (void)context;
    (void)address;
    return NULL;
}

static struct pct_placing replace(struct fixture *f)
{
    struct pct_placing p = f->place;
    memset(p.ways, 0, sizeof p.ways);
    memset(p.locked, 0, CODE_SIZE / 8 + 1);
    memset(p.pages, 0, PCT_PLACE_MAX_PAGES * sizeof *p.pages);
    memset(p.slots, 0, PCT_PLACE_SLOTS * sizeof *p.slots);
    memset(p.recent, 0, sizeof p.recent);
    p.page_count = 0;
    p.near_used = LEAVES;
    p.map = map_none;
    return p;
}

/* What stands for the handler of SIGTRAP: the trampoline comes next. */
static void trapped(int signal, siginfo_t *info, void *context)
{
    if (signal == SIGTRAP && info->si_code == SI_KERNEL)
        ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] = (greg_t)last->trampoline;
}

/* Who is interrupted between a site of three bytes and the two that moved with it goes on in the trampoline, and before
 * and behind them in the program. */
static void check_between(const struct pct_patched *patched, const uint8_t *at, const uint8_t *code)
{
    const uint8_t *in = memmem((const void *)patched->trampoline, 128, code, 5);
    assert_non_null(in);
    static const unsigned begins[] = { 0, 3, 5 };
    for (unsigned i = 0; i < 3; i++) {
        struct pct_interrupted interrupted = { .pc = (uint64_t)in + begins[i], .sp = 8 };
        pct_emit_unwind(patched, &interrupted);
        assert_ptr_equal(interrupted.pc, begins[i] == 3 ? in + 3 : at + begins[i]);
    }
}

/* Where no jump leads to a page of its own: what of pads, of what may move with the site, and of int3 helps. */
static void test_without_pages(void **state)
{
    (void)state;
    static const uint8_t code[] = { 0x83, 0x07, 0x01, 0x8b, 0x07, 0xc3, 0x0f, 0x1f, 0x44, 0x00, 0x00 };
    static const struct {
        enum pct_place_way way;
        unsigned more; /* bytes that may move with it, */
        bool blocks;   /* if any may */
    } ways[] = { { PCT_WAY_ALONE, 0, true },
                 { PCT_WAY_ALONE, 2, false },
                 { PCT_WAY_SHORT, 2, true },
                 { PCT_WAY_BLOCK, 2, true },
                 { PCT_WAY_TRAP, 0, true } };
    uint32_t value = 7;
    sigaction(SIGTRAP, &(struct sigaction){ .sa_sigaction = trapped, .sa_flags = SA_SIGINFO }, NULL);
    for (unsigned i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct pct_plan_site site = site_at(0, 3, PCT_SITE_UPDATE);
        site.more = ways[i].more & 15;
        struct fixture f = place(code, sizeof code, site,
                                 ways[i].way == PCT_WAY_SHORT ? (struct pct_pad){ 6, 5 } : (struct pct_pad){ 0 });
        for (unsigned k = 0; k < f.place.page_count; k++)
            if (f.place.pages[k].memory)
                munmap(f.place.pages[k].memory, PCT_PLACE_PAGE);
        memcpy(f.place.code, code, sizeof code);
        struct pct_placing p = replace(&f);
        p.traps = ways[i].way == PCT_WAY_TRAP;
        p.blocks = ways[i].blocks;
        pct_place_module(&p);
        assert_int_equal(p.ways[ways[i].way], 1);
        memcpy(f.code, p.code, CODE_SIZE);
        last = p.patched;
        assert_true(!p.traps || (*f.code == PCT_INT3 && !memcmp(f.code + 1, code + 1, sizeof code - 1)));
        if (ways[i].way != PCT_WAY_ALONE)
            run(&f, &value, 1);
        else
            assert_true(!memcmp(f.code, code, sizeof code) && !p.patched->trampoline && p.near_used == LEAVES);
        if (ways[i].way == PCT_WAY_BLOCK)
            check_between(p.patched, f.code, code);
        drop(&f);
    }
}

static void test_entered(void **state)
{
    (void)state;
    static const uint8_t code[] = { 0x81, 0x07, 0x00, 0x01, 0x00, 0x00, 0x8b, 0x07, 0xc3 };
    struct pct_plan_site site = site_at(0, 6, PCT_SITE_UPDATE);
    site.flags = PCT_SITE_ENTERED;
    struct fixture f = place(code, sizeof code, site, (struct pct_pad){ 0 });
    assert_int_equal(f.place.ways[PCT_WAY_ALONE], 1);
    assert_memory_equal(f.code, code, sizeof code);
    drop(&f);
}

/* Where a function begins: several instructions in one trampoline, one of them with a distance that is made right, and
 * what is interrupted between them goes on there. */
static void test_block(void **state)
{
    (void)state;
    /* push %rbp; mov %rsp, %rbp; mov 0x100(%rip), %eax; pop %rbp; ret */
    static const uint8_t code[] = { 0x55, 0x48, 0x89, 0xe5, 0x8b, 0x05, 0x00, 0x01, 0x00, 0x00, 0x5d, 0xc3 };
    struct pct_plan_site site = relative_at(0, 10, PCT_SITE_PLACE, 0x100);
    site.flags |= PCT_SITE_ENTERS;
    site.displacement_at = 6;
    struct fixture f = place(code, sizeof code, site, (struct pct_pad){ 0 });
    const struct pct_patched *patched = f.place.patched;
    uint32_t (*function)(void) = (uint32_t(*)(void))(void *)f.code;
    f.code[0x10a] = 42;
    assert_int_equal(f.place.ways[PCT_WAY_JUMP], 1);
    events = 0;
    budget = 1000; /* no quick leaf: each time matters */
    for (unsigned i = 1; i <= 3; i++) {
        assert_int_equal(function(), 42);
        assert_int_equal(events, i);
        assert_ptr_equal(last, patched);
    }
    const uint8_t *in = memmem((const void *)patched->trampoline, 128, code, 4);
    assert_non_null(in);
    for (unsigned at = 0; at <= 10; at++) {
        if (at != 0 && at != 1 && at != 4 && at != 10)
            continue; /* inside an instruction */
        struct pct_interrupted interrupted = { .pc = (uint64_t)in + at, .sp = 8 };
        pct_emit_unwind(patched, &interrupted);
        assert_int_equal(interrupted.pc, at == 0    ? (uint64_t)f.code
                                         : at == 10 ? (uint64_t)f.code + 10
                                                    : (uint64_t)in + at);
    }
    drop(&f);
}

/* It ends with `call 1f` or `lea 1f(%rip), %r11; call *%r11`, before `ret; 1: pop %rax; push %rax; ret`. */
static void test_call(void **state)
{
    (void)state;
    static const uint8_t codes[][16] = { { 0xe8, 1, 0, 0, 0, 0xc3, 0x58, 0x50, 0xc3 },
                                         { 0x4c, 0x8d, 0x1d, 4, 0, 0, 0, 0x41, 0xff, 0xd3, 0xc3, 0x58, 0x50, 0xc3 } };
    for (unsigned i = 0; i < 2; i++) {
        struct pct_plan_site site = relative_at(0, i ? 10 : 5, PCT_SITE_PLACE, i ? 4 : 1);
        site.call = i ? 3 : 5, site.displacement_at = i ? 3 : 1;
        struct fixture f = place(codes[i], sizeof codes[i], site, (struct pct_pad){ 0 });
        assert_int_equal(((uint64_t(*)(void))(void *)f.code)(), (uint64_t)f.code + site.length);
        const void *pushed = memmem((const void *)f.place.patched->trampoline, 83, "\xc7\x44\x24\x04", 4);
        struct pct_interrupted at = { .pc = (uint64_t)pushed, .sp = 8 };
        pct_emit_unwind(f.place.patched, &at);
        assert_int_equal(at.pc, (uint64_t)pushed);
        drop(&f);
    }
}

/* A `ret` with filling: it never comes back to the program's code. */
static void test_return(void **state)
{
    (void)state;
    static const uint8_t code[] = { 0x31, 0xc0, 0xc3, 0x90, 0x90, 0x90, 0x90 }; /* xor %eax, %eax; ret */
    struct pct_plan_site site = site_at(2, 5, PCT_SITE_PLACE);
    site.flags = PCT_SITE_RETURNS;
    struct fixture f = place(code, sizeof code, site, (struct pct_pad){ 0 });
    uint32_t (*function)(void) = (uint32_t(*)(void))(void *)f.code;
    events = 0;
    assert_int_equal(function(), 0);
    assert_int_equal(events, 1);
    drop(&f);
}

/* Interrupted at each byte of a trampoline: found, and back to where the program would be. */
static void test_unwind(void **state)
{
    (void)state;
    static const uint8_t code[] = { 0x81, 0x07, 0x00, 0x01, 0x00, 0x00, 0x8b, 0x07, 0xc3 };
    struct fixture f = place(code, sizeof code, site_at(0, 6, PCT_SITE_UPDATE), (struct pct_pad){ 0 });
    const struct pct_patched *patched = f.place.patched;
    uint64_t stack[32] = { 0 }, site = (uint64_t)f.code, near = f.place.near_address + LEAVES;
    /* Offsets of patch/emit.h's listing for an instruction of six bytes. */
    static const struct {
        unsigned at;
        int moved;  /* the stack pointer, from the program's */
        bool saved; /* rdx is on the stack */
        bool done;  /* the instruction has been executed */
    } places[] = { { 0, 0, false, false },    { 5, -128, false, false }, { 6, -136, true, false },
                   { 15, -136, true, false }, { 20, -136, true, false }, { 21, -128, false, false },
                   { 29, 0, false, false },   { 35, 0, false, true } };
    for (unsigned i = 0; i < sizeof places / sizeof *places; i++) {
        struct pct_interrupted at = { .pc = patched->trampoline + places[i].at,
                                      .sp = (uint64_t)(stack + 24) + (uint64_t)(int64_t)places[i].moved,
                                      .rdx = places[i].saved ? 1 : 77 };
        if (places[i].saved)
            *(uint64_t *)at.sp = 77;
        assert_ptr_equal(pct_emit_find(at.pc, near, patched, 1), patched);
        pct_emit_unwind(patched, &at);
        assert_int_equal(at.pc, site + (places[i].done ? 6 : 0));
        assert_int_equal(at.sp, (uint64_t)(stack + 24));
        assert_int_equal(at.rdx, 77);
    }
    assert_null(pct_emit_find(patched->trampoline - 8, near, patched, 1)); /* its record */
    assert_null(pct_emit_find(patched->trampoline + 40, near, patched, 1));
    assert_null(pct_emit_find(patched->trampoline, near, patched + 1, 1)); /* not one of these */
    drop(&f);
}

/* Interrupted at each instruction of a trampoline that looks itself. The places are by what emit.h lists. */
static void test_unwind_look(void **state)
{
    (void)state;
    enum { RDX = 1, RCX = 2, BOTH = 3 };
    static const uint8_t code[] = {
        0x81, 0x05, 0x40, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0xc3
    }; /* addl $256, 64(%rip) */
    struct {
        bool flags;
        struct {
            uint8_t at, saved; /* these are on the stack, rcx below rdx */
        } places[20];
    } const forms[] = { { false,
                          { { 0, 0 },
                            { 5, 0 },
                            { 6, RCX },
                            { 14, RCX },
                            { 20, RCX },
                            { 22, RCX },
                            { 23, 0 },
                            { 24, RDX },
                            { 33, RDX },
                            { 38, RDX },
                            { 39, 0 },
                            { 41, RCX },
                            { 42, 0 },
                            { 50, 0 },
                            { 60, 0 } } },
                        { true,
                          { { 0, 0 },
                            { 5, 0 },
                            { 6, RCX },
                            { 7, BOTH },
                            { 13, BOTH },
                            { 21, BOTH },
                            { 24, BOTH },
                            { 25, RCX },
                            { 27, RCX },
                            { 28, 0 },
                            { 29, RDX },
                            { 38, RDX },
                            { 43, RDX },
                            { 44, 0 },
                            { 46, RCX },
                            { 47, 0 },
                            { 55, 0 },
                            { 65, 0 } } } };
    for (int form = 0; form < 2; form++) {
        struct pct_plan_site site = relative_at(0, 10, PCT_SITE_UPDATE, 64);
        site.flags = PCT_SITE_RELATIVE | (forms[form].flags ? 0 : PCT_SITE_FLAGS_DEAD);
        struct fixture f = place_with_marks(code, sizeof code, site);
        const struct pct_patched *patched = f.place.patched;
        const unsigned after = forms[form].flags ? 65 : 60, first_code = after - 10;
        uint64_t stack[32] = { 0 };
        for (unsigned i = 0; i < 20 && (!i || forms[form].places[i].at); i++) {
            const unsigned at_code = forms[form].places[i].at, saved = forms[form].places[i].saved;
            uint64_t *sp = stack + 24;
            if (at_code > 0 && at_code < first_code)
                sp -= 16;
            if (saved & RCX)
                *--sp = 66;
            if (saved & RDX)
                *--sp = 77;
            struct pct_interrupted at = { .pc = patched->trampoline + at_code,
                                          .sp = (uint64_t)sp,
                                          .rcx = saved & RCX ? 1 : 66,
                                          .rdx = saved & RDX ? 1 : 77 };
            assert_ptr_equal(pct_emit_find(at.pc, f.place.near_address + LEAVES, patched, 1), patched);
            pct_emit_unwind(patched, &at);
            assert_int_equal(at.pc, (uint64_t)f.code + (at_code >= after ? 10 : 0));
            assert_int_equal(at.sp, (uint64_t)(stack + 24));
            assert_int_equal(at.rcx, 66);
            assert_int_equal(at.rdx, 77);
        }
        assert_null(pct_emit_find(patched->trampoline + after + 5, f.place.near_address + LEAVES, patched, 1));
        drop(&f);
    }
}

/* The address that a trampoline computes is that of its instruction, in every form of it: read back by the decoder. */
static void test_address(void **state)
{
    (void)state;
    /* nopl 0(%rax, %rax); ret: for the trampoline it is whatever the site says. */
    static const uint8_t code[] = { 0x0f, 0x1f, 0x44, 0x00, 0x00, 0xc3 };
    const uint8_t none = PCT_SITE_NO_REGISTER;
    const struct {
        uint8_t base, index, scale, flags;
        int32_t displacement, wanted;
    } forms[] = { { 0, none, 0, 0, 0, 0 },
                  { 5, none, 0, 0, -8, -8 },
                  { 4, none, 0, 0, 8, 144 }, /* rsp: 136 lower than the program's */
                  { 4, 3, 8, 0, 0, 136 },
                  { 12, none, 0, 0, 16, 16 },
                  { 13, 12, 2, 0, 1 << 20, 1 << 20 },
                  { 7, 15, 4, PCT_SITE_SHORT_ADDRESS, 4, 4 },
                  { none, 9, 1, 0, 64, 64 },
                  { none, none, 0, 0, 4096, 4096 } };
    ZydisDecoder decoder;
    ZydisDecodedInstruction lea;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    for (unsigned i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct pct_plan_site site = site_at(0, 5, PCT_SITE_READ);
        site.base = forms[i].base;
        site.index = forms[i].index;
        site.scale = forms[i].scale;
        site.flags = forms[i].flags;
        site.displacement = forms[i].displacement;
        struct fixture f = place(code, sizeof code, site, (struct pct_pad){ 0 });
        assert_int_not_equal(f.place.patched->trampoline, 0);
        const void *at = (const void *)(f.place.patched->trampoline + 6);
        assert_true(ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, at, 15, &lea, operands)));
        assert_int_equal(lea.mnemonic, ZYDIS_MNEMONIC_LEA);
        assert_int_equal(lea.length, 9);
        assert_int_equal(operands[0].reg.value, ZYDIS_REGISTER_RDX);
        const ZydisDecodedOperandMem *m = &operands[1].mem;
        assert_int_equal(lea.address_width, site.flags & PCT_SITE_SHORT_ADDRESS ? 32 : 64);
        assert_int_equal(m->base == ZYDIS_REGISTER_NONE ? none : ZydisRegisterGetId(m->base), site.base);
        assert_int_equal(m->index == ZYDIS_REGISTER_NONE ? none : ZydisRegisterGetId(m->index), site.index);
        assert_true(site.index == none || m->scale == site.scale);
        assert_int_equal(m->disp.value, forms[i].wanted);
        drop(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_jump),          cmocka_unit_test(test_relative), cmocka_unit_test(test_pun),
        cmocka_unit_test(test_without_pages), cmocka_unit_test(test_entered),  cmocka_unit_test(test_block),
        cmocka_unit_test(test_call),          cmocka_unit_test(test_return),   cmocka_unit_test(test_unwind),
        cmocka_unit_test(test_look),          cmocka_unit_test(test_no_look),  cmocka_unit_test(test_unwind_look),
        cmocka_unit_test(test_address),
    };
    return cmocka_run_group_tests_name("patch", tests, NULL, NULL);
}
