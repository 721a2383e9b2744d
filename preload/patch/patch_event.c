/* The first half of an event: whether it is of any interest. Compiled with -mgeneral-regs-only (Makefile), as the
 * vector registers still hold the program's values; so it calls nothing outside of this file. */
#include <preload/memory/spin_reads.h>
#include <preload/memory/memory_quick.h>
#include "patch.h"

enum { RSP = 4 };

uint64_t pct_patch_register(const struct pct_patch_frame *frame, unsigned number)
{
    /* Where in the frame each stands, but for rsp: rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8, ... */
    static const uint8_t words[16] = { 13, 12, 17, 11, 0, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0 };
    if (number == PCT_SITE_THREAD_POINTER)
        return (uint64_t)(uintptr_t)__builtin_thread_pointer();
    if (number == RSP)
        return (uint64_t)(uintptr_t)(frame + 1) + PCT_PATCH_RED_ZONE;
    return ((const uint64_t *)frame)[words[number & 15]];
}

/* How far from the operand the part of it is that has the bit of this number: in whole operands, up or down. */
static uint64_t distance_of(uint64_t bit, unsigned size)
{
    const int64_t number = size == 8 ? (int64_t)bit : size == 4 ? (int32_t)bit : (int16_t)bit;
    return (uint64_t)((number >> (size == 8 ? 6 : size == 4 ? 5 : 4)) * (int64_t)size);
}

uint64_t pct_patch_address(const struct pct_plan_site *site, const struct pct_patch_frame *frame)
{
    uint64_t address = pct_site_place(site);
    if (site->base != PCT_SITE_NO_REGISTER)
        address += pct_patch_register(frame, site->base);
    if (site->index != PCT_SITE_NO_REGISTER)
        address += pct_patch_register(frame, site->index) * site->scale;
    if (site->kind == PCT_SITE_ATOMIC && site->value != PCT_SITE_NO_REGISTER)
        address += distance_of(pct_patch_register(frame, site->value), site->size);
    return site->flags & PCT_SITE_SHORT_ADDRESS ? (uint32_t)address : address;
}

/* The event's address is read later: should that fault, let it be here, where every register is still what it was
 * (pct_patch_leave_probe() knows the label). */
static __attribute__((noinline)) void probe(uint64_t address, const struct pct_patch_frame *frame)
{
    __asm__ volatile(".globl pct_patch_probe\n"
                     ".hidden pct_patch_probe\n"
                     "pct_patch_probe: testb $0, (%0)"
                     :
                     : "r"(address), "b"(frame)
                     : "cc");
}

extern const char probe_address[] __asm__("pct_patch_probe") __attribute__((visibility("hidden")));

bool pct_patch_leave_probe(greg_t *regs)
{
    if (regs[REG_RIP] != (greg_t)(uintptr_t)probe_address)
        return false;
    const struct pct_patch_frame *frame = (const void *)regs[REG_RBX];
    static const struct {
        int reg;
        unsigned number;
    } all[] = { { REG_RAX, 0 },  { REG_RCX, 1 },  { REG_RDX, 2 },  { REG_RBP, 5 },  { REG_RSI, 6 },
                { REG_RDI, 7 },  { REG_R8, 8 },   { REG_R9, 9 },   { REG_R10, 10 }, { REG_R11, 11 },
                { REG_R12, 12 }, { REG_R13, 13 }, { REG_R14, 14 }, { REG_R15, 15 }, { REG_RSP, 4 } };
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
        regs[all[i].reg] = (greg_t)pct_patch_register(frame, all[i].number);
    regs[REG_RIP] = (greg_t)frame->pc;
    regs[REG_EFL] = (regs[REG_EFL] & ~(greg_t)0x8d5) | (greg_t)((frame->flags >> 8 & 0xd5) | (frame->flags & 1) << 11);
    regs[REG_RBX] = (greg_t)frame->rbx;
    return true;
}

bool pct_patch_will_change(const struct pct_plan_site *site, uint64_t address, const struct pct_patch_frame *frame)
{
    const volatile uint8_t *place = (const volatile uint8_t *)(uintptr_t)address;
    if (site->kind == PCT_SITE_EXCHANGE && site->value == PCT_SITE_NO_REGISTER)
        return true;
    uint64_t value = site->kind == PCT_SITE_COMPARE ? frame->rax : pct_patch_register(frame, site->value);
    bool same = true;
    for (unsigned i = 0; i < site->size && i < sizeof value; i++)
        same &= place[i] == (uint8_t)(value >> 8 * i);
    return same == (site->kind == PCT_SITE_COMPARE);
}

/* While there is a single thread, whose accesses nobody takes down, one that waits for nothing is nothing to ask about:
 * the slow half saves all registers, which some million accesses, as of a panic's backtrace, take seconds for. */
static bool concerns_nobody(const struct pct_plan_site *site)
{
    bool simple = site->kind == PCT_SITE_READ || site->kind == PCT_SITE_WRITE || site->kind == PCT_SITE_UPDATE;
    return simple && !(site->flags & PCT_SITE_WAITS) && !pct_sched_races(&pct_S) && !pct_sched_is_shared(&pct_S);
}

enum pct_patch_rest pct_patch_event(struct pct_patch_frame *frame)
{
    const unsigned both = PCT_MEMORY_ACQUIRE | PCT_MEMORY_RELEASE | PCT_MEMORY_SEEN;
    const struct pct_plan_site *site = &pct_emit_record(frame->return_address)->site;
    const unsigned plain = PCT_MEMORY_SEEN | (site->flags & PCT_SITE_PLAIN ? PCT_MEMORY_PLAIN : 0);
    struct pct_shim_thread *self = pct_self;
    frame->pc = site->address;
    if (!self || !pct_sched_holds(&pct_S, &self->core) || !pct_sched_is_on(&pct_S) ||
        pct_shim.mode != PCT_MODE_CONTROLLED || pct_shim.ended)
        return PCT_REST_NONE;
    const bool named = site->flags & (PCT_SITE_ENTERS | PCT_SITE_RETURNS);
    if (!pct_memory_view.active)
        return named ? PCT_REST_ALL : PCT_REST_NONE;
    uint64_t address = pct_patch_address(site, frame);
    enum pct_patch_rest rest = PCT_REST_ALL;
    bool done = false;
    if (site->flags & PCT_SITE_WAITS || site->kind == PCT_SITE_UPDATE || site->kind == PCT_SITE_EXCHANGE ||
        site->kind == PCT_SITE_COMPARE)
        probe(address, frame);
    if (named)
        return PCT_REST_ALL;
    if (concerns_nobody(site) || pct_patch_is_shadow(address))
        return PCT_REST_NONE;
    /* What a loop that waits reads again is a point, too, where the run says so: await.h knows of rounds. */
    const bool rounds = pct_shim.config.rounds;
    if (site->flags & PCT_SITE_WAITS && !rounds && pct_read_no_progress(self, address, site->size))
        return pct_spin_reads_wait(&pct_S, &self->reads) ? PCT_REST_WAIT : PCT_REST_NONE;
    switch (site->kind) {
    case PCT_SITE_READ:
    case PCT_SITE_CALL:
        done = pct_memory_quick(self, address, site->size, plain | PCT_MEMORY_READ);
        if (done && site->flags & PCT_SITE_WAITS)
            pct_spin_reads_go_on(&pct_S, &self->reads);
        break;
    case PCT_SITE_WRITE:
        done = pct_memory_quick(self, address, site->size, plain | PCT_MEMORY_WRITE);
        break;
    case PCT_SITE_UPDATE:
        if (pct_memory_quick(self, address, site->size, plain | PCT_MEMORY_READ)) {
            rest = PCT_REST_WRITE;
            done = pct_memory_quick(self, address, site->size, plain | PCT_MEMORY_WRITE);
        }
        break;
    case PCT_SITE_ATOMIC:
        done = pct_memory_quick(self, address, site->size, PCT_MEMORY_ATOMIC_UPDATE | both);
        break;
    case PCT_SITE_EXCHANGE:
    case PCT_SITE_COMPARE:
        done = pct_memory_quick(self, address, site->size, PCT_MEMORY_ATOMIC_TRY | both);
        if (done && pct_patch_will_change(site, address, frame))
            pct_memory_progress(&pct_S, &self->recent);
        break;
    case PCT_SITE_LOOK:
        done = !rounds;
        break;
    case PCT_SITE_PAUSE:
        done = rounds; /* whether it is a step depends on other threads' steps */
        break;
    case PCT_SITE_FENCE:
        done = !pct_memory_view.wants_all;
        break;
    default:
        break;
    }
    return done ? PCT_REST_NONE : rest;
}
