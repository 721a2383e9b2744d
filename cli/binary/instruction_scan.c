/* Finding sites: see instruction_scan.h. */
#include "instruction_scan.h"
#include <cli/base/grow.h>
#include "frames.h"
#include "held_addresses.h"
#include "registers.h"
#include "spin_loops.h"
#include <Zydis/Zydis.h>
#include <common/bisect.h>
#include <stdlib.h>
#include <string.h>

enum { SMALLEST_PAD = 5, LARGEST_ACCESS = 64 };

bool pct_instruction_scan_start(struct pct_instruction_scan *s)
{
    s->targets = calloc((s->to - s->from) / 8 + 1, 1);
    return s->targets != NULL;
}

void pct_instruction_scan_free(struct pct_instruction_scan *s)
{
    free(s->targets);
    free(s->sites);
    free(s->calls);
    free(s->pads);
}

void pct_instruction_scan_add(struct pct_instruction_scan *s, const struct pct_plan_site *site)
{
    s->no_memory |= !PCT_GROW(s->sites, s->count, s->room);
    if (!s->no_memory)
        s->sites[s->count++] = *site;
}

static void add_call(struct pct_instruction_scan *s, const struct pct_plan_site *site)
{
    s->no_memory |= !PCT_GROW(s->calls, s->call_count, s->call_room);
    if (!s->no_memory)
        s->calls[s->call_count++] = *site;
}

static void add_pad(struct pct_instruction_scan *s, uint64_t address, uint64_t size)
{
    s->no_memory |= !PCT_GROW(s->pads, s->pad_count, s->pad_room);
    if (!s->no_memory)
        s->pads[s->pad_count++] = (struct pct_pad){ address, size };
}

bool pct_instruction_scan_is_target(const struct pct_instruction_scan *s, uint64_t address)
{
    uint64_t at = address - s->from;
    return s->targets[at / 8] >> at % 8 & 1;
}

/* --- One instruction ---------------------------------------------------------------------------------------------- */

struct one {
    const ZydisDecoder *decoder;
    ZydisDecoderContext context;
    ZydisDecodedInstruction instruction;
    uint64_t address;
    bool framed;                     /* rbp points into the stack in this function */
    struct pct_held_addresses *held; /* before the instruction; NULL: not asked for */
};

static uint8_t number_of(ZydisRegister reg)
{
    ZyanI8 id = ZydisRegisterGetId(reg);
    return reg == ZYDIS_REGISTER_NONE || id < 0 ? PCT_SITE_NO_REGISTER : (uint8_t)id;
}

static bool in_globals(const void *scan, uint64_t address)
{
    const struct pct_instruction_scan *s = scan;
    for (size_t i = 0; i < s->globals_count; i++)
        if (address >= s->globals[i].from && address < s->globals[i].to)
            return true;
    return false;
}

static bool is_rip(ZydisRegister reg)
{
    return reg == ZYDIS_REGISTER_RIP || reg == ZYDIS_REGISTER_EIP;
}

static bool is_global(const struct pct_instruction_scan *s, const struct one *one, const ZydisDecodedOperandMem *memory)
{
    if (is_rip(memory->base))
        return in_globals(s, one->address + one->instruction.length + (uint64_t)memory->disp.value);
    /* An array of the executable with an index, or its address in a register with the offset of a member: only the
     * former has a displacement that lies in its data. */
    return (one->held && pct_held_addresses_in(one->held, memory)) ||
           (s->fixed && one->instruction.raw.disp.size >= 32 && in_globals(s, (uint64_t)memory->disp.value));
}

static bool is_stack(const struct one *one, const ZydisDecodedOperandMem *memory)
{
    const unsigned base = pct_register_number(memory->base);
    return base == PCT_REGISTER_RSP || (one->framed && base == PCT_REGISTER_RBP);
}

/* The operand in memory that the instruction accesses itself; NULL: none. */
static const ZydisDecodedOperand *memory_of(const ZydisDecodedOperand *operands, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY && operands[i].mem.type != ZYDIS_MEMOP_TYPE_AGEN)
            return &operands[i];
    return NULL;
}

static bool is_fence(const ZydisDecodedInstruction *instruction, const ZydisDecodedOperand *operands)
{
    if (instruction->mnemonic == ZYDIS_MNEMONIC_MFENCE)
        return true;
    /* `lock or $0, (%rsp)`: what compilers make of a fence. */
    return instruction->attributes & ZYDIS_ATTRIB_HAS_LOCK && instruction->mnemonic == ZYDIS_MNEMONIC_OR &&
           operands[0].type == ZYDIS_OPERAND_TYPE_MEMORY &&
           pct_register_number(operands[0].mem.base) == PCT_REGISTER_RSP &&
           operands[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && !operands[1].imm.value.u;
}

static enum pct_site_kind kind_of(const ZydisDecodedInstruction *instruction, const ZydisDecodedOperand *memory)
{
    bool reads = memory->actions & ZYDIS_OPERAND_ACTION_MASK_READ;
    bool writes = memory->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
    if (instruction->mnemonic == ZYDIS_MNEMONIC_XCHG)
        return PCT_SITE_EXCHANGE;
    if (instruction->attributes & ZYDIS_ATTRIB_HAS_LOCK)
        return instruction->mnemonic == ZYDIS_MNEMONIC_CMPXCHG ? PCT_SITE_COMPARE : PCT_SITE_ATOMIC;
    return reads && writes ? PCT_SITE_UPDATE : writes ? PCT_SITE_WRITE : PCT_SITE_READ;
}

/* A near call or jump through memory. */
static bool is_indirect(const ZydisDecodedInstruction *instruction)
{
    return (instruction->meta.category == ZYDIS_CATEGORY_CALL ||
            instruction->meta.category == ZYDIS_CATEGORY_UNCOND_BR) &&
           instruction->meta.branch_type == ZYDIS_BRANCH_TYPE_NEAR && instruction->opcode == 0xff;
}

/* With the number of the bit in a register, the bit may be far away from the operand. */
static bool is_bit_by_register(const ZydisDecodedInstruction *instruction, const ZydisDecodedOperand *operands,
                               const ZydisDecodedOperand *memory)
{
    return instruction->meta.category == ZYDIS_CATEGORY_BITBYTE && operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
           memory == &operands[0];
}

/* Whether an instruction with such an operand is none that could be a site, and is to be counted as such. */
static bool is_omitted(const ZydisDecodedInstruction *instruction, const ZydisDecodedOperand *operands,
                       const ZydisDecodedOperand *memory, enum pct_plan_omission *why)
{
    switch (instruction->meta.category) {
    case ZYDIS_CATEGORY_STRINGOP:
        *why = PCT_PLAN_OMITTED_STRING;
        return true;
    case ZYDIS_CATEGORY_CALL:
    case ZYDIS_CATEGORY_RET:
    case ZYDIS_CATEGORY_UNCOND_BR:
    case ZYDIS_CATEGORY_COND_BR:
    case ZYDIS_CATEGORY_PUSH:
    case ZYDIS_CATEGORY_POP:
        *why = PCT_PLAN_OMITTED_CONTROL;
        return true;
    default:
        break;
    }
    *why = PCT_PLAN_OMITTED_OTHER;
    if (is_bit_by_register(instruction, operands, memory) && !(instruction->attributes & ZYDIS_ATTRIB_HAS_LOCK))
        return true;
    /* Behind the thread pointer there is room for one register. */
    if (memory->mem.segment == ZYDIS_REGISTER_FS &&
        (is_rip(memory->mem.base) ||
         (memory->mem.base != ZYDIS_REGISTER_NONE && memory->mem.index != ZYDIS_REGISTER_NONE)))
        return true;
    return memory->mem.type != ZYDIS_MEMOP_TYPE_MEM || memory->size == 0 || memory->size > LARGEST_ACCESS * 8 ||
           memory->mem.disp.value < INT32_MIN || memory->mem.disp.value > INT32_MAX;
}

/* Accesses nothing, whatever its operands say. */
static bool is_hint(const ZydisDecodedInstruction *instruction)
{
    return instruction->meta.category == ZYDIS_CATEGORY_NOP || instruction->meta.category == ZYDIS_CATEGORY_WIDENOP ||
           instruction->meta.category == ZYDIS_CATEGORY_PREFETCH;
}

static void describe(struct pct_plan_site *site, const struct one *one, const ZydisDecodedOperand *memory)
{
    const ZydisDecodedOperandMem *m = &memory->mem;
    site->displacement = (int32_t)m->disp.value;
    site->size = (uint8_t)(memory->size / 8);
    if (is_rip(m->base)) {
        site->flags |= PCT_SITE_RELATIVE;
        site->displacement_at = one->instruction.raw.disp.offset & 15;
    } else {
        site->base = number_of(m->base);
    }
    site->index = number_of(m->index);
    site->scale = m->scale;
    if (m->segment == ZYDIS_REGISTER_FS) {
        if (m->base != ZYDIS_REGISTER_NONE) {
            site->index = site->base;
            site->scale = 1;
        }
        site->base = PCT_SITE_THREAD_POINTER;
    }
    if (one->instruction.address_width == 32)
        site->flags |= PCT_SITE_SHORT_ADDRESS;
}

/* The register of an exchange, as a whole one whose lowest bytes are it. */
static uint8_t exchanged(ZydisRegister reg)
{
    if (reg >= ZYDIS_REGISTER_AH && reg <= ZYDIS_REGISTER_BH)
        return PCT_SITE_NO_REGISTER;
    return number_of(ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg));
}

enum {
    FLAGS =
        ZYDIS_CPUFLAG_CF | ZYDIS_CPUFLAG_PF | ZYDIS_CPUFLAG_AF | ZYDIS_CPUFLAG_ZF | ZYDIS_CPUFLAG_SF | ZYDIS_CPUFLAG_OF
};

/* Sets all of the flags, whatever its operands are. */
static bool sets_flags(const ZydisDecodedInstruction *instruction)
{
    switch (instruction->mnemonic) {
    case ZYDIS_MNEMONIC_ADD:
    case ZYDIS_MNEMONIC_AND:
    case ZYDIS_MNEMONIC_CMP:
    case ZYDIS_MNEMONIC_NEG:
    case ZYDIS_MNEMONIC_OR:
    case ZYDIS_MNEMONIC_SUB:
    case ZYDIS_MNEMONIC_TEST:
    case ZYDIS_MNEMONIC_XOR:
        return true;
    default:
        return false;
    }
}

/* Goes on with the next instruction, and does not read the flags. */
static bool passes_flags(const ZydisDecodedInstruction *instruction)
{
    switch (instruction->meta.category) {
    case ZYDIS_CATEGORY_CALL:
    case ZYDIS_CATEGORY_COND_BR:
    case ZYDIS_CATEGORY_FLAGOP:
    case ZYDIS_CATEGORY_INTERRUPT:
    case ZYDIS_CATEGORY_PUSH: /* the flags themselves, too */
    case ZYDIS_CATEGORY_RET:
    case ZYDIS_CATEGORY_SYSCALL:
    case ZYDIS_CATEGORY_SYSTEM:
    case ZYDIS_CATEGORY_UNCOND_BR:
        return false;
    default:
        return !instruction->cpu_flags || !(instruction->cpu_flags->tested & FLAGS);
    }
}

/* Whether nobody reads what the flags are before the instruction at `code`: some instruction that follows sets them all
 * first. */
static bool flags_are_dead(const ZydisDecoder *decoder, const uint8_t *code, size_t size)
{
    enum { FAR_ENOUGH = 8 };
    ZydisDecodedInstruction instruction;
    size_t at = 0;
    for (unsigned i = 0; i < FAR_ENOUGH && at < size; i++, at += instruction.length) {
        if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(decoder, NULL, code + at, size - at, &instruction)) ||
            !passes_flags(&instruction))
            return false;
        if (sets_flags(&instruction))
            return true;
    }
    return false;
}

struct pct_plan_site pct_instruction_scan_site(uint64_t address, const uint8_t *code, uint8_t length)
{
    struct pct_plan_site site = { .address = address,
                                  .length = length,
                                  .base = PCT_SITE_NO_REGISTER,
                                  .index = PCT_SITE_NO_REGISTER,
                                  .value = PCT_SITE_NO_REGISTER };
    memcpy(site.bytes, code, sizeof site.bytes);
    return site;
}

static struct pct_plan_site start_site(const struct one *one, const uint8_t *code)
{
    return pct_instruction_scan_site(one->address, code, one->instruction.length);
}

/* Whether the level has such an access. */
static bool is_wanted(const struct pct_instruction_scan *s, const struct one *one, const ZydisDecodedOperandMem *memory,
                      enum pct_site_kind kind)
{
    const bool near = memory->base == ZYDIS_REGISTER_NONE && memory->index == ZYDIS_REGISTER_NONE;
    if (memory->segment == ZYDIS_REGISTER_FS) /* from the thread pointer up stands what is libc's own */
        return s->level >= PCT_PATCH_STACKS && (!near || memory->disp.value < 0);
    if (memory->segment == ZYDIS_REGISTER_GS)
        return false;
    if (kind >= PCT_SITE_ATOMIC || (s->level >= PCT_PATCH_GLOBALS && is_global(s, one, memory)))
        return true;
    if (is_stack(one, memory))
        return s->level >= PCT_PATCH_STACKS && s->pointed;
    return s->level >= PCT_PATCH_ALL && !is_rip(memory->base);
}

/* Of an access to the stack that is wanted: whether it cannot be a site. Where it is a call, the stack is another one
 * in the trampoline. */
static bool is_untold(const ZydisDecodedInstruction *instruction, const ZydisDecodedOperand *operands,
                      const ZydisDecodedOperand *memory)
{
    enum pct_plan_omission why;
    return is_indirect(instruction) || is_omitted(instruction, operands, memory, &why);
}

/* One byte that touches memory which others may see: a string instruction, which is no site, and is counted. */
static void consider_byte(struct pct_instruction_scan *s, const struct one *one)
{
    const ZydisDecodedInstruction *instruction = &one->instruction;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    if (instruction->meta.category != ZYDIS_CATEGORY_STRINGOP ||
        !ZYAN_SUCCESS(
            ZydisDecoderDecodeOperands(one->decoder, &one->context, instruction, operands, instruction->operand_count)))
        return;
    const ZydisDecodedOperand *memory = memory_of(operands, instruction->operand_count);
    if (memory && is_wanted(s, one, &memory->mem, kind_of(instruction, memory)))
        s->omitted[PCT_PLAN_OMITTED_STRING]++;
}

/* Whether this instruction is to be a site. size: from it to the end of its function. */
static void consider(struct pct_instruction_scan *s, const struct one *one, const uint8_t *code, size_t size)
{
    const ZydisDecodedInstruction *instruction = &one->instruction;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    if (s->level == PCT_PATCH_OFF)
        return;
    if (instruction->length < PCT_SITE_SHORTEST) {
        consider_byte(s, one);
        return;
    }
    struct pct_plan_site site = start_site(one, code);
    if (instruction->mnemonic == ZYDIS_MNEMONIC_PAUSE) {
        site.kind = PCT_SITE_PAUSE;
        pct_instruction_scan_add(s, &site);
        return;
    }
    bool modrm = instruction->attributes & ZYDIS_ATTRIB_HAS_MODRM;
    bool fence = instruction->mnemonic == ZYDIS_MNEMONIC_MFENCE;
    /* Without ModRM: string instructions, moves with a whole address in them, and what pushes and pops. */
    if ((modrm && instruction->raw.modrm.mod == 3 && !fence) || is_hint(instruction) ||
        !ZYAN_SUCCESS(
            ZydisDecoderDecodeOperands(one->decoder, &one->context, instruction, operands, instruction->operand_count)))
        return;
    const ZydisDecodedOperand *memory =
        memory_of(operands, modrm ? instruction->operand_count_visible : instruction->operand_count);
    if (fence || (memory && is_fence(instruction, operands))) {
        site.kind = PCT_SITE_FENCE;
        pct_instruction_scan_add(s, &site);
        return;
    }
    const bool stack = memory && is_stack(one, &memory->mem);
    if (!memory || (stack && memory->visibility != ZYDIS_OPERAND_VISIBILITY_EXPLICIT)) /* pushes, pops, calls */
        return;
    site.kind = kind_of(instruction, memory);
    enum pct_plan_omission why;
    if (!is_wanted(s, one, &memory->mem, site.kind))
        return;
    s->untold += stack && is_untold(instruction, operands, memory);
    if (is_indirect(instruction) && !stack) {
        describe(&site, one, memory);
        site.kind = PCT_SITE_CALL;
        site.call = instruction->meta.category == ZYDIS_CATEGORY_CALL ? instruction->length : 0;
        add_call(s, &site);
        return;
    }
    if (is_omitted(instruction, operands, memory, &why)) {
        s->omitted[why]++;
        return;
    }
    describe(&site, one, memory);
    if (flags_are_dead(one->decoder, code, size))
        site.flags |= PCT_SITE_FLAGS_DEAD;
    if (site.kind == PCT_SITE_EXCHANGE || is_bit_by_register(instruction, operands, memory))
        site.value = exchanged(operands[memory == operands ? 1 : 0].reg.value);
    pct_instruction_scan_add(s, &site);
}

/* --- Functions ---------------------------------------------------------------------------------------------------- */

/* A direct branch, or an address that is taken: note where it leads. */
static void note_target(struct pct_instruction_scan *s, const struct one *one)
{
    const ZydisDecodedInstruction *instruction = &one->instruction;
    uint64_t to = one->address + instruction->length;
    if (!(instruction->attributes & ZYDIS_ATTRIB_IS_RELATIVE)) {
        if (!s->fixed || instruction->raw.imm[0].size < 32)
            return;
        to = instruction->raw.imm[0].value.u;
    } else if (instruction->raw.imm[0].is_relative) {
        to += (uint64_t)instruction->raw.imm[0].value.s;
    } else if (instruction->mnemonic == ZYDIS_MNEMONIC_LEA) {
        to += (uint64_t)instruction->raw.disp.value;
    } else {
        return;
    }
    if (to >= s->from && to < s->to)
        s->targets[(to - s->from) / 8] |= (uint8_t)(1u << (to - s->from) % 8);
}

static bool decode(const ZydisDecoder *decoder, struct one *one, const uint8_t *code, size_t size)
{
    one->decoder = decoder;
    return ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(decoder, &one->context, code, size, &one->instruction));
}

static struct pct_plan_site *find_site(const struct pct_instruction_scan *s, uint64_t address, uint64_t function)
{
    for (size_t i = s->count; i-- > 0 && s->sites[i].address >= function;)
        if (s->sites[i].address == address)
            return &s->sites[i];
    return NULL;
}

/* A read in a loop that waits on memory: a site, if the level does not make it one anyway. */
static void add_look(struct pct_instruction_scan *s, struct one *one, const uint8_t *code, size_t size,
                     uint64_t function)
{
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    ZydisDecodedInstruction *instruction = &one->instruction;
    enum pct_plan_omission why;
    struct pct_plan_site *known = find_site(s, one->address, function);
    if (known && known->kind == PCT_SITE_READ)
        known->flags |= PCT_SITE_WAITS;
    if (known || s->level == PCT_PATCH_OFF || !decode(one->decoder, one, code, size) ||
        instruction->length < PCT_SITE_SHORTEST ||
        !ZYAN_SUCCESS(
            ZydisDecoderDecodeOperands(one->decoder, &one->context, instruction, operands, instruction->operand_count)))
        return;
    const ZydisDecodedOperand *memory = memory_of(operands, instruction->operand_count_visible);
    bool named = memory && memory->mem.base != ZYDIS_REGISTER_NONE && !is_rip(memory->mem.base);
    if (!memory || (!named && !is_global(s, one, &memory->mem)) || is_omitted(instruction, operands, memory, &why))
        return;
    struct pct_plan_site site = start_site(one, code);
    site.kind = PCT_SITE_LOOK;
    site.flags = PCT_SITE_WAITS;
    describe(&site, one, memory);
    if (flags_are_dead(one->decoder, code, size))
        site.flags |= PCT_SITE_FLAGS_DEAD;
    pct_instruction_scan_add(s, &site);
}

/* The last instruction of a loop, perhaps: one that branches back a little, if something is so. (A jump mostly goes on
 * where the path was left that is taken more often.) at: its offset in the function. */
static void look_for_wait(struct pct_instruction_scan *s, const struct one *last, const uint8_t *code, size_t size,
                          size_t at)
{
    const ZydisDecodedInstruction *branch = &last->instruction;
    uint8_t looks[PCT_SPIN_LOOPS_LOOKS];
    if (!(branch->attributes & ZYDIS_ATTRIB_IS_RELATIVE) || !branch->raw.imm[0].is_relative ||
        branch->meta.category != ZYDIS_CATEGORY_COND_BR)
        return;
    int64_t back = -branch->raw.imm[0].value.s, end = (int64_t)at + branch->length;
    if (back <= 0 || back > PCT_SPIN_LOOPS_LONGEST || back > end)
        return;
    size_t from = (size_t)(end - back);
    unsigned count = pct_spin_loops_find(code + from, (size_t)back, last->framed, looks);
    for (unsigned i = 0; i < count; i++) {
        struct one one = { .decoder = last->decoder,
                           .address = last->address - at + from + looks[i],
                           .framed = last->framed };
        add_look(s, &one, code + from + looks[i], size - from - looks[i], last->address - at);
    }
}

static bool ends_flow(const ZydisDecodedInstruction *instruction)
{
    return instruction->meta.category == ZYDIS_CATEGORY_RET || instruction->meta.category == ZYDIS_CATEGORY_UNCOND_BR ||
           instruction->mnemonic == ZYDIS_MNEMONIC_UD2 || instruction->mnemonic == ZYDIS_MNEMONIC_HLT;
}

bool pct_instruction_scan_function(struct pct_instruction_scan *s, const uint8_t *code, size_t size, uint64_t address,
                                   bool *ended)
{
    ZydisDecoder decoder;
    struct pct_held_addresses held = { .fixed = s->fixed, .is_variable = in_globals, .module = s };
    struct one one = { .framed = pct_frames_has_pointer(code, size),
                       .held = s->level >= PCT_PATCH_GLOBALS ? &held : NULL };
    size_t pad = 0; /* where filling began; 0: we are not in one */
    size_t pads = s->pad_count;
    bool computed = false; /* there is a jump that may lead anywhere in the function */
    *ended = false;
    if (!ZYAN_SUCCESS(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)))
        return false;
    pct_held_addresses_begin(&held, size);
    for (size_t at = 0; at < size; at += one.instruction.length) {
        if (!decode(&decoder, &one, code + at, size - at)) {
            pct_held_addresses_end(&held);
            return false;
        }
        one.address = address + at;
        note_target(s, &one);
        pct_held_addresses_come(&held, at);
        consider(s, &one, code + at, size - at);
        s->no_memory |=
            one.held && !pct_held_addresses_pass(&held, &decoder, &one.context, &one.instruction, at, one.address);
        look_for_wait(s, &one, code, size, at);
        if (is_hint(&one.instruction) && (*ended || pad)) {
            pad = pad ? pad : at;
        } else if (pad) {
            add_pad(s, address + pad, at - pad);
            pad = 0;
        }
        *ended = ends_flow(&one.instruction);
        computed |= one.instruction.meta.category == ZYDIS_CATEGORY_UNCOND_BR &&
                    !(one.instruction.attributes & ZYDIS_ATTRIB_IS_RELATIVE);
    }
    pct_held_addresses_end(&held);
    if (computed)
        s->pad_count = pads;
    return !s->no_memory;
}

void pct_instruction_scan_gap(struct pct_instruction_scan *s, const uint8_t *code, size_t size, uint64_t address,
                              bool ended)
{
    ZydisDecoder decoder;
    struct one one;
    if (!ended || !ZYAN_SUCCESS(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)))
        return;
    for (size_t at = 0; at < size; at += one.instruction.length)
        if (!decode(&decoder, &one, code + at, size - at) ||
            !(is_hint(&one.instruction) || one.instruction.mnemonic == ZYDIS_MNEMONIC_INT3))
            return;
    add_pad(s, address, size);
}

static int by_address(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b; /* both begin with their address */
    return (x > y) - (x < y);
}

/* The calls become sites, but for those that are in one already (of a function that the user has named). */
static void take_calls(struct pct_instruction_scan *s)
{
    enum { LONGEST = ZYDIS_MAX_INSTRUCTION_LENGTH };
    const size_t others = s->count;
    if (!s->call_count)
        return;
    qsort(s->calls, s->call_count, sizeof *s->calls, by_address);
    for (size_t k = 0; k < others; k++) {
        const uint64_t from = s->sites[k].address, to = from + s->sites[k].length;
        const uint64_t least = from > LONGEST ? from - LONGEST : 0;
        for (size_t i = PCT_BISECT(call, 0, s->call_count, s->calls[call].address < least);
             i < s->call_count && s->calls[i].address < to; i++)
            if (s->calls[i].address + s->calls[i].length > from)
                s->calls[i].length = 0; /* none that is left */
    }
    for (size_t i = 0; i < s->call_count; i++)
        if (s->calls[i].length)
            pct_instruction_scan_add(s, &s->calls[i]);
        else
            s->omitted[PCT_PLAN_OMITTED_CONTROL]++;
}

void pct_instruction_scan_finish(struct pct_instruction_scan *s)
{
    take_calls(s);
    for (size_t i = 0; i < s->count; i++)
        for (unsigned at = 1; at < s->sites[i].length; at++)
            if (pct_instruction_scan_is_target(s, s->sites[i].address + at))
                s->sites[i].flags |= PCT_SITE_ENTERED;
    size_t kept = 0;
    for (size_t i = 0; i < s->pad_count; i++) {
        bool entered = false;
        for (uint64_t at = 0; at < s->pads[i].size; at++)
            entered |= pct_instruction_scan_is_target(s, s->pads[i].address + at);
        /* Smaller ones are only for the return before them (function_sites.c). */
        if (!entered && s->pads[i].size >= SMALLEST_PAD)
            s->pads[kept++] = s->pads[i];
    }
    s->pad_count = kept;
    if (s->count)
        qsort(s->sites, s->count, sizeof *s->sites, by_address);
    if (kept)
        qsort(s->pads, kept, sizeof *s->pads, by_address);
}
