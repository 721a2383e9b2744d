/* The code of a trampoline: see emit.h. */
#include "emit.h"
#include <string.h>

enum { RECORD_SIZE = 8, RED_ZONE = 128, ADDRESS_SIZE = 9, BACK_SIZE = 5 };

/* Where in a trampoline's code what begins. */
enum { AT_PUSH = 5, AT_ADDRESS = 6, AT_CALL = 15, AT_POP = 20, AT_STEP = 21, AT_CODE = 29 };

enum { RSP = 4, NO_BASE = 5, NO_INDEX = 4 }; /* in ModRM and SIB */

static const uint8_t prologue[AT_ADDRESS] = {
    0x48, 0x8d, 0x64, 0x24, 0x80, /* lea -128(%rsp), %rsp */
    0x52                          /* push %rdx */
};
static const uint8_t epilogue[AT_CODE - AT_POP] = {
    0x5a,                                         /* pop %rdx */
    0x48, 0x8d, 0xa4, 0x24, RED_ZONE, 0x00, 0, 0, /* lea 128(%rsp), %rsp */
};

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

/* lea ADDRESS, %rdx, at this address; prefixes that mean nothing make it as long as any. */
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

static uint64_t leaf_of(const struct pct_plan_site *site, const struct pct_leaves *leaves)
{
    bool small = site->size && site->size <= 1 << (PCT_LEAF_SIZES - 1) && !(site->size & (site->size - 1));
    static const uint8_t kinds[] = { [PCT_SITE_READ] = PCT_LEAF_READ,
                                     [PCT_SITE_WRITE] = PCT_LEAF_WRITE,
                                     [PCT_SITE_UPDATE] = PCT_LEAF_BOTH,
                                     [PCT_SITE_ATOMIC] = PCT_LEAF_ATOMIC,
                                     [PCT_SITE_COMPARE] = PCT_LEAF_COMPARE };
    if (!small || site->flags & PCT_SITE_WAITS)
        return leaves->slow;
    const unsigned size = (unsigned)__builtin_ctz(site->size), keeps = !(site->flags & PCT_SITE_FLAGS_DEAD);
    uint64_t quick = 0;
    if (site->kind == PCT_SITE_EXCHANGE)
        quick = site->value < 16 ? leaves->exchange[site->value][size][keeps] : 0;
    else if (site->kind < sizeof kinds)
        quick = leaves->quick[kinds[site->kind]][size][keeps];
    return quick ? quick : leaves->slow;
}

size_t pct_emit_trampoline(uint8_t *out, uint64_t at, const struct pct_patched *patched, const uint8_t *code,
                           const struct pct_leaves *leaves, uint64_t *start)
{
    const struct pct_plan_site *site = &patched->site;
    uint64_t record = (uint64_t)(uintptr_t)patched;
    memcpy(out, &record, RECORD_SIZE);
    uint8_t *begin = out + RECORD_SIZE, *next = begin + AT_CODE;
    *start = at += RECORD_SIZE;
    memcpy(begin, prologue, sizeof prologue);
    if (!put_address(begin + AT_ADDRESS, at + AT_ADDRESS, site) ||
        !branch(begin + AT_CALL, 0xe8, at + AT_CALL, leaf_of(site, leaves)))
        return 0;
    memcpy(begin + AT_POP, epilogue, sizeof epilogue);
    memcpy(next, code, site->length);
    if (site->flags & PCT_SITE_RELATIVE) {
        int64_t displacement = site->displacement + (int64_t)(site->address - (at + AT_CODE));
        if (!fits(displacement))
            return 0;
        put32(next + site->displacement_at, displacement);
    }
    next += site->length;
    if (!pct_emit_jump(next, at + (uint64_t)(next - begin), site->address + site->length))
        return 0;
    return (size_t)(next + BACK_SIZE - out);
}

const struct pct_patched *pct_emit_record(uint64_t return_address)
{
    const struct pct_patched *record;
    memcpy(&record, (const void *)(uintptr_t)(return_address - AT_POP - RECORD_SIZE), sizeof record);
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
            return pc - start < (uint64_t)AT_CODE + found->site.length + BACK_SIZE ? found : NULL;
    }
    return NULL;
}

void pct_emit_unwind(const struct pct_patched *patched, struct pct_interrupted *at)
{
    uint64_t offset = at->pc - patched->trampoline, length = patched->site.length;
    at->pc = patched->site.address;
    if (offset >= AT_CODE) {
        at->pc += offset < AT_CODE + length ? 0 : length;
        return;
    }
    if (offset > AT_PUSH && offset <= AT_POP) {
        memcpy(&at->rdx, (const void *)(uintptr_t)at->sp, sizeof at->rdx);
        at->sp += 8;
    }
    if (offset > 0)
        at->sp += RED_ZONE;
}
