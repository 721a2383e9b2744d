/* Loops that wait on memory: see spin_loops.h. */
#include "spin_loops.h"
#include "registers.h"
#include <Zydis/Zydis.h>

/* Bits by the number of a general register. */
struct loop {
    ZydisDecoder decoder;
    uint16_t written; /* so far */
    uint16_t carried; /* read before they are written, by which one round could hand something to the next */
    uint16_t changes; /* hold what may differ from round to round, where we are */
    uint16_t seen;    /* hold what a look has read, or what comes from it */
    bool compared;    /* the flags do */
    bool waits;       /* a branch depends on that */
    unsigned loops;   /* branches back */
    bool framed;
};

/* What a loop that waits does not do: it leaves the loop's code, or other threads or the processor might see it. */
static bool acts(const ZydisDecodedInstruction *instruction)
{
    switch (instruction->meta.category) {
    case ZYDIS_CATEGORY_CALL:
    case ZYDIS_CATEGORY_RET:
    case ZYDIS_CATEGORY_INTERRUPT:
    case ZYDIS_CATEGORY_SYSCALL:
    case ZYDIS_CATEGORY_SYSRET:
    case ZYDIS_CATEGORY_SYSTEM:
    case ZYDIS_CATEGORY_PUSH:
    case ZYDIS_CATEGORY_POP:
    case ZYDIS_CATEGORY_STRINGOP:
        return true;
    default:
        break;
    }
    return instruction->attributes & ZYDIS_ATTRIB_HAS_LOCK || instruction->mnemonic == ZYDIS_MNEMONIC_PAUSE ||
           instruction->mnemonic == ZYDIS_MNEMONIC_MFENCE;
}

/* Whether an operand in memory is one that other threads may write. */
static bool is_shared(const struct loop *l, const ZydisDecodedOperandMem *memory)
{
    unsigned base = pct_register_number(memory->base);
    return memory->segment != ZYDIS_REGISTER_FS && memory->segment != ZYDIS_REGISTER_GS && base != PCT_REGISTER_RSP &&
           !(l->framed && base == PCT_REGISTER_RBP);
}

/* `xor %eax, %eax` and `sub %eax, %eax` read nothing. */
static bool clears(const ZydisDecodedInstruction *instruction, const ZydisDecodedOperand *operands)
{
    return (instruction->mnemonic == ZYDIS_MNEMONIC_XOR || instruction->mnemonic == ZYDIS_MNEMONIC_SUB) &&
           operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER && operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
           operands[0].reg.value == operands[1].reg.value;
}

/* What comes from a look, behind this instruction. */
static void follow(struct loop *l, const ZydisDecodedInstruction *instruction, bool look, uint16_t reads,
                   uint16_t writes)
{
    bool seen = look || reads & l->seen;
    l->seen = seen ? l->seen | writes : l->seen & (uint16_t)~writes;
    if (instruction->cpu_flags && (instruction->cpu_flags->modified || instruction->cpu_flags->set_0))
        l->compared = seen;
}

/* One operand: what it reads and writes, as bits. *look: it is a read of shared memory. Returns false if it is one that
 * a loop which waits does not have. */
static bool weigh(const struct loop *l, const ZydisDecodedOperand *operand, uint16_t *reads, uint16_t *writes,
                  bool *look)
{
    bool read = operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ;
    bool write = operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
    if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER) {
        uint16_t bit = pct_register_bit(operand->reg.value);
        /* The rest of a small register stays as it was. */
        *reads |= read || (write && operand->size < 32) ? bit : 0;
        *writes |= write ? bit : 0;
    } else if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY) {
        *reads |= pct_register_bit(operand->mem.base) | pct_register_bit(operand->mem.index);
        bool access = operand->mem.type != ZYDIS_MEMOP_TYPE_AGEN;
        *look = *look || (access && read && is_shared(l, &operand->mem));
        return !access || !write;
    }
    return true;
}

/* Go over one instruction. Returns false if the loop does not wait. *look: the instruction reads shared memory, at an
 * address that is the same in each round as far as `changes` knows. */
static bool step(struct loop *l, const uint8_t *code, size_t size, ZydisDecodedInstruction *instruction, bool *look)
{
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    ZydisDecoderContext context;
    uint16_t reads = 0, writes = 0;
    *look = false;
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&l->decoder, &context, code, size, instruction)) ||
        !ZYAN_SUCCESS(
            ZydisDecoderDecodeOperands(&l->decoder, &context, instruction, operands, instruction->operand_count)) ||
        acts(instruction))
        return false;
    if (instruction->meta.category == ZYDIS_CATEGORY_NOP || instruction->meta.category == ZYDIS_CATEGORY_WIDENOP)
        return true;
    if (instruction->meta.category == ZYDIS_CATEGORY_COND_BR ||
        instruction->meta.category == ZYDIS_CATEGORY_UNCOND_BR) {
        l->loops += instruction->raw.imm[0].value.s < 0;
        l->waits = l->waits || (l->compared && instruction->meta.category == ZYDIS_CATEGORY_COND_BR);
        return instruction->attributes & ZYDIS_ATTRIB_IS_RELATIVE;
    }
    for (unsigned i = 0; i < instruction->operand_count; i++)
        if (!weigh(l, &operands[i], &reads, &writes, look))
            return false;
    if (clears(instruction, operands))
        reads = 0;
    l->carried |= reads & (uint16_t)~l->written;
    l->written |= writes;
    *look = *look && !(reads & l->changes);
    follow(l, instruction, *look, reads, writes);
    l->changes = reads & l->changes ? l->changes | writes : l->changes & (uint16_t)~writes;
    return true;
}

unsigned pct_spin_loops_find(const uint8_t *code, size_t size, bool framed, uint8_t looks[PCT_SPIN_LOOPS_LOOKS])
{
    struct loop l = { .framed = framed };
    ZydisDecodedInstruction instruction;
    unsigned count = 0;
    if (!ZYAN_SUCCESS(ZydisDecoderInit(&l.decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)))
        return 0;
    /* The first pass finds what one round hands to the next, the second the reads that do not depend on it. */
    for (unsigned pass = 0; pass < 2; pass++) {
        for (size_t at = 0; at < size; at += instruction.length) {
            bool look;
            if (!step(&l, code + at, size - at, &instruction, &look))
                return 0;
            if (pass && look && count == PCT_SPIN_LOOPS_LOOKS)
                return 0;
            if (pass && look)
                looks[count++] = (uint8_t)at;
        }
        l.changes = l.carried & l.written;
        l.waits = l.waits && pass;
        /* A loop over a table for each of something computes, unless it does exactly the same each time. */
        if (!pass && l.loops > 1 && l.changes)
            return 0;
    }
    return l.waits ? count : 0;
}
