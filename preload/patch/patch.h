/* Scheduling points in unmodified code: patched at load time, when PCT_MEMORY asks for it.
 *
 * The `pct` command decodes a module's file and says what can be patched (patch/plan.h); here that plan is carried out:
 * each site's instruction is diverted to a trampoline (patch/emit.h), whose slow half tells preload/memory/memory.h of
 * the access. So no decoder runs in the target. All is made ready beside the program first; its code is changed in one
 * go at the end, or not at all.
 *
 *     patch.c        modules: which, the change itself
 *     patch_plan.c   their plans
 *     patch_leaf.c   what trampolines call: whether a place can matter to another thread
 *     patch_entry.c  the slow half: registers, the event
 *     patch_event.c  of it, what must not touch vector registers
 *
 * preload/core/run_pct.c runs the command for a plan that nobody has made yet.
 */
#ifndef PCT_PRELOAD_PATCH_H
#define PCT_PRELOAD_PATCH_H

#include <patch/emit.h>
#include <signal.h>
#include <ucontext.h>

/* What the slow half saves, from the lowest address up; above it the red zone and the stack of the program. Its
 * layout is known to the assembly in patch_entry.c. */
struct pct_patch_frame {
    uint64_t r15, r14, r13, r12, r11, r10, r9, r8, rdi, rsi, rbp, rbx, rcx, rax;
    uint64_t pc;             /* the site: to unwinders, the place that this was called from */
    uint64_t flags;          /* as LAHF has them, and the overflow flag in the lowest bit */
    uint64_t return_address; /* into the trampoline */
    uint64_t rdx;
};

/* What the program's stack pointer is above the frame. */
enum { PCT_PATCH_RED_ZONE = 128 };

/* patch_entry.c: what leaves go on with. */
void pct_patch_entry(void) __attribute__((visibility("hidden")));
/* Once, before the first call. False: the processor cannot save what is needed. */
bool pct_patch_entry_start(void);

/* AddressSanitizer's bytes about the program's memory. The code that its compiler has put beside accesses looks at
 * them, and stores some: these are not accesses of the program's. Of no size where there are none. */
extern struct pct_patch_shadow {
    uintptr_t from, size;
} pct_patch_shadow __attribute__((visibility("hidden")));

static inline bool pct_patch_is_shadow(uintptr_t address)
{
    return address - pct_patch_shadow.from < pct_patch_shadow.size;
}

/* What the first half of an event leaves to the second. */
enum pct_patch_rest {
    PCT_REST_NONE, /* nothing */
    PCT_REST_ALL,
    PCT_REST_WRITE, /* UPDATE: only that it writes */
    PCT_REST_WAIT   /* READ, LOOK: nothing but that the thread spins */
};

/* patch_event.c: the first half of an event, on any thread: all of one that is of no interest, or at which no other
 * thread is due. Compiled for general registers only, and calls nothing that is not. */
enum pct_patch_rest pct_patch_event(struct pct_patch_frame *frame);
/* Whether the fault of a site's own access came up here, in the slow half: then the registers are those of the site. */
bool pct_patch_leave_probe(greg_t *regs);
/* EXCHANGE, COMPARE: whether the instruction, which comes next, will change the place at this address. */
bool pct_patch_will_change(const struct pct_plan_site *site, uint64_t address, const struct pct_patch_frame *frame);
/* The value of a register at the site, by its number. */
uint64_t pct_patch_register(const struct pct_patch_frame *frame, unsigned number);
/* Where this site accesses memory, with these registers. */
uint64_t pct_patch_address(const struct pct_plan_site *site, const struct pct_patch_frame *frame);

/* patch_entry.c: the second half. state: what XSAVE has saved, from the first byte on; NULL: it has not. */
void pct_patch_point(struct pct_patch_frame *frame, enum pct_patch_rest rest, const uint64_t *state);

/* Patch what has been loaded since the last time, as PCT_MEMORY says. With the baton, before a thread is made. */
void pct_patch_modules(void);

/* Make all of that ready, but for the change itself: in the process that runs are forked from, before any of them,
 * which then share it. A run that wants other points than this process makes it anew. */
void pct_patch_prepare(void);

/* In a handler of SIGTRAP: true if it was a site's, whose trampoline comes next. */
bool pct_patch_trapped(int signal, const siginfo_t *info, ucontext_t *context);

/* In a signal handler: a thread that was interrupted in a trampoline stands, from here on, where it would stand in the
 * program's own code. */
void pct_patch_translate(ucontext_t *context);

#endif
