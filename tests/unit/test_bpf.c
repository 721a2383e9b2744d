/* Unit tests of preload/core/bpf.h: what filters of system calls answer, beside an interpreter of them. Links with:
 * bpf.o. */
/* clang-format off: cmocka.h needs these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <pct/random.h>
#include <preload/core/bpf.h>
#include <stdbool.h>
#include <string.h>

enum { BOTH = PCT_BPF_PASSES | PCT_BPF_REFUSES, MOST = 40 };

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define JUMP(op, k, yes, no) BPF_JUMP(BPF_JMP | (op) | BPF_K, k, yes, no)
#define END(action) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_##action)
#define ANSWERS(code, number) pct_bpf_answers(code, sizeof(code) / sizeof *(code), number)

/* As libseccomp and systemd write them. */
static void test_usual(void **unused)
{
    (void)unused;
    const struct sock_filter code[] = {
        LOAD(arch),
        JUMP(BPF_JEQ, AUDIT_ARCH_X86_64, 1, 0),
        END(KILL_PROCESS),
        LOAD(nr),
        JUMP(BPF_JGE, 0x40000000, 0, 1),
        END(KILL),
        JUMP(BPF_JEQ, 1, 4, 0),
        JUMP(BPF_JEQ, 2, 4, 0),
        JUMP(BPF_JEQ, 3, 5, 0),
        JUMP(BPF_JEQ, 4, 6, 0),
        END(ERRNO),
        END(ALLOW),
        LOAD(args[1]),
        JUMP(BPF_JSET, 8, 2, 3),
        END(LOG),
        END(USER_NOTIF),
        END(TRAP),
        END(ALLOW),
    };
    assert_int_equal(ANSWERS(code, 1), PCT_BPF_PASSES);
    assert_int_equal(ANSWERS(code, 2), BOTH);
    assert_int_equal(ANSWERS(code, 3), PCT_BPF_PASSES);
    assert_int_equal(ANSWERS(code, 4), PCT_BPF_REFUSES);
    assert_int_equal(ANSWERS(code, 5), PCT_BPF_REFUSES);
    assert_int_equal(ANSWERS(code, 0x40000001), PCT_BPF_REFUSES);
    const struct sock_filter asks[] = { END(USER_NOTIF) };
    assert_int_equal(ANSWERS(asks, 0), BOTH);
}

/* What is no filter at all may answer anything, and is not read beyond its end. */
static void test_bad(void **unused)
{
    (void)unused;
    const struct sock_filter falls[] = { LOAD(nr) }, jumps[] = { BPF_STMT(BPF_JMP | BPF_JA, UINT32_MAX - 1) };
    assert_int_equal(ANSWERS(falls, 0), BOTH);
    assert_int_equal(ANSWERS(jumps, 0), BOTH);
    struct sock_filter wide[256];
    for (int i = 0; i < 256; i += 2) {
        wide[i] = (struct sock_filter)LOAD(args[0]);
        wide[i + 1] = (struct sock_filter)JUMP(BPF_JEQ, 0, 0, 0);
    }
    wide[255] = (struct sock_filter)END(ALLOW);
    assert_int_equal(ANSWERS(wide, 0), BOTH);
}

/* One call with these arguments, as the kernel has it. */
static uint32_t run(const struct sock_filter *code, const struct seccomp_data *data)
{
    uint32_t a = 0, x = 0, memory[BPF_MEMWORDS] = { 0 };
    for (;; code++) {
        const uint32_t right = BPF_SRC(code->code) == BPF_X ? x : code->k;
        uint32_t word;
        switch (code->code) {
        case BPF_LD | BPF_W | BPF_ABS:
            memcpy(&word, (const char *)data + code->k, sizeof word);
            a = word;
            break;
        case BPF_LD | BPF_IMM:
            a = code->k;
            break;
        case BPF_LD | BPF_MEM:
            a = memory[code->k];
            break;
        case BPF_ST:
            memory[code->k] = a;
            break;
        case BPF_MISC | BPF_TAX:
            x = a;
            break;
        case BPF_MISC | BPF_TXA:
            a = x;
            break;
        case BPF_ALU | BPF_SUB | BPF_K:
        case BPF_ALU | BPF_SUB | BPF_X:
            a -= right;
            break;
        case BPF_ALU | BPF_AND | BPF_K:
        case BPF_ALU | BPF_AND | BPF_X:
            a &= right;
            break;
        case BPF_ALU | BPF_RSH | BPF_K:
            a = right < 32 ? a >> right : 0;
            break;
        case BPF_JMP | BPF_JA:
            code += code->k;
            break;
        case BPF_JMP | BPF_JEQ | BPF_K:
        case BPF_JMP | BPF_JEQ | BPF_X:
            code += a == right ? code->jt : code->jf;
            break;
        case BPF_JMP | BPF_JGT | BPF_K:
        case BPF_JMP | BPF_JGT | BPF_X:
            code += a > right ? code->jt : code->jf;
            break;
        case BPF_RET | BPF_A:
            return a;
        default:
            return code->k;
        }
    }
}

static uint64_t draw(void)
{
    static uint64_t drawn;
    return pct_random(1, 0, drawn++);
}

static struct sock_filter any(unsigned left)
{
    static const uint32_t actions[] = { SECCOMP_RET_ALLOW, SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_ERRNO };
    static const uint16_t codes[] = { BPF_LD | BPF_W | BPF_ABS,
                                      BPF_LD | BPF_IMM,
                                      BPF_LD | BPF_MEM,
                                      BPF_ST,
                                      BPF_MISC | BPF_TAX,
                                      BPF_MISC | BPF_TXA,
                                      BPF_ALU | BPF_SUB | BPF_K,
                                      BPF_ALU | BPF_SUB | BPF_X,
                                      BPF_ALU | BPF_AND | BPF_K,
                                      BPF_ALU | BPF_RSH | BPF_K,
                                      BPF_JMP | BPF_JA,
                                      BPF_JMP | BPF_JEQ | BPF_K,
                                      BPF_JMP | BPF_JEQ | BPF_X,
                                      BPF_JMP | BPF_JGT | BPF_K,
                                      BPF_RET | BPF_K };
    const uint64_t bits = draw();
    struct sock_filter code = { .code = codes[bits % (sizeof codes / sizeof *codes)], .k = (bits >> 8) % 4 };
    if (left < 2)
        code.code = BPF_RET | BPF_K;
    if (code.code == (BPF_LD | BPF_W | BPF_ABS))
        code.k = (uint32_t)(bits >> 8) % (sizeof(struct seccomp_data) / 4) * 4;
    if (BPF_CLASS(code.code) == BPF_RET)
        code.k = actions[(bits >> 8) % 3];
    if (BPF_CLASS(code.code) == BPF_JMP) {
        code.k = code.code == (BPF_JMP | BPF_JA) ? (uint32_t)(bits >> 8) % (left - 1) : code.k;
        code.jt = (uint8_t)((bits >> 16) % (left - 1));
        code.jf = (uint8_t)((bits >> 32) % (left - 1));
    }
    return code;
}

/* What a call may be answered is among what was said that it may be; and is that, where it depends on nothing else. */
static void test_random(void **unused)
{
    (void)unused;
    unsigned sure = 0;
    for (int round = 0; round < 100000; round++) {
        struct sock_filter code[MOST];
        const unsigned length = 2 + (unsigned)(draw() % (MOST - 2));
        for (unsigned i = 0; i < length; i++)
            code[i] = any(length - i);
        struct seccomp_data data = { .nr = (int)(draw() % 4), .arch = AUDIT_ARCH_X86_64 };
        const unsigned said = pct_bpf_answers(code, length, (uint32_t)data.nr);
        sure += said != BOTH;
        for (int call = 0; call < 8; call++) {
            data.instruction_pointer = draw() % 4;
            for (int i = 0; i < 6; i++)
                data.args[i] = draw() % 4;
            const bool passes = run(code, &data) == SECCOMP_RET_ALLOW;
            assert_true(said & (passes ? PCT_BPF_PASSES : PCT_BPF_REFUSES));
        }
    }
    assert_true(sure > 30000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_usual),
        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
