/* Registers that hold the address of a variable: see held_addresses.h. */
#include "held_addresses.h"
#include "registers.h"
#include <stdlib.h>

void pct_held_addresses_begin(struct pct_held_addresses *h, size_t size)
{
    h->held = 0;
    h->brought = NULL;
    h->size = size;
}

void pct_held_addresses_end(struct pct_held_addresses *h)
{
    free(h->brought);
    h->brought = NULL;
}

void pct_held_addresses_come(struct pct_held_addresses *h, size_t at)
{
    if (h->brought)
        h->held |= h->brought[at];
}

bool pct_held_addresses_in(const struct pct_held_addresses *h, const ZydisDecodedOperandMem *memory)
{
    return h->held & (pct_register_bit(memory->base) | (memory->scale == 1 ? pct_register_bit(memory->index) : 0));
}

/* What `lea` makes, or a move with the whole number in it. */
static bool names_variable(const struct pct_held_addresses *h, const ZydisDecodedInstruction *instruction,
                           const ZydisDecodedOperand *source, uint64_t address)
{
    if (source->type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
        return h->fixed && instruction->raw.imm[0].size >= 32 && h->is_variable(h->module, source->imm.value.u);
    if (source->mem.base == ZYDIS_REGISTER_RIP)
        return h->is_variable(h->module, address + instruction->length + (uint64_t)source->mem.disp.value);
    return pct_held_addresses_in(h, &source->mem) || (h->fixed && instruction->raw.disp.size >= 32 &&
                                                      h->is_variable(h->module, (uint64_t)source->mem.disp.value));
}

/* Whether the register that the instruction writes holds such an address behind it. */
static bool makes_address(const struct pct_held_addresses *h, const ZydisDecodedInstruction *instruction,
                          const ZydisDecodedOperand *operands, uint64_t address)
{
    const ZydisDecodedOperand *source = &operands[1];
    const bool was = h->held & pct_register_bit(operands[0].reg.value);
    const bool from = instruction->operand_count_visible > 1 && source->type == ZYDIS_OPERAND_TYPE_REGISTER &&
                      h->held & pct_register_bit(source->reg.value);
    switch (instruction->mnemonic) {
    case ZYDIS_MNEMONIC_LEA:
        return names_variable(h, instruction, source, address);
    case ZYDIS_MNEMONIC_MOV:
        return from ||
               (source->type == ZYDIS_OPERAND_TYPE_IMMEDIATE && names_variable(h, instruction, source, address));
    case ZYDIS_MNEMONIC_ADD:
        return was || from;
    case ZYDIS_MNEMONIC_SUB: /* of two addresses: how far they are from each other */
        return was && !from;
    case ZYDIS_MNEMONIC_INC:
    case ZYDIS_MNEMONIC_DEC:
        return was;
    default:
        return instruction->meta.category == ZYDIS_CATEGORY_CMOV && (was || from);
    }
}

/* A branch forward brings there what is held here. */
static bool bring(struct pct_held_addresses *h, const ZydisDecodedInstruction *instruction, size_t at)
{
    const int64_t to = (int64_t)at + instruction->length + instruction->raw.imm[0].value.s;
    if (!h->held || !instruction->raw.imm[0].is_relative || to <= (int64_t)at || to >= (int64_t)h->size)
        return true;
    if (!h->brought && !(h->brought = calloc(h->size, sizeof *h->brought)))
        return false;
    h->brought[to] |= h->held;
    return true;
}

bool pct_held_addresses_pass(struct pct_held_addresses *h, const ZydisDecoder *decoder,
                             const ZydisDecoderContext *context, const ZydisDecodedInstruction *instruction, size_t at,
                             uint64_t address)
{
    enum { KEPT_BY_CALLS = 1 << 3 | 1 << 5 | 0xf << 12 }; /* rbx, rbp, r12 to r15 */
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    switch (instruction->meta.category) {
    case ZYDIS_CATEGORY_COND_BR:
    case ZYDIS_CATEGORY_UNCOND_BR: /* behind it often stands the loop to whose end it jumps */
        return bring(h, instruction, at);
    case ZYDIS_CATEGORY_CALL:
        h->held &= KEPT_BY_CALLS;
        return true;
    case ZYDIS_CATEGORY_RET:
        h->held = 0;
        return true;
    default:
        break;
    }
    const bool moves = instruction->mnemonic == ZYDIS_MNEMONIC_LEA || instruction->mnemonic == ZYDIS_MNEMONIC_MOV;
    if ((!h->held && !moves) ||
        !ZYAN_SUCCESS(ZydisDecoderDecodeOperands(decoder, context, instruction, operands, instruction->operand_count)))
        return true;
    uint16_t written = 0;
    for (unsigned i = 0; i < instruction->operand_count; i++)
        if (operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER && operands[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
            written |= pct_register_bit(operands[i].reg.value);
    if (!written)
        return true;
    const bool makes =
        operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER && makes_address(h, instruction, operands, address);
    h->held = (uint16_t)((h->held & ~written) | (makes ? pct_register_bit(operands[0].reg.value) : 0));
    return true;
}
