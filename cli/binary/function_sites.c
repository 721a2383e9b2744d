/* Where functions begin and return: see function_sites.h.
 *
 * The first instruction of a function is often `push`, and its last one `ret`: of one byte, where no jump fits. So a
 * site is a block of instructions, which run one after the other in the trampoline: the best one of those near by that
 * begins before anything that other threads could see, and that nothing branches into; likewise back from the end. A
 * `ret` before filling takes some of that. That of a line may end with a call. */
#include "function_sites.h"
#include <Zydis/Zydis.h>
#include <stdlib.h>
#include <string.h>

enum { JUMP = 5, LONGEST_FILLING = JUMP - 1 };

/* An instruction, and what matters of it here. */
struct step {
    uint64_t address;
    uint8_t length, relative_at;            /* relative_at: of a distance of four bytes from rip; 0: there is none */
    bool control;                           /* it may go elsewhere, or another one must not be in its place */
    bool movable;                           /* likewise, but it may be the last of a block */
    bool calls;                             /* likewise, but it may be the last of a block of a line */
    bool visible;                           /* it accesses memory that may be not the stack */
    bool stacked;                           /* it names the stack pointer */
    bool filling, returns, jumps, branches; /* jumps: always; branches: perhaps */
    int32_t distance;
    uint64_t to; /* of a direct branch; 0: it is none */
};

struct body {
    const struct pct_plan_function *function;
    const uint8_t *code;
    size_t size; /* bytes */
    struct step *step;
    size_t steps;
    bool computed; /* a jump of it may lead anywhere in it */
};

/* --- Decoding ----------------------------------------------------------------------------------------------------- */

static void look_at_operand(struct step *step, const ZydisDecodedInstruction *instruction,
                            const ZydisDecodedOperand *operand)
{
    if (operand->type != ZYDIS_OPERAND_TYPE_MEMORY)
        return;
    const ZydisDecodedOperandMem *memory = &operand->mem;
    bool stack = memory->base == ZYDIS_REGISTER_RSP || memory->base == ZYDIS_REGISTER_RBP;
    step->stacked |= memory->base == ZYDIS_REGISTER_RSP && operand->visibility == ZYDIS_OPERAND_VISIBILITY_EXPLICIT;
    step->visible |= memory->type != ZYDIS_MEMOP_TYPE_AGEN && !stack;
    if (memory->base == ZYDIS_REGISTER_RIP) {
        step->relative_at = instruction->raw.disp.offset;
        step->distance = (int32_t)memory->disp.value;
    } else if (memory->base == ZYDIS_REGISTER_EIP) {
        step->control = true;
    }
}

static void look_at_flow(struct step *step, const ZydisDecodedInstruction *instruction)
{
    switch (instruction->meta.category) {
    case ZYDIS_CATEGORY_NOP:
    case ZYDIS_CATEGORY_WIDENOP:
        step->filling = true;
        step->visible = false; /* its operand is not accessed */
        break;
    case ZYDIS_CATEGORY_RET:
        step->returns = true;
        break;
    case ZYDIS_CATEGORY_UNCOND_BR:
        step->jumps = true;
        step->control = true;
        break;
    case ZYDIS_CATEGORY_COND_BR:
        step->branches = true;
        step->control = true;
        break;
    case ZYDIS_CATEGORY_CALL:
        step->calls = true;
        step->control = true;
        break;
    case ZYDIS_CATEGORY_INTERRUPT:
    case ZYDIS_CATEGORY_SYSCALL:
    case ZYDIS_CATEGORY_SYSRET:
    case ZYDIS_CATEGORY_SYSTEM:
        step->control = true;
        break;
    default:
        break;
    }
    step->filling |= instruction->mnemonic == ZYDIS_MNEMONIC_INT3;
    if (instruction->attributes & ZYDIS_ATTRIB_IS_RELATIVE && instruction->raw.imm[0].is_relative) {
        step->control = true;
        step->to = step->address + instruction->length + (uint64_t)instruction->raw.imm[0].value.s;
        if ((step->jumps || step->calls) && instruction->raw.imm[0].size == 32) {
            step->relative_at = instruction->raw.imm[0].offset;
            step->distance = (int32_t)instruction->raw.imm[0].value.s;
        }
    }
    step->movable = step->jumps && step->relative_at;
    /* A near one, that does not look at the stack, where it has pushed then. */
    step->calls &= instruction->meta.branch_type == ZYDIS_BRANCH_TYPE_NEAR;
    step->calls &= !step->stacked;
    step->calls &= instruction->opcode == 0xff || (instruction->opcode == 0xe8 && step->relative_at);
}

static bool decode(struct step *step, const ZydisDecoder *decoder, const uint8_t *code, size_t size, uint64_t address)
{
    ZydisDecodedInstruction instruction;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(decoder, code, size, &instruction, operands)))
        return false;
    *step = (struct step){ .address = address, .length = instruction.length };
    for (unsigned i = 0; i < instruction.operand_count; i++)
        look_at_operand(step, &instruction, &operands[i]);
    look_at_flow(step, &instruction);
    return true;
}

/* All instructions of the function. False: there is no memory, or it does not consist of instructions. */
static bool decode_all(struct body *body)
{
    ZydisDecoder decoder;
    body->step = malloc(body->size * sizeof *body->step);
    if (!body->step || !ZYAN_SUCCESS(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)))
        return false;
    for (size_t at = 0; at < body->size; at += body->step[body->steps++].length)
        if (!decode(&body->step[body->steps], &decoder, body->code + at, body->size - at, body->function->from + at))
            return false;
    for (size_t i = 0; i < body->steps; i++)
        body->computed |= body->step[i].jumps && !body->step[i].to && !body->step[i].movable;
    return true;
}

/* --- Choosing ----------------------------------------------------------------------------------------------------- */

static struct pct_plan_site *find(const struct pct_function_sites *s, uint64_t address)
{
    for (size_t i = 0; i < s->scan->count; i++)
        if (s->scan->sites[i].address == address)
            return &s->scan->sites[i];
    return NULL;
}

/* Whether it is in the middle of a site that was added here. */
static bool is_taken(const struct pct_function_sites *s, uint64_t address)
{
    for (size_t i = 0; i < s->scan->count; i++)
        if (s->scan->sites[i].address < address && address < s->scan->sites[i].address + s->scan->sites[i].length)
            return true;
    return false;
}

/* Instructions that become one site. */
struct block {
    size_t first, count;
    unsigned length; /* bytes */
};

/* The block from this instruction up to `last` at most, no longer than a jump needs; calls: it may end with one. Length
 * 0: there is none. */
static struct block block_from(const struct pct_function_sites *s, const struct body *body, size_t first, size_t last,
                               bool calls)
{
    struct block block = { .first = first };
    bool relative = false;
    for (size_t i = first; i <= last && block.length < JUMP; i++) {
        const struct step *step = &body->step[i];
        const struct pct_plan_site *known = find(s, step->address);
        bool meets = i > first && pct_instruction_scan_is_target(s->scan, step->address);
        /* What is a site for its own sake stays alone, and a loop that waits is recognised by its reads. */
        if ((known && (i > first || known->flags & PCT_SITE_WAITS)) || is_taken(s, step->address))
            break;
        if (meets || (step->control && !step->movable && !(calls && step->calls)) || (relative && step->relative_at) ||
            block.length + step->length > PCT_SITE_LONGEST)
            break;
        relative |= step->relative_at != 0;
        block.length += known ? known->length : step->length;
        block.count++;
        if (known || step->control || step->returns)
            break;
    }
    if (block.length < PCT_SITE_SHORTEST)
        block.length = 0;
    return block;
}

/* The one in which a jump fits better. */
static void improve(struct block *best, struct block block)
{
    unsigned now = best->length < JUMP ? best->length : JUMP;
    if ((block.length < JUMP ? block.length : JUMP) > now)
        *best = block;
}

/* begins: enum pct_site_begins, of a site that ENTERS */
static void add(const struct pct_function_sites *s, const struct body *body, struct block block,
                enum pct_site_flags flag, unsigned begins)
{
    const struct step *first = &body->step[block.first];
    struct pct_plan_site *known = find(s, first->address);
    if (known) {
        known->flags |= (uint8_t)flag;
        known->begins |= begins & 15;
        return;
    }
    const uint8_t *code = body->code + (first->address - body->function->from);
    struct pct_plan_site site = pct_instruction_scan_site(first->address, code, (uint8_t)block.length);
    site.kind = PCT_SITE_PLACE;
    site.flags = (uint8_t)flag;
    site.begins = begins & 15;
    for (size_t i = block.first; i < block.first + block.count; i++) {
        const struct step *step = &body->step[i];
        site.call = step->calls ? step->length : 0;
        if (!step->relative_at)
            continue;
        site.flags |= PCT_SITE_RELATIVE;
        site.displacement = step->distance;
        site.displacement_at = (step->address - first->address + step->relative_at) & 15;
    }
    pct_instruction_scan_add(s->scan, &site);
}

/* Whether a jump to this address leaves the named functions' own code. */
static bool is_outside(const struct pct_function_sites *s, const struct body *body, uint64_t to)
{
    if (to >= body->function->from && to < body->function->to)
        return false;
    for (size_t i = 0; i < s->count; i++) {
        const struct pct_plan_function *f = &s->functions[i];
        if (!f->line && to >= f->from && to < f->to)
            return to == f->from && !f->cold;
    }
    return true;
}

/* A jump through memory of the linker's leads to a function elsewhere; others are mostly those of a switch. */
static bool is_return(const struct pct_function_sites *s, const struct body *body, const struct step *step)
{
    if (step->returns)
        return true;
    return step->jumps && (step->to ? is_outside(s, body, step->to) : step->movable);
}

/* Whether something can stand where it begins. */
static bool add_entry(const struct pct_function_sites *s, const struct body *body)
{
    struct block best = { .length = 0 };
    size_t last = 0; /* the first return has a site of its own */
    while (last + 1 < body->steps && !is_return(s, body, &body->step[last + 1]))
        last++;
    for (size_t i = 0; i <= last; i++) {
        const struct step *step = &body->step[i];
        const struct pct_plan_site *known = find(s, step->address);
        if (i && (pct_instruction_scan_is_target(s->scan, step->address) || (known && known->flags & PCT_SITE_ENTERS)))
            break;
        improve(&best, block_from(s, body, i, last, false));
        if (step->control || step->visible || step->returns || body->computed)
            break;
    }
    if (best.length)
        add(s, body, best, PCT_SITE_ENTERS, PCT_BEGINS_FUNCTION);
    return best.length != 0;
}

/* Filling behind a `ret` may become a part of its jump: what nothing falls into. Returns bytes. */
static uint8_t filling_behind(const struct pct_function_sites *s, const struct body *body, size_t index)
{
    const struct step *last = &body->step[index];
    const uint64_t end = last->address + last->length;
    uint64_t size = 0;
    for (size_t i = index + 1; i < body->steps && body->step[i].filling; i++)
        size += body->step[i].length;
    if (end + size == body->function->to) /* and what is between this function and the next */
        for (size_t i = 0; i < s->scan->pad_count; i++)
            if (s->scan->pads[i].address == body->function->to)
                size += s->scan->pads[i].size;
    uint8_t room = 0;
    while (room < size && room < LONGEST_FILLING && end + room < s->scan->to &&
           !pct_instruction_scan_is_target(s->scan, end + room))
        room++;
    return room;
}

/* These bytes belong to a site now. */
static void take_from_pads(struct pct_instruction_scan *scan, uint64_t from, uint64_t to)
{
    for (size_t i = 0; i < scan->pad_count; i++) {
        struct pct_pad *pad = &scan->pads[i];
        if (from >= pad->address + pad->size || to <= pad->address)
            continue;
        uint64_t end = pad->address + pad->size;
        pad->address = to < end ? to : end;
        pad->size = end - pad->address;
    }
}

/* Where this step returns, it takes what it needs of the filling behind it. */
static void take_filling(const struct pct_function_sites *s, const struct body *body, size_t index)
{
    struct step *last = &body->step[index];
    if (!last->returns || last->length >= JUMP || find(s, last->address))
        return;
    uint8_t filling = filling_behind(s, body, index);
    if (last->length + filling > JUMP)
        filling = (uint8_t)(JUMP - last->length);
    take_from_pads(s->scan, last->address + last->length, last->address + last->length + filling);
    last->length += filling;
}

/* The function returns at this step. */
static bool add_return(const struct pct_function_sites *s, const struct body *body, size_t index)
{
    struct block best = { .length = 0 };
    take_filling(s, body, index);
    improve(&best, block_from(s, body, index, index, false));
    /* Where a jump may lead anywhere in the function, it may lead between these. */
    for (size_t i = body->computed ? 0 : index;
         i > 0 && !pct_instruction_scan_is_target(s->scan, body->step[i].address); i--) {
        const struct step *step = &body->step[i - 1];
        if (step->control || step->visible || step->returns)
            break;
        improve(&best, block_from(s, body, i - 1, index, false));
    }
    if (best.length)
        add(s, body, best, PCT_SITE_RETURNS, 0);
    return best.length != 0;
}

static void miss(uint64_t *first, uint64_t address)
{
    if (!*first)
        *first = address + 1;
}

static void add_function(struct pct_function_sites *s, const struct pct_plan_function *function)
{
    struct body body = { .function = function, .size = function->to - function->from };
    body.code = s->bytes(s->file, function->from, body.size);
    bool decoded = body.code && decode_all(&body);
    if (!function->cold && (!decoded || !add_entry(s, &body)))
        miss(&s->no_entry, function->from);
    for (size_t i = 0; decoded && i < body.steps; i++) {
        const struct step *step = &body.step[i];
        /* Where it returns by a branch that is not always taken, nothing can stand. */
        bool lost = step->branches && step->to && is_outside(s, &body, step->to);
        if (lost || (is_return(s, &body, step) && !add_return(s, &body, i)))
            miss(&s->no_return, step->address);
    }
    free(body.step);
}

/* Whether something can stand where code of this line begins. A jump that may lead anywhere in its function may lead
 * between the instructions of a block. */
static bool add_line(const struct pct_function_sites *s, const struct pct_plan_function *line)
{
    const uint64_t from = s->start(s->file, line->from);
    const struct pct_plan_function function = { .from = from, .to = line->to };
    struct body body = { .function = &function, .size = line->to - from };
    struct block best = { .length = 0 };
    body.code = from ? s->bytes(s->file, from, body.size) : NULL;
    if (body.code && decode_all(&body)) {
        size_t first = 0;
        while (first < body.steps && body.step[first].address != line->from)
            first++;
        if (first < body.steps) {
            take_filling(s, &body, first);
            best = block_from(s, &body, first, body.computed ? first : body.steps - 1, true);
        }
    }
    if (best.length)
        add(s, &body, best, PCT_SITE_ENTERS, PCT_BEGINS_LINE);
    free(body.step);
    return best.length != 0;
}

/* From the last to the first, so that each ends before the next. */
static void add_lines(struct pct_function_sites *s)
{
    for (uint64_t below = UINT64_MAX;;) {
        const struct pct_plan_function *last = NULL;
        for (size_t i = 0; i < s->count; i++)
            if (s->functions[i].line && s->functions[i].from < below && (!last || s->functions[i].from > last->from))
                last = &s->functions[i];
        if (!last)
            return;
        if (!add_line(s, last))
            miss(&s->no_entry, last->from);
        below = last->from;
    }
}

void pct_function_sites_add(struct pct_function_sites *sites)
{
    add_lines(sites);
    for (size_t i = 0; i < sites->count; i++)
        if (!sites->functions[i].line)
            add_function(sites, &sites->functions[i]);
}

int pct_plan_functions_parse(struct pct_plan_function **functions, const char *text)
{
    int count = 0;
    *functions = calloc(strlen(text) / 3 + 1, sizeof **functions);
    while (*functions && *text) {
        struct pct_plan_function *f = &(*functions)[count++];
        char *end;
        f->from = strtoull(text, &end, 16);
        f->to = *end == '-' ? strtoull(end + 1, &end, 16) : 0;
        f->cold = !strncmp(end, ":cold", 5);
        f->line = !strncmp(end, ":line", 5);
        end += f->cold || f->line ? 5 : 0;
        if (f->to <= f->from || (*end && *end != ','))
            return -1;
        text = end + (*end == ',');
    }
    return *functions ? count : -1;
}
