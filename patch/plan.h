/* What can be patched in a module (an executable or a library): its plan. The command makes it from the file
 * (cli/binary/patch_plan.c), the shim carries it out in the process (preload/patch/patch.c). It depends on nothing but
 * the file, so one plan serves all runs of a campaign. A plan is this header, then its sites by address, then its pads
 * by address, then its slots.
 *
 * A *site* is an instruction that touches memory which other threads may see, or one where a function that the user has
 * named begins or returns, or code of a line that the user has named begins. A *pad* is a stretch of filling between
 * code that nothing executes. A *slot* is where the linker puts the address of a function of libc that uses memory for
 * its caller (strings.h). Addresses are those of the file, before the loader moves it. */
#ifndef PCT_PATCH_PLAN_H
#define PCT_PATCH_PLAN_H

#include <stdint.h>

#define PCT_PLAN_MAGIC "pctplang"

/* The section of a program that pct-cc has linked in which the handlers of its accesses stand (runtime/handlers.c):
 * never patched. */
#define PCT_HANDLERS_SECTION ".pct_handlers"

/* Why nothing of a module is patched. X(identifier, text). */
#define PCT_PLAN_REFUSALS(X)                                                                                           \
    X(NONE, "")                                                                                                        \
    X(NOT_ELF, "it is not an ELF file")                                                                                \
    X(ARCHITECTURE, "it is for another architecture: only x86-64 code can be patched")                                 \
    X(DAMAGED, "its file is damaged")                                                                                  \
    X(UNWIND, "it has no table of its functions (.eh_frame_hdr), so what is code in it is not known")                  \
    X(DATA, "there are bytes in its code that are not instructions")                                                   \
    X(TEXTREL, "its code is relocated when it is loaded")                                                              \
    X(NO_PLAN, "the pct command that belongs to libpct.so could not be run, or could not read it")                     \
    X(CHANGED, "its code is not that of its file")                                                                     \
    X(SPACE, "there is no free memory near its code")                                                                  \
    X(PROTECTED, "the system does not let its code be changed")                                                        \
    X(CONFINED, "the program had confined itself (seccomp) before its second thread")                                  \
    X(OTHERS, "threads that pct does not control could have been running in it")                                       \
    X(PROCESSOR, "this processor has no XSAVE")                                                                        \
    X(SANITIZER, "a sanitizer's runtime is linked into it: -shared-libsan puts that into a library")

enum pct_plan_refusal {
#define PCT_PLAN_REFUSAL_ENUM(id, text) PCT_PLAN_##id,
    PCT_PLAN_REFUSALS(PCT_PLAN_REFUSAL_ENUM)
#undef PCT_PLAN_REFUSAL_ENUM
        PCT_PLAN_REFUSALS_COUNT
};

enum pct_site_kind {
    PCT_SITE_READ,
    PCT_SITE_WRITE,
    PCT_SITE_UPDATE,   /* reads and writes the same place, not as one step: another thread's write may come between */
    PCT_SITE_ATOMIC,   /* the same as one step */
    PCT_SITE_EXCHANGE, /* the same: xchg with a register */
    PCT_SITE_COMPARE,  /* the same: cmpxchg, which compares with the accumulator and may leave the place as it is */
    PCT_SITE_FENCE,    /* touches nothing that others see */
    PCT_SITE_PAUSE,    /* likewise, in a loop that waits */
    PCT_SITE_LOOK,     /* reads, and is here only because of PCT_SITE_WAITS */
    PCT_SITE_PLACE,    /* is here only because of PCT_SITE_ENTERS or PCT_SITE_RETURNS */
    PCT_SITE_CALL,     /* reads where it calls or jumps to; a site only in runs that ask for it (calls= in tokens) */
    PCT_SITE_KINDS
};

/* Registers of an address, as the processor numbers them: 0 rax, 1 rcx, ... 15 r15; the base may be where the thread's
 * own storage begins (fs). */
enum { PCT_SITE_THREAD_POINTER = 16, PCT_SITE_NO_REGISTER = 0xff, PCT_SITE_SHORTEST = 2, PCT_SITE_LONGEST = 15 };

enum pct_site_flags {
    PCT_SITE_RELATIVE = 1,      /* displacement is from the end of the instruction (rip) */
    PCT_SITE_ENTERED = 2,       /* some branch of the module goes into the middle of it: it must stay as it is */
    PCT_SITE_SHORT_ADDRESS = 4, /* the address has 32 bits */
    PCT_SITE_FLAGS_DEAD = 8,    /* nobody reads what the processor's flags are before it */
    PCT_SITE_WAITS = 16,        /* it reads in a loop that may wait for the place to change (cli/binary/spin_loops.h) */
    PCT_SITE_PLAIN = 32,        /* no compiler that has made the module makes such an instruction of an atomic access */
    PCT_SITE_ENTERS = 64,       /* a function begins here, or code of a line: enum pct_site_begins */
    PCT_SITE_RETURNS = 128      /* and returns here */
};

enum pct_site_begins { PCT_BEGINS_FUNCTION = 1, PCT_BEGINS_LINE = 2 };

struct pct_plan_site {
    uint64_t address;
    int32_t displacement;
    uint8_t length; /* bytes of the instruction, 2 to 15 */
    uint8_t kind;   /* enum pct_site_kind */
    uint8_t size;   /* bytes of memory that it touches; 0 for fences and pauses */
    uint8_t base, index, scale;
    uint8_t flags;               /* enum pct_site_flags */
    uint8_t displacement_at : 4; /* where in the instruction the four bytes of a relative displacement stand */
    uint8_t more : 4;   /* bytes of instructions behind it that may move with it, and a jump fits; 0: it does not */
    uint8_t value;      /* EXCHANGE: the register; ATOMIC: likewise, with the number of a bit from the address on */
    uint8_t bytes[2];   /* the first bytes of the instruction as the file has them */
    uint8_t call : 4;   /* PLACE, CALL: it ends with a call of this many bytes; 0: it does not */
    uint8_t begins : 4; /* of ENTERS: enum pct_site_begins, as bits */
};

struct pct_pad {
    uint64_t address;
    uint64_t size;
};

struct pct_slot {
    uint64_t address;
    uint64_t function; /* enum pct_string_function */
};

/* Stretches of a module's data that are written once it runs: more than linkers make. */
enum { PCT_PLAN_WRITTEN = 8 };

struct pct_plan_range {
    uint64_t from, to;
};

/* Why an instruction of the level asked for is no site, counted. X(identifier, text). */
#define PCT_PLAN_OMISSIONS(X)                                                                                          \
    X(STRING, "string instructions")                                                                                   \
    X(OTHER, "instructions that touch memory in ways of their own (gathers, scatters, state of the processor)")        \
    X(CONTROL, "jumps, calls, pushes and pops through memory")

enum pct_plan_omission {
#define PCT_PLAN_OMISSION_ENUM(id, text) PCT_PLAN_OMITTED_##id,
    PCT_PLAN_OMISSIONS(PCT_PLAN_OMISSION_ENUM)
#undef PCT_PLAN_OMISSION_ENUM
        PCT_PLAN_OMISSIONS_COUNT
};

struct pct_plan {
    char magic[8];
    uint32_t level;   /* PCT_PATCH_* of common/config.h */
    uint32_t refusal; /* enum pct_plan_refusal; if not NONE there are no sites */
    uint64_t size;    /* of the whole plan, bytes */
    uint64_t sites, pads, slots;
    uint64_t from, to;                               /* the code that is patched lies in here */
    struct pct_plan_range image;                     /* the whole module does */
    struct pct_plan_range written[PCT_PLAN_WRITTEN]; /* as far as used; then empty */
    uint64_t omitted[PCT_PLAN_OMISSIONS_COUNT];      /* by enum pct_plan_omission */
    uint64_t by_kind[16];                            /* sites by enum pct_site_kind */
    uint64_t untold;              /* of those omitted, with PCT_PATCH_STACKS, on the thread's own stack */
    uint64_t no_entry, no_return; /* a place where a named function begins, or returns, and no site can be, plus 1 */
};

/* What the site accesses, as far as that depends on no register; of a site in the process. */
static inline uint64_t pct_site_place(const struct pct_plan_site *site)
{
    return (uint64_t)(int64_t)site->displacement + (site->flags & PCT_SITE_RELATIVE ? site->address + site->length : 0);
}

static inline const struct pct_plan_site *pct_plan_sites(const struct pct_plan *plan)
{
    return (const struct pct_plan_site *)(plan + 1);
}

static inline const struct pct_pad *pct_plan_pads(const struct pct_plan *plan)
{
    return (const struct pct_pad *)(pct_plan_sites(plan) + plan->sites);
}

static inline const struct pct_slot *pct_plan_slots(const struct pct_plan *plan)
{
    return (const struct pct_slot *)(pct_plan_pads(plan) + plan->pads);
}

#endif
