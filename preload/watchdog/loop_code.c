/* Which instructions a loop that waits and counts is made of: loop_code.h. All others, and prefixes that these do not
 * need, are not known here. */
#include "loop_code.h"
#include "rounds.h"
#include <string.h>

/* Where the stack is the thread's own: what it has below its pointer, and the frames of a few functions. */
enum { BELOW = 128, ABOVE = 4096 };
enum { REX_B = 1, REX_X = 2, TWO_BYTES = 0x100 };

/* What an instruction does with the operand that its ModRM byte names. */
enum use {
    OTHER, /* not known */
    NONE,  /* it has none */
    READS,
    WRITES,
    NAMES /* its address alone */
};

/* By the opcode. group: of those that have the kind of operation in their ModRM byte, that. */
static enum use use_of(unsigned op, unsigned group)
{
    switch (op) {
    case 0x50 ... 0x5f: /* push, pop */
    case 0x70 ... 0x7f: /* jumps */
    case TWO_BYTES | 0x80 ... TWO_BYTES | 0x8f:
    case 0xe8: /* call, return, leave */
    case 0xc3:
    case 0xc9:
    case 0xe9:
    case 0xeb:
    case 0x90:
    case 0x04: /* add, sub, cmp, test, mov with a constant */
    case 0x05:
    case 0x2c:
    case 0x2d:
    case 0x3c:
    case 0x3d:
    case 0xa8:
    case 0xa9:
    case 0xb8 ... 0xbf:
        return NONE;
    case 0x8a: /* mov */
    case 0x8b:
    case 0x63:
    case TWO_BYTES | 0xb6 ... TWO_BYTES | 0xb7:
    case TWO_BYTES | 0xbe ... TWO_BYTES | 0xbf:
    case 0x03: /* add, sub, and, xor */
    case 0x2b:
    case 0x23:
    case 0x33:
    case 0x38 ... 0x3b: /* cmp, test */
    case 0x84 ... 0x85:
        return READS;
    case 0x88 ... 0x89: /* mov, add, sub, and, xor, set */
    case 0x01:
    case 0x29:
    case 0x21:
    case 0x31:
    case TWO_BYTES | 0x90 ... TWO_BYTES | 0x9f:
        return WRITES;
    case 0x8d: /* lea, nop */
    case TWO_BYTES | 0x1f:
        return NAMES;
    case 0x80: /* add, sub, cmp */
    case 0x81:
    case 0x83:
        return group == 7 ? READS : group == 0 || group == 5 ? WRITES : OTHER;
    case 0xf6 ... 0xf7: /* test */
        return group == 0 ? READS : OTHER;
    case 0xc6 ... 0xc7: /* mov */
        return group == 0 ? WRITES : OTHER;
    case 0xfe ... 0xff: /* inc, dec */
        return group <= 1 ? WRITES : OTHER;
    default:
        return OTHER;
    }
}

/* Bytes of a constant behind such an operand. */
static unsigned constant_of(unsigned op, bool words)
{
    if (op == 0x80 || op == 0x83 || op == 0xc6 || op == 0xf6)
        return 1;
    return op != 0x81 && op != 0xc7 && op != 0xf7 ? 0 : words ? 2 : 4;
}

static uint64_t register_of(const ucontext_t *context, unsigned number)
{
    static const uint8_t order[16] = { REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                       REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15 };
    return (uint64_t)context->uc_mcontext.gregs[order[number]];
}

/* The address that an operand in memory has. code: at its ModRM byte, behind which `constant` bytes follow; next: the
 * address of that byte. */
static uint64_t address_of(const ucontext_t *context, const unsigned char *code, unsigned rex, uint64_t next,
                           unsigned constant)
{
    unsigned mode = code[0] >> 6, base = code[0] & 7, at = 1;
    uint64_t address = 0;
    bool of_code = false;
    if (base == 4) {
        unsigned index = (code[1] >> 3 & 7) | (rex & REX_X ? 8 : 0);
        base = code[1] & 7;
        at = 2;
        if (index != 4)
            address = register_of(context, index) << (code[1] >> 6);
    } else {
        of_code = !mode && base == 5;
    }
    bool far = mode == 2 || (!mode && base == 5);
    if (mode || base != 5)
        address += register_of(context, base | (rex & REX_B ? 8 : 0));
    int32_t distance = 0;
    if (far)
        memcpy(&distance, code + at, sizeof distance);
    else if (mode == 1)
        distance = code[at] - (code[at] < 0x80 ? 0 : 0x100);
    at += far ? 4 : mode == 1;
    return address + (uint64_t)(int64_t)distance + (of_code ? next + at + constant : 0);
}

bool pct_loop_code(const ucontext_t *context, uintptr_t *read)
{
    unsigned char code[24] = { 0 }; /* an instruction has at most 15 bytes */
    uint64_t rip = (uint64_t)context->uc_mcontext.gregs[REG_RIP], sp = register_of(context, 4);
    unsigned at = 0, rex = 0;
    *read = 0;
    pct_rounds_peek(code, rip, 16);
    if (code[0] == 0xf3 && code[1] == 0x90) /* pause */
        return true;
    bool words = code[at] == 0x66;
    at += words;
    if ((code[at] & 0xf0) == 0x40)
        rex = code[at++];
    unsigned op = code[at++];
    if (op == 0x0f)
        op = TWO_BYTES | code[at++];
    enum use use = use_of(op, code[at] >> 3 & 7);
    if (use == OTHER || use == NONE || use == NAMES || code[at] >> 6 == 3)
        return use != OTHER;
    uint64_t address = address_of(context, code + at, rex, rip + at, constant_of(op, words));
    bool own = address >= sp - BELOW && address < sp + ABOVE;
    if (!own && use == READS)
        *read = address;
    return own || use == READS;
}
