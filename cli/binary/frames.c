/* Whose locals other threads may know of: see frames.h.
 *
 * A pointer into the frame is made of the stack pointer or the frame pointer: by `lea`, or by whatever else reads one
 * of the two and is no access, but for what moves the two themselves. It may be made in another part of the function
 * than the one that uses the local. Such a part is reached by a branch, and so is what a function ends in by a tail
 * call, which is not told from it; or by an exception: if no branch tells whose such a part is, it may be anybody's. */
#include "frames.h"
#include <Zydis/Zydis.h>
#include <common/bisect.h>
#include <string.h>

struct look {
    struct pct_frame *frames;
    size_t count;
};

bool pct_frames_has_pointer(const uint8_t *code, size_t size)
{
    static const uint8_t enter[] = { 0xf3, 0x0f, 0x1e, 0xfa }, frame[] = { 0x55, 0x48, 0x89, 0xe5 };
    if (size >= sizeof enter && !memcmp(code, enter, sizeof enter)) {
        code += sizeof enter;
        size -= sizeof enter;
    }
    return size >= sizeof frame && !memcmp(code, frame, sizeof frame);
}

/* Skip a number in LEB128; its first seven bits. */
static unsigned take_leb(const uint8_t **at, const uint8_t *end)
{
    const unsigned first = *at < end ? **at & 0x7f : 0;
    while (*at < end && *(*at)++ & 0x80)
        ;
    return first;
}

bool pct_frames_begins_within(const uint8_t *at, const uint8_t *end)
{
    enum { RETURN_ADDRESS = 8 };
    bool within = false;
    while (at < end) {
        const unsigned op = *at++;
        if (op >> 6 == 1 || (op >= 0x01 && op <= 0x04)) /* advance_loc, set_loc: its first instruction is over */
            return within;
        if (op == 0x0e) { /* def_cfa_offset */
            const uint8_t *number = at;
            within = take_leb(&at, end) != RETURN_ADDRESS || at - number > 1;
        } else if (op >> 6 == 2 || op == 0x07 || op == 0x08 ||
                   op == 0x2e) { /* offset, undefined, same_value, args_size */
            take_leb(&at, end);
        } else if (op == 0x05 || op == 0x09 || op == 0x11) { /* offset_extended, register, offset_extended_sf */
            take_leb(&at, end);
            take_leb(&at, end);
        } else if (op && op >> 6 != 3 && op != 0x0a) { /* nop, restore, remember_state; others set it in other ways */
            return true;
        }
    }
    return within;
}

static bool is_stack_pointer(ZydisRegister reg)
{
    return ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg) == ZYDIS_REGISTER_RSP;
}

/* Of a function with a frame, or without one: whether the register is one of the two. */
static bool is_own(ZydisRegister reg, bool framed)
{
    return is_stack_pointer(reg) ||
           (framed && ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg) == ZYDIS_REGISTER_RBP);
}

/* room: it has made room on the stack before. */
static bool makes_pointer(const ZydisDecodedInstruction *instruction, const ZydisDecodedOperand *operands, bool framed,
                          bool room)
{
    bool reads = false, moves = false;
    for (unsigned i = 0; i < instruction->operand_count_visible; i++) {
        const ZydisDecodedOperand *operand = &operands[i];
        if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY && operand->mem.type == ZYDIS_MEMOP_TYPE_AGEN)
            reads |= is_own(operand->mem.base, framed) || is_own(operand->mem.index, framed);
        if (operand->type != ZYDIS_OPERAND_TYPE_REGISTER || !is_own(operand->reg.value, framed))
            continue;
        moves |= (operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
        reads |= (operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0;
    }
    /* `push %rbp`, first of all, keeps what another function has there. */
    const bool keeps = !room && instruction->meta.category == ZYDIS_CATEGORY_PUSH &&
                       operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER && !is_stack_pointer(operands[0].reg.value);
    return reads && !moves && !keeps;
}

/* Whether it makes room on the stack. */
static bool makes_room(const ZydisDecodedInstruction *instruction, const ZydisDecodedOperand *operands)
{
    return instruction->meta.category == ZYDIS_CATEGORY_PUSH ||
           (instruction->mnemonic == ZYDIS_MNEMONIC_SUB && operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
            is_stack_pointer(operands[0].reg.value));
}

static size_t first_of(const struct look *l, size_t number)
{
    while (l->frames[number].of != number)
        number = l->frames[number].of;
    return number;
}

/* The function that this address is in; count: none. */
static size_t function_at(const struct look *l, uint64_t address)
{
    const size_t found = PCT_BISECT(i, 0, l->count, l->frames[i].to <= address);
    return found < l->count && address >= l->frames[found].from ? found : l->count;
}

static void join(const struct look *l, size_t a, size_t b)
{
    a = first_of(l, a);
    b = first_of(l, b);
    l->frames[a > b ? a : b].of = a > b ? b : a;
    l->frames[a > b ? b : a].pointed = l->frames[a].pointed || l->frames[b].pointed;
}

static void follow_branch(const struct look *l, size_t number, const ZydisDecodedInstruction *instruction,
                          uint64_t address)
{
    if (instruction->meta.category == ZYDIS_CATEGORY_CALL || !(instruction->attributes & ZYDIS_ATTRIB_IS_RELATIVE) ||
        !instruction->raw.imm[0].is_relative)
        return;
    const uint64_t target = address + instruction->length + (uint64_t)instruction->raw.imm[0].value.s;
    const size_t to = function_at(l, target);
    if (to == l->count || to == number)
        return;
    join(l, number, to);
    l->frames[to].part = false;
    if (target != l->frames[to].from)
        l->frames[number].part = false; /* no tail call */
}

static bool look_at(const struct look *l, const ZydisDecoder *decoder, size_t number, const uint8_t *code)
{
    const uint64_t begin = l->frames[number].from;
    const size_t size = l->frames[number].to - begin;
    const bool framed = pct_frames_has_pointer(code, size);
    bool room = false, pointed = false;
    ZydisDecodedInstruction instruction;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    for (size_t at = 0; at < size; at += instruction.length) {
        if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(decoder, code + at, size - at, &instruction, operands)))
            return false;
        pointed |= makes_pointer(&instruction, operands, framed, room);
        room |= makes_room(&instruction, operands);
        follow_branch(l, number, &instruction, begin + at);
    }
    l->frames[first_of(l, number)].pointed |= pointed;
    return true;
}

bool pct_frames_look(struct pct_frame *frames, size_t count,
                     const uint8_t *(*bytes)(const void *file, uint64_t address, uint64_t size), const void *file)
{
    const struct look look = { frames, count };
    ZydisDecoder decoder;
    if (!ZYAN_SUCCESS(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)))
        return false;
    for (size_t i = 0; i < count; i++) {
        frames[i].of = i;
        frames[i].pointed = false;
    }
    for (size_t i = 0; i < count; i++) {
        const uint8_t *code = bytes(file, frames[i].from, frames[i].to - frames[i].from);
        if (!code || !look_at(&look, &decoder, i, code))
            return false;
    }
    for (size_t i = 0; i < count; i++)
        frames[first_of(&look, i)].pointed |= frames[i].part;
    for (size_t i = 0; i < count; i++)
        frames[i].pointed = frames[first_of(&look, i)].pointed;
    return true;
}
