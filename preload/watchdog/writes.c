/* Whether an instruction writes to memory: see writes.h. What is not known counts as one that does. */
#include "writes.h"

/* What of an instruction matters here. */
struct bytes {
    const unsigned char *at;
    unsigned rex, map; /* map: 0: of one byte, 1: behind 0f, 2: others */
    unsigned char operation;
    bool vex, segment;
};

static struct bytes read_bytes(const unsigned char code[PCT_WRITES_CODE])
{
    struct bytes b = { .at = code };
    for (const unsigned char *end = code + 4; b.at < end; b.at++) {
        if (*b.at == 0x64 || *b.at == 0x65 || *b.at == 0x67)
            b.segment = true;
        else if (*b.at != 0x66 && *b.at != 0xf2 && *b.at != 0xf3 && *b.at != 0xf0 && *b.at != 0x2e && *b.at != 0x3e)
            break;
    }
    if (*b.at == 0xc5 || *b.at == 0xc4) {
        const bool longer = *b.at == 0xc4;
        b.vex = true;
        b.rex =
            (b.at[1] & 0x80 ? 0 : 4) | (longer && !(b.at[1] & 0x40) ? 2 : 0) | (longer && !(b.at[1] & 0x20) ? 1 : 0);
        b.map = longer && (b.at[1] & 0x1f) != 1 ? 2 : 1;
        b.at += longer ? 3 : 2;
    } else {
        if ((*b.at & 0xf0) == 0x40)
            b.rex = *b.at++ & 0x0f;
        if (*b.at == 0x0f) {
            b.map = 1;
            b.at++;
            if (*b.at == 0x38 || *b.at == 0x3a)
                b.map = 2;
        } else if (*b.at == 0x62) {
            b.map = 2;
        }
    }
    b.operation = *b.at++;
    return b;
}

/* Whether one of the usual instructions, with this ModRM byte, writes where that says. */
static bool writes_plain(unsigned char operation, unsigned modrm)
{
    const unsigned extension = modrm >> 3 & 7;
    if (operation < 0x40) /* ADD, OR, ADC, SBB, AND, SUB, XOR, CMP: of a register to memory is the first two of eight */
        return (operation & 6) == 0 && operation < 0x38;
    switch (operation) {
    case 0x63:
    case 0x69:
    case 0x6b:
    case 0x84:
    case 0x85:
    case 0x86: /* XCHG */
    case 0x87:
    case 0x8a:
    case 0x8b:
    case 0x8d:
    case 0x8e:
        return false;
    case 0x80:
    case 0x81:
    case 0x83:
        return extension != 7; /* CMP */
    case 0xf6:
    case 0xf7:
        return extension == 2 || extension == 3; /* NOT, NEG; else TEST, MUL, DIV */
    case 0xff:
        return extension < 2; /* INC, DEC; else calls, jumps, pushes */
    default:
        return true;
    }
}

/* The same of those behind 0f. */
static bool writes_behind(const struct bytes *b)
{
    const unsigned char operation = b->operation;
    switch (operation) {
    case 0x11:
    case 0x13:
    case 0x17:
    case 0x29:
    case 0x2b:
    case 0x7e: /* but for MOVQ */
    case 0x7f:
    case 0xa4:
    case 0xa5:
    case 0xab:
    case 0xac:
    case 0xad:
    case 0xae:
    case 0xb3:
    case 0xba:
    case 0xbb:
    case 0xc0: /* XADD: a ticket that is taken again and again is none */
    case 0xc1:
    case 0xc3:
    case 0xc7:
    case 0xd6:
    case 0xe7:
        return true;
    default:
        return !b->vex && operation >= 0x90 && operation <= 0x9f; /* SETcc */
    }
}

/* Those of one byte that have no ModRM byte and are no string instructions. Pushes and calls are on the stack. */
static bool has_no_operand(unsigned char operation)
{
    return (operation < 0x40 && (operation & 7) > 3) || (operation >= 0x50 && operation < 0x62) || operation == 0x68 ||
           operation == 0x6a || (operation >= 0x70 && operation < 0x80) || (operation >= 0x90 && operation < 0xa2) ||
           operation == 0xa8 || operation == 0xa9 || (operation >= 0xb0 && operation < 0xc0) || operation == 0xc2 ||
           operation == 0xc3 || operation == 0xc9 || operation == 0xcc || (operation >= 0xe0 && operation < 0xf6) ||
           (operation >= 0xf8 && operation < 0xfe);
}

/* Strings, and what has its address in the instruction. */
static bool is_apart(unsigned char operation)
{
    return (operation >= 0xa2 && operation < 0xb0) || operation == 0x6c || operation == 0x6d;
}

/* Registers as the processor numbers them. */
static uint64_t value_of(const ucontext_t *context, unsigned number)
{
    static const int order[16] = { REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                   REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15 };
    return (uint64_t)context->uc_mcontext.gregs[order[number & 15]];
}

/* Where the operand in memory is, if that is behind the stack or the frame pointer. False: it is not. */
static bool is_within(const struct bytes *b, const ucontext_t *context, uint64_t from, uint64_t to)
{
    const unsigned char *at = b->at;
    const unsigned mod = *at >> 6, low = *at & 7;
    unsigned base = low | (b->rex & 1 ? 8 : 0);
    at++;
    if (b->segment)
        return false;
    if (low == 4) {
        if ((*at >> 3 & 7) != 4 || b->rex & 2) /* an index */
            return false;
        base = (*at & 7) | (b->rex & 1 ? 8 : 0);
        at++;
    }
    if ((!mod && (base & 7) == 5) || mod == 3)
        return false;
    int32_t displacement = mod == 1 ? (int8_t)*at : 0;
    if (mod == 2)
        __builtin_memcpy(&displacement, at, sizeof displacement);
    const uint64_t address = value_of(context, base) + (uint64_t)(int64_t)displacement;
    return address >= from && address + 32 <= to;
}

bool pct_writes_elsewhere(const unsigned char code[PCT_WRITES_CODE], const ucontext_t *context, uint64_t from,
                          uint64_t to)
{
    const struct bytes b = read_bytes(code);
    if (b.map == 2)
        return true;
    if (!b.map && has_no_operand(b.operation))
        return false;
    if (!b.map && is_apart(b.operation))
        return true;
    if (b.map == 1 && ((b.operation >= 0x80 && b.operation < 0x90) || b.operation == 0x05 || b.operation == 0x31))
        return b.operation < 0x80; /* branches; a system call, a clock */
    const bool writes = b.map ? writes_behind(&b) : writes_plain(b.operation, *b.at);
    return writes && *b.at >> 6 != 3 && !is_within(&b, context, from, to);
}
