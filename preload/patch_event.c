/* The first half of an event: whether it is of any interest. Compiled with -mgeneral-regs-only (Makefile), as the vector
 * registers still hold the program's values; so it calls nothing outside of this file. */
#include "memory.h"
#include "patch.h"
#include "shim.h"

/* How many events a thread passes before it is looked at again, where they are of no interest. */
#define UNINTERESTED UINT64_C(65536)

enum { RSP = 4 };

__thread uint64_t pct_patch_budget;

uint64_t pct_patch_register(const struct pct_patch_frame *frame, unsigned number)
{
    /* Where in the frame each stands, but for rsp: rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8, ... */
    static const uint8_t words[16] = { 13, 17, 12, 11, 0, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0 };
    if (number == RSP)
        return (uint64_t)(uintptr_t)(frame + 1) + PCT_PATCH_RED_ZONE;
    return ((const uint64_t *)frame)[words[number & 15]];
}

uint64_t pct_patch_address(const struct pct_plan_site *site, const struct pct_patch_frame *frame)
{
    uint64_t address = (uint64_t)(int64_t)site->displacement;
    if (site->flags & PCT_SITE_RELATIVE)
        address += site->address + site->length;
    if (site->base != PCT_SITE_NO_REGISTER)
        address += pct_patch_register(frame, site->base);
    if (site->index != PCT_SITE_NO_REGISTER)
        address += pct_patch_register(frame, site->index) * site->scale;
    return site->flags & PCT_SITE_SHORT_ADDRESS ? (uint32_t)address : address;
}

bool pct_patch_event(struct pct_patch_frame *frame)
{
    const struct pct_plan_site *site = &pct_emit_record(frame->return_address)->site;
    const struct pct_shim_thread *self = pct_self;
    frame->pc = site->address;
    if (!self || !pct_S.host || pct_shim.mode != PCT_MODE_CONTROLLED || pct_shim.ended || !pct_memory_view.active) {
        pct_patch_budget = UNINTERESTED;
        return false;
    }
    if (&self->core != pct_S.current)
        return false;
    uint64_t address = pct_patch_address(site, frame);
    const struct pct_memory_view *view = &pct_memory_view;
    if (site->kind <= PCT_SITE_UPDATE && !view->wants_all && view->cells && (address & 7) + site->size <= 8 &&
        pct_memory_marked(view->cells, address, pct_memory_own_mark))
        return false;
    if (site->kind == PCT_SITE_UPDATE || site->kind == PCT_SITE_EXCHANGE || site->kind == PCT_SITE_COMPARE) {
        /* The second half reads the place: should that fault, let it be here, where every register is still what it was
         * (pct_patch_translate() in patch.c knows the label). */
        __asm__ volatile(".globl pct_patch_probe\n"
                         ".hidden pct_patch_probe\n"
                         "pct_patch_probe: testb $0, (%0)"
                         :
                         : "r"(address), "b"(frame)
                         : "cc");
    }
    return true;
}
