/* See bpf.h. Of the data that a filter looks at, the number and the architecture are known. Where it branches on
 * something else, both ways are gone; classic BPF has no loops. */
#include "bpf.h"
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>

enum { PENDING = 32, STEPS = 1 << 16 }; /* more than that: it may answer anything */
enum { ANYTHING = PCT_BPF_PASSES | PCT_BPF_REFUSES };

struct state {
    uint32_t at, value;
    bool known; /* the value, which is the accumulator's. The index register and memory are never known */
};

static unsigned answer(uint32_t action)
{
    switch (action & SECCOMP_RET_ACTION_FULL) {
    case SECCOMP_RET_ALLOW:
    case SECCOMP_RET_LOG:
        return PCT_BPF_PASSES;
    case SECCOMP_RET_TRACE:
    case SECCOMP_RET_USER_NOTIF:
        return ANYTHING;
    default:
        return PCT_BPF_REFUSES;
    }
}

static void load(struct state *s, const struct sock_filter *code, uint32_t number)
{
    const bool field = BPF_MODE(code->code) == BPF_ABS;
    s->known = true;
    if (BPF_MODE(code->code) == BPF_IMM)
        s->value = code->k;
    else if (BPF_MODE(code->code) == BPF_LEN)
        s->value = sizeof(struct seccomp_data);
    else if (field && code->k == offsetof(struct seccomp_data, nr))
        s->value = number;
    else if (field && code->k == offsetof(struct seccomp_data, arch))
        s->value = AUDIT_ARCH_X86_64;
    else
        s->known = false;
}

static void compute(struct state *s, const struct sock_filter *code)
{
    const uint32_t k = code->k;
    s->known = s->known && (BPF_SRC(code->code) == BPF_K || BPF_OP(code->code) == BPF_NEG);
    switch (BPF_OP(code->code)) {
    case BPF_ADD:
        s->value += k;
        break;
    case BPF_SUB:
        s->value -= k;
        break;
    case BPF_MUL:
        s->value *= k;
        break;
    case BPF_DIV:
        s->value = k ? s->value / k : 0;
        break;
    case BPF_AND:
        s->value &= k;
        break;
    case BPF_OR:
        s->value |= k;
        break;
    case BPF_XOR:
        s->value ^= k;
        break;
    case BPF_LSH:
        s->value = k < 32 ? s->value << k : 0;
        break;
    case BPF_RSH:
        s->value = k < 32 ? s->value >> k : 0;
        break;
    case BPF_NEG:
        s->value = -s->value;
        break;
    default:
        s->known = false;
    }
}

static bool holds(const struct state *s, const struct sock_filter *code)
{
    switch (BPF_OP(code->code)) {
    case BPF_JEQ:
        return s->value == code->k;
    case BPF_JGT:
        return s->value > code->k;
    case BPF_JGE:
        return s->value >= code->k;
    default:
        return s->value & code->k; /* BPF_JSET */
    }
}

unsigned pct_bpf_answers(const struct sock_filter *program, unsigned length, uint32_t number)
{
    struct state pending[PENDING] = { { 0 } };
    unsigned count = 1, answers = 0;
    for (int step = 0; count && answers != ANYTHING; step++) {
        struct state *s = &pending[count - 1];
        const struct sock_filter *code = &program[s->at];
        if (step == STEPS || s->at++ >= length)
            return ANYTHING;
        switch (BPF_CLASS(code->code)) {
        case BPF_LD:
            load(s, code, number);
            break;
        case BPF_ALU:
            compute(s, code);
            break;
        case BPF_MISC:
            s->known = s->known && BPF_MISCOP(code->code) != BPF_TXA;
            break;
        case BPF_RET:
            answers |= BPF_RVAL(code->code) == BPF_K ? answer(code->k) : s->known ? answer(s->value) : ANYTHING;
            count--;
            break;
        case BPF_JMP:
            if (BPF_OP(code->code) == BPF_JA) {
                s->at += code->k;
            } else if (s->known && BPF_SRC(code->code) == BPF_K) {
                s->at += holds(s, code) ? code->jt : code->jf;
            } else if (count == PENDING) {
                return ANYTHING;
            } else {
                pending[count] = *s;
                pending[count++].at += code->jt;
                s->at += code->jf;
            }
            break;
        default: /* to the index register, or to memory */
            break;
        }
    }
    return answers;
}
