/* What moves with a short site: see short_sites.h.
 *
 * Nothing may come to an instruction that has moved but from the one before it. Direct branches are known, and
 * instructions whose address other code takes (__builtin_setjmp); a jump through a register or memory may lead to any
 * instruction of its function, which compilers cut in two, and so may one of the part that is elsewhere. No exception
 * lands there, as nothing falls into where one does. And as a thread cannot be shown to stand between them, they do
 * nothing that could fail: no access but to the stack. */
#include "short_sites.h"
#include <Zydis/Zydis.h>
#include <common/bisect.h>

enum { JUMP = 5 };

struct pass {
    struct pct_instruction_scan *scan;
    const struct pct_frame *functions;
    size_t count;
    ZydisDecoder decoder;
};

/* The last function that begins at or before this address; NULL: none does. */
static const struct pct_frame *function_of(const struct pass *p, uint64_t address)
{
    const size_t behind = PCT_BISECT(i, 0, p->count, p->functions[i].from <= address);
    return behind ? &p->functions[behind - 1] : NULL;
}

/* Whether control may come to instructions of the function in ways that are not known: see above. */
static bool is_open(const struct pass *p, const struct pct_frame *function, const uint8_t *code)
{
    const size_t size = function->to - function->from;
    ZydisDecodedInstruction instruction;
    for (size_t at = 0; at < size; at += instruction.length) {
        if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&p->decoder, NULL, code + at, size - at, &instruction)))
            return true;
        const bool always = instruction.meta.category == ZYDIS_CATEGORY_UNCOND_BR;
        if (!always && instruction.meta.category != ZYDIS_CATEGORY_COND_BR)
            continue;
        if (!instruction.raw.imm[0].is_relative)
            return true; /* also through a variable, where a coroutine goes on */
        const uint64_t to = function->from + at + instruction.length + (uint64_t)instruction.raw.imm[0].value.s;
        const struct pct_frame *other = function_of(p, to);
        if ((to < function->from || to >= function->to) && other && to != other->from && to < other->to)
            return true; /* the function is in parts */
    }
    return false;
}

/* Whether the instruction goes on with the next, does the same elsewhere, and cannot fail. */
static bool may_move(const ZydisDecodedInstruction *instruction, const ZydisDecodedOperand *operands)
{
    switch (instruction->meta.category) {
    case ZYDIS_CATEGORY_BINARY:
        if (instruction->mnemonic == ZYDIS_MNEMONIC_DIV || instruction->mnemonic == ZYDIS_MNEMONIC_IDIV)
            return false;
        break;
    case ZYDIS_CATEGORY_POP:
        if (instruction->mnemonic != ZYDIS_MNEMONIC_POP)
            return false; /* of the flags, one of which traps */
        break;
    case ZYDIS_CATEGORY_CONVERT: /* cltd; those of real numbers may trap */
        if (instruction->meta.isa_ext != ZYDIS_ISA_EXT_BASE && instruction->meta.isa_ext != ZYDIS_ISA_EXT_LONGMODE)
            return false;
        break;
    case ZYDIS_CATEGORY_CMOV:
    case ZYDIS_CATEGORY_DATAXFER:
    case ZYDIS_CATEGORY_LOGICAL:
    case ZYDIS_CATEGORY_MISC: /* lea, but also others: below */
    case ZYDIS_CATEGORY_NOP:
    case ZYDIS_CATEGORY_ROTATE:
    case ZYDIS_CATEGORY_SETCC:
    case ZYDIS_CATEGORY_SHIFT:
    case ZYDIS_CATEGORY_WIDENOP:
        break;
    default:
        return false;
    }
    if (instruction->meta.category == ZYDIS_CATEGORY_MISC && instruction->mnemonic != ZYDIS_MNEMONIC_LEA)
        return false;
    const bool nothing =
        instruction->meta.category == ZYDIS_CATEGORY_NOP || instruction->meta.category == ZYDIS_CATEGORY_WIDENOP;
    for (unsigned i = 0; i < instruction->operand_count; i++) {
        const ZydisDecodedOperand *operand = &operands[i];
        if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
            ZydisRegisterGetClass(operand->reg.value) == ZYDIS_REGCLASS_SEGMENT)
            return false;
        if (operand->type != ZYDIS_OPERAND_TYPE_MEMORY)
            continue;
        if (operand->mem.base == ZYDIS_REGISTER_RIP || operand->mem.base == ZYDIS_REGISTER_EIP)
            return false;
        if (!nothing && operand->mem.type != ZYDIS_MEMOP_TYPE_AGEN &&
            (operand->mem.base != ZYDIS_REGISTER_RSP || operand->mem.index != ZYDIS_REGISTER_NONE))
            return false;
    }
    return true;
}

static bool leads_into(const struct pct_instruction_scan *scan, uint64_t address, unsigned length)
{
    for (unsigned i = 0; i < length; i++)
        if (pct_instruction_scan_is_target(scan, address + i))
            return true;
    return false;
}

/* Bytes of the instructions from `code` on that may move, so that there are `needed`; `end`: they must end before that.
 * 0: there are not as many. */
static uint8_t bytes_behind(const struct pass *p, const uint8_t *code, uint64_t address, uint64_t end, unsigned needed,
                            unsigned most)
{
    ZydisDecodedInstruction instruction;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    unsigned size = 0;
    while (size < needed) {
        if (!ZYAN_SUCCESS(
                ZydisDecoderDecodeFull(&p->decoder, code + size, end - address - size, &instruction, operands)) ||
            size + instruction.length > most || !may_move(&instruction, operands) ||
            leads_into(p->scan, address + size, instruction.length))
            return 0;
        size += instruction.length;
    }
    return (uint8_t)size;
}

void pct_short_sites_extend(struct pct_instruction_scan *scan, const struct pct_frame *functions, size_t count,
                            const uint8_t *(*bytes)(const void *file, uint64_t address, uint64_t size),
                            const void *file)
{
    struct pass p = { .scan = scan, .functions = functions, .count = count };
    const struct pct_frame *known = NULL; /* of which it is known whether it is open */
    bool open = false;
    if (!ZYAN_SUCCESS(ZydisDecoderInit(&p.decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)))
        return;
    for (size_t i = 0; i < scan->count; i++) {
        struct pct_plan_site *site = &scan->sites[i];
        const uint64_t behind = site->address + site->length;
        if (site->length >= JUMP || site->flags & PCT_SITE_ENTERED || site->kind == PCT_SITE_PLACE ||
            site->kind == PCT_SITE_CALL)
            continue;
        const struct pct_frame *function = function_of(&p, site->address);
        if (!function || behind >= function->to)
            continue;
        const uint8_t *code = bytes(file, function->from, function->to - function->from);
        if (function != known) {
            known = function;
            open = function->part || !code || is_open(&p, function, code);
        }
        uint64_t end = function->to;
        if (i + 1 < scan->count && scan->sites[i + 1].address < end)
            end = scan->sites[i + 1].address;
        if (!open && end > behind)
            site->more = bytes_behind(&p, code + (behind - function->from), behind, end, JUMP - site->length,
                                      PCT_SITE_LONGEST - site->length) &
                         15;
    }
}
