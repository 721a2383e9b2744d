/* The code of a trampoline: see emit.h. */
#include "emit.h"
#include <string.h>

enum { RECORD_SIZE = 8, RED_ZONE = 128, ADDRESS_SIZE = 9, CALL_SIZE = 5, BACK_SIZE = 5 };

/* Where the code of all trampolines begins to differ; and how far behind the look's jump `own` is. */
enum { AT_SAVE = 5, JUMP_TO_OWN = 19 };

enum { RSP = 4, NO_BASE = 5, NO_INDEX = 4 }; /* in ModRM and SIB */

static const uint8_t prologue[AT_SAVE] = { 0x48, 0x8d, 0x64, 0x24, 0x80 }; /* lea -128(%rsp), %rsp */

/* How trampolines save rdx: at once; or having looked, without the flags or with them. All offsets are from AT_SAVE. */
enum { PLAIN, LOOKS, LOOKS_WITH_FLAGS };
static const struct shape {
    uint8_t size, code[24];
    uint8_t own;            /* where the place of the thread's mark stands, or of what makes that 0 */
    uint8_t mark, mark_end; /* where the distance to the location's mark stands, and from where that is */
    uint8_t pushed, popped; /* between these rdx is on the stack, on top of rcx */
} shapes[] = { { .size = 1, .code = { 0x52 } }, /* push %rdx */
               { .size = 19,
                 .code = { 0x51,                               /* push %rcx */
                           0x64, 0x8b, 0x0c, 0x25, 0, 0, 0, 0, /* mov %fs:MARK, %ecx */
                           0x3b, 0x0d, 0, 0, 0, 0,             /* cmp LOCATION_MARK(%rip), %ecx */
                           0x74, JUMP_TO_OWN,                  /* je own */
                           0x59,                               /* pop %rcx */
                           0x52 },                             /* push %rdx */
                 .own = 5,
                 .mark = 11,
                 .mark_end = 15 },
               { .size = 24,
                 .code = { 0x51,                                      /* push %rcx */
                           0x52,                                      /* push %rdx */
                           0x8b, 0x15,        0,    0,    0, 0,       /* mov LOCATION_MARK(%rip), %edx */
                           0x64, 0x8b,        0x0c, 0x25, 0, 0, 0, 0, /* mov %fs:UNMARK, %ecx */
                           0x8d, 0x0c,        0x0a,                   /* lea (%rdx,%rcx), %ecx */
                           0x5a,                                      /* pop %rdx */
                           0xe3, JUMP_TO_OWN,                         /* jrcxz own */
                           0x59,                                      /* pop %rcx */
                           0x52 },                                    /* push %rdx */
                 .own = 12,
                 .mark = 4,
                 .mark_end = 8,
                 .pushed = 2,
                 .popped = 20 } };
/* Behind the leaf's call. */
static const uint8_t restore[] = { 0x5a }; /* pop %rdx */
static const uint8_t own[] = {
    0xeb, 0x01, /* jmp over the next */
    0x59,       /* pop %rcx */
};
static const uint8_t epilogue[] = { 0x48, 0x8d, 0xa4, 0x24, RED_ZONE, 0x00, 0, 0 }; /* lea 128(%rsp), %rsp */

/* Where in the code of a trampoline of this shape what begins. */
static unsigned call_at(const struct shape *shape)
{
    return AT_SAVE + shape->size + (unsigned)ADDRESS_SIZE;
}

static unsigned restore_at(const struct shape *shape)
{
    return call_at(shape) + (unsigned)CALL_SIZE;
}

static unsigned epilogue_at(const struct shape *shape)
{
    return restore_at(shape) + (unsigned)sizeof restore + (shape == &shapes[PLAIN] ? 0 : (unsigned)sizeof own);
}

static unsigned code_at(const struct shape *shape)
{
    return epilogue_at(shape) + (unsigned)sizeof epilogue;
}

static bool fits(int64_t value)
{
    return value >= INT32_MIN && value <= INT32_MAX;
}

static void put32(uint8_t *out, int64_t value)
{
    int32_t small = (int32_t)value;
    memcpy(out, &small, sizeof small);
}

static bool branch(uint8_t out[PCT_JUMP_SIZE], uint8_t opcode, uint64_t at, uint64_t to)
{
    int64_t distance = (int64_t)(to - at - PCT_JUMP_SIZE);
    if (!fits(distance))
        return false;
    out[0] = opcode;
    put32(out + 1, distance);
    return true;
}

bool pct_emit_jump(uint8_t out[PCT_JUMP_SIZE], uint64_t at, uint64_t to)
{
    return branch(out, 0xe9, at, to);
}

/* lea ADDRESS, %rdx, at this address; prefixes that mean nothing make it as long as any. Not of one behind the thread
 * pointer, which only the slow half asks for. */
static bool put_address(uint8_t out[ADDRESS_SIZE], uint64_t at, const struct pct_plan_site *site)
{
    enum { DS = 0x3e, ADDRESS_32 = 0x67, LEA = 0x8d, RDX = 2 << 3 };
    bool based = site->base != PCT_SITE_NO_REGISTER, indexed = site->index != PCT_SITE_NO_REGISTER;
    int64_t displacement = site->displacement;
    out[0] = site->flags & PCT_SITE_SHORT_ADDRESS ? ADDRESS_32 : DS;
    if (site->flags & PCT_SITE_RELATIVE) {
        displacement += (int64_t)(site->address + site->length - (at + ADDRESS_SIZE));
        memcpy(out + 1, (const uint8_t[]){ DS, 0x48, LEA, RDX | 5 }, 4);
    } else {
        unsigned base = based ? site->base & 15 : NO_BASE, index = indexed ? site->index & 15 : NO_INDEX;
        if (base == RSP && based)
            displacement += RED_ZONE + 8; /* as it is here */
        out[1] = (uint8_t)(0x48 | index >> 3 << 1 | base >> 3);
        out[2] = LEA;
        out[3] = (uint8_t)((based ? 2 << 6 : 0) | RDX | 4);
        out[4] = (uint8_t)((indexed ? __builtin_ctz(site->scale | 8u) << 6 : 0) | (index & 7) << 3 | (base & 7));
    }
    put32(out + 5, displacement);
    return fits(displacement);
}

/* Where the mark of the site's location is; 0: that depends on a register, or it is not the mark alone that counts. */
static uint64_t mark_of(const struct pct_plan_site *site, const struct pct_leaves *leaves)
{
    const bool fixed = site->base == PCT_SITE_NO_REGISTER && site->index == PCT_SITE_NO_REGISTER;
    const uint64_t place = pct_site_place(site);
    if (!leaves->mark || site->kind > PCT_SITE_UPDATE || site->flags & (PCT_SITE_ENTERS | PCT_SITE_RETURNS) ||
        !site->size || site->size > 8 || site->flags & (PCT_SITE_WAITS | PCT_SITE_SHORT_ADDRESS) ||
        !(fixed || site->flags & PCT_SITE_RELATIVE))
        return 0;
    return (place & 7) + site->size <= 8 ? leaves->mark(place) : 0;
}

static uint64_t leaf_of(const struct pct_plan_site *site, const struct pct_leaves *leaves)
{
    bool small = site->size && site->size <= 1 << (PCT_LEAF_SIZES - 1) && !(site->size & (site->size - 1));
    static const uint8_t kinds[] = { [PCT_SITE_READ] = PCT_LEAF_READ,
                                     [PCT_SITE_WRITE] = PCT_LEAF_WRITE,
                                     [PCT_SITE_UPDATE] = PCT_LEAF_BOTH,
                                     [PCT_SITE_ATOMIC] = PCT_LEAF_ATOMIC,
                                     [PCT_SITE_COMPARE] = PCT_LEAF_COMPARE };
    const bool bit = site->kind == PCT_SITE_ATOMIC && site->value != PCT_SITE_NO_REGISTER;
    if (!small || bit || site->base == PCT_SITE_THREAD_POINTER ||
        site->flags & (PCT_SITE_WAITS | PCT_SITE_ENTERS | PCT_SITE_RETURNS))
        return leaves->slow;
    const unsigned size = (unsigned)__builtin_ctz(site->size), keeps = !(site->flags & PCT_SITE_FLAGS_DEAD);
    uint64_t quick = 0;
    if (site->kind == PCT_SITE_EXCHANGE)
        quick = site->value < 16 ? leaves->exchange[site->value][size][keeps] : 0;
    else if (site->kind < sizeof kinds)
        quick = leaves->quick[kinds[site->kind]][size][keeps];
    return quick ? quick : leaves->slow;
}

/* Put the way in which rdx is saved, to be at this address, to out. Returns its shape. */
static const struct shape *put_save(uint8_t *out, uint64_t at, const struct pct_plan_site *site,
                                    const struct pct_leaves *leaves)
{
    const bool dead = site->flags & PCT_SITE_FLAGS_DEAD;
    const uint64_t mark = mark_of(site, leaves);
    const struct shape *shape = &shapes[!mark ? PLAIN : dead ? LOOKS : LOOKS_WITH_FLAGS];
    const int64_t distance = (int64_t)(mark - (at + shape->mark_end));
    if (shape != &shapes[PLAIN] && !fits(distance))
        shape = &shapes[PLAIN];
    memcpy(out, shape->code, shape->size);
    if (shape != &shapes[PLAIN]) {
        put32(out + shape->own, dead ? leaves->own : leaves->unmark);
        put32(out + shape->mark, distance);
    }
    return shape;
}

/* pushq and movl, and how long they are. */
enum { PUSH_SIZE = 5, PUSHED_SIZE = 13 };

/* Bytes behind the restored state: the instructions, and the way back. */
static unsigned tail_size(const struct pct_plan_site *site)
{
    return site->length + (site->call ? (unsigned)PUSHED_SIZE : (unsigned)BACK_SIZE);
}

/* Make a call of this size, at the end of a site's instructions, a jump behind the push of where it returns to. */
static void put_call(uint8_t *call, const struct pct_plan_site *site)
{
    static const uint8_t high[] = { 0xc7, 0x44, 0x24, 0x04 }; /* movl $..., 4(%rsp) */
    const uint64_t behind = site->address + site->length;
    uint8_t *jump = call + PUSHED_SIZE;
    memmove(jump, call, site->call);
    call[0] = 0x68;
    put32(call + 1, (int32_t)(uint32_t)behind);
    memcpy(call + PUSH_SIZE, high, sizeof high);
    put32(call + PUSH_SIZE + sizeof high, (int32_t)(uint32_t)(behind >> 32));
    while (*jump != 0xe8 && *jump != 0xff) /* prefixes */
        jump++;
    if (*jump == 0xe8)
        *jump = 0xe9;
    else
        jump[1] ^= 0x30; /* call is ff /2, jmp ff /4 */
}

size_t pct_emit_trampoline(uint8_t *out, uint64_t at, const struct pct_patched *patched, const uint8_t *code,
                           const struct pct_leaves *leaves, uint64_t *start)
{
    const struct pct_plan_site *site = &patched->site;
    uint64_t record = (uint64_t)(uintptr_t)patched;
    memcpy(out, &record, RECORD_SIZE);
    uint8_t *begin = out + RECORD_SIZE;
    *start = at += RECORD_SIZE;
    memcpy(begin, prologue, sizeof prologue);
    const struct shape *shape = put_save(begin + AT_SAVE, at + AT_SAVE, site, leaves);
    const unsigned address_at = AT_SAVE + shape->size, after = restore_at(shape) + (unsigned)sizeof restore;
    if (!put_address(begin + address_at, at + address_at, site) ||
        !branch(begin + call_at(shape), 0xe8, at + call_at(shape), leaf_of(site, leaves)))
        return 0;
    memcpy(begin + restore_at(shape), restore, sizeof restore);
    memcpy(begin + after, own, epilogue_at(shape) - after);
    memcpy(begin + epilogue_at(shape), epilogue, sizeof epilogue);
    uint8_t *next = begin + code_at(shape);
    memcpy(next, code, site->length);
    if (site->flags & PCT_SITE_RELATIVE) {
        int64_t displacement = site->displacement + (int64_t)(site->address - (at + code_at(shape)));
        displacement -= site->call && site->displacement_at >= site->length - site->call ? PUSHED_SIZE : 0;
        if (!fits(displacement))
            return 0;
        put32(next + site->displacement_at, displacement);
    }
    if (site->call) {
        put_call(next + site->length - site->call, site);
        return (size_t)(next + tail_size(site) - out);
    }
    next += site->length;
    if (!pct_emit_jump(next, at + (uint64_t)(next - begin), site->address + site->length))
        return 0;
    return (size_t)(next + BACK_SIZE - out);
}

static const struct shape *shape_of(const uint8_t *begin)
{
    if (begin[AT_SAVE] == shapes[PLAIN].code[0])
        return &shapes[PLAIN];
    return &shapes[begin[AT_SAVE + 1] == shapes[LOOKS].code[1] ? LOOKS : LOOKS_WITH_FLAGS];
}

const struct pct_patched *pct_emit_record(uint64_t return_address)
{
    const struct pct_patched *record;
    const uint8_t *const behind = (const uint8_t *)(uintptr_t)return_address;
    const struct shape *shape = &shapes[PLAIN];
    /* Of one shape too many, the prologue's last byte would be the first of the address in the record, from the top
     * down: zero. */
    if (behind[sizeof restore] == own[0])
        shape = &shapes[*(behind - restore_at(&shapes[LOOKS_WITH_FLAGS]) + AT_SAVE - 1) == prologue[AT_SAVE - 1]
                            ? LOOKS_WITH_FLAGS
                            : LOOKS];
    memcpy(&record, behind - restore_at(shape) - RECORD_SIZE, sizeof record);
    return record;
}

const struct pct_patched *pct_emit_find(uint64_t pc, uint64_t from, const struct pct_patched *patched, uint64_t count)
{
    const uint64_t first = (uint64_t)(uintptr_t)patched, end = (uint64_t)(uintptr_t)(patched + count);
    for (uint64_t start = pc; start >= from + RECORD_SIZE && pc - start < PCT_TRAMPOLINE_SIZE; start--) {
        const uint8_t *code = (const uint8_t *)(uintptr_t)start;
        uint64_t record;
        if (memcmp(code, prologue, sizeof prologue))
            continue;
        memcpy(&record, code - RECORD_SIZE, sizeof record);
        if (record < first || record >= end || (record - first) % sizeof *patched)
            continue; /* the program's own, by chance */
        const struct pct_patched *found = &patched[(record - first) / sizeof *patched];
        if (found->trampoline == start)
            return pc - start < (uint64_t)code_at(shape_of(code)) + tail_size(&found->site) ? found : NULL;
    }
    return NULL;
}

static uint64_t pop(struct pct_interrupted *at)
{
    uint64_t value;
    memcpy(&value, (const void *)(uintptr_t)at->sp, sizeof value);
    at->sp += sizeof value;
    return value;
}

void pct_emit_unwind(const struct pct_patched *patched, struct pct_interrupted *at)
{
    const struct shape *shape = shape_of((const uint8_t *)(uintptr_t)patched->trampoline);
    const uint64_t offset = at->pc - patched->trampoline, length = patched->site.length;
    /* Between the instructions of a site that is several (PCT_SITE_PLACE): it goes on here. */
    if (offset > code_at(shape) && (patched->site.call || offset < code_at(shape) + length))
        return;
    at->pc = patched->site.address;
    if (offset >= code_at(shape)) {
        at->pc += offset < code_at(shape) + length ? 0 : length;
        return;
    }
    const uint64_t here = offset - AT_SAVE,
                   look_end = shape->size - 1u; /* what rdx is saved by for the call is the last byte */
    if ((offset > AT_SAVE + look_end && offset <= restore_at(shape)) ||
        (offset > AT_SAVE && here >= shape->pushed && here < shape->popped))
        at->rdx = pop(at);
    if ((offset > AT_SAVE && here < look_end) || (shape != &shapes[PLAIN] && offset == epilogue_at(shape) - 1u))
        at->rcx = pop(at);
    if (offset > 0)
        at->sp += RED_ZONE;
}
