/* The code of a trampoline: see emit.h. */
#include "emit.h"
#include <string.h>

/* Where in a trampoline what begins. */
enum { AT_PUSH = 5, AT_LOAD = 6, AT_TEST = 15, AT_STORE = 21, AT_POP = 30, AT_CODE = 39 };
/* From the end of the instruction on. */
enum { BACK_SIZE = 5, CALL_SIZE = 6, AGAIN_SIZE = 2, WORDS_SIZE = 16 };

enum { RED_ZONE = 128 };

static const uint8_t prologue[AT_CODE] = {
    0x48, 0x8d, 0x64, 0x24, 0x80,                    /* lea -128(%rsp), %rsp */
    0x51,                                            /* push %rcx */
    0x64, 0x48, 0x8b, 0x0c, 0x25,     0,    0, 0, 0, /* mov %fs:BUDGET, %rcx */
    0xe3, 0,                                         /* jrcxz */
    0x48, 0x8d, 0x49, 0xff,                          /* lea -1(%rcx), %rcx */
    0x64, 0x48, 0x89, 0x0c, 0x25,     0,    0, 0, 0, /* mov %rcx, %fs:BUDGET */
    0x59,                                            /* pop %rcx */
    0x48, 0x8d, 0xa4, 0x24, RED_ZONE, 0x00, 0, 0,    /* lea 128(%rsp), %rsp */
};
/* Of it, what is the same in all. */
enum { SIGNATURE_SIZE = 11 };

static bool fits(int64_t value)
{
    return value >= INT32_MIN && value <= INT32_MAX;
}

static void put32(uint8_t *out, int64_t value)
{
    int32_t small = (int32_t)value;
    memcpy(out, &small, sizeof small);
}

bool pct_emit_jump(uint8_t out[PCT_JUMP_SIZE], uint64_t at, uint64_t to)
{
    int64_t distance = (int64_t)(to - at - PCT_JUMP_SIZE);
    if (!fits(distance))
        return false;
    out[0] = 0xe9;
    put32(out + 1, distance);
    return true;
}

size_t pct_emit_trampoline(uint8_t *out, uint64_t at, const struct pct_patched *patched, const uint8_t *code,
                           const struct pct_trampolines *shared)
{
    const struct pct_plan_site *site = &patched->site;
    uint8_t *next = out + AT_CODE;
    memcpy(out, prologue, AT_CODE);
    put32(out + AT_LOAD + 5, shared->budget);
    put32(out + AT_STORE + 5, shared->budget);
    memcpy(next, code, site->length);
    if (site->flags & PCT_SITE_RELATIVE) {
        int64_t displacement = site->displacement + (int64_t)(site->address - (at + AT_CODE));
        if (!fits(displacement))
            return 0;
        put32(next + site->displacement_at, displacement);
    }
    next += site->length;
    if (!pct_emit_jump(next, at + (uint64_t)(next - out), site->address + site->length))
        return 0;
    next += BACK_SIZE;
    out[AT_TEST + 1] = (uint8_t)(next - out - (AT_TEST + 2));
    static const uint8_t call[CALL_SIZE] = { 0xff, 0x15, AGAIN_SIZE, 0, 0, 0 };
    memcpy(next, call, CALL_SIZE);
    next += CALL_SIZE;
    next[0] = 0xeb;
    next[1] = (uint8_t)(AT_POP - (next + AGAIN_SIZE - out));
    next += AGAIN_SIZE;
    uint64_t record = (uint64_t)(uintptr_t)patched;
    memcpy(next, &shared->entry, 8);
    memcpy(next + 8, &record, 8);
    next += WORDS_SIZE;
    return (size_t)(next - out);
}

const struct pct_patched *pct_emit_record(uint64_t return_address)
{
    const struct pct_patched *record;
    memcpy(&record, (const void *)(uintptr_t)(return_address + AGAIN_SIZE + 8), sizeof record);
    return record;
}

const struct pct_patched *pct_emit_find(uint64_t pc, uint64_t from)
{
    for (uint64_t start = pc; start >= from && pc - start < PCT_TRAMPOLINE_SIZE; start--) {
        const uint8_t *code = (const uint8_t *)(uintptr_t)start;
        if (memcmp(code, prologue, SIGNATURE_SIZE))
            continue;
        /* Its test says where the slow half begins. */
        uint64_t slow = start + AT_TEST + 2 + code[AT_TEST + 1];
        const struct pct_patched *record = pct_emit_record(slow + CALL_SIZE);
        if (pc < slow + CALL_SIZE + AGAIN_SIZE)
            return record;
        return NULL;
    }
    return NULL;
}

uint64_t pct_emit_unwind(const struct pct_patched *patched, uint64_t pc, uint64_t *sp, uint64_t *rcx)
{
    uint64_t at = pc - patched->trampoline, length = patched->site.length;
    if (at >= AT_CODE && at < AT_CODE + length)
        return patched->site.address; /* all registers are the program's own */
    if (at >= AT_CODE + length && at < AT_CODE + length + BACK_SIZE)
        return patched->site.address + length;
    if (at > AT_PUSH && (at <= AT_POP || at >= AT_CODE + length)) {
        memcpy(rcx, (const void *)(uintptr_t)*sp, sizeof *rcx);
        *sp += 8;
    }
    if (at > 0)
        *sp += RED_ZONE;
    return patched->site.address;
}
