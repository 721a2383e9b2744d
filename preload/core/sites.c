/* Where in the target's code each step is made: see sites.h. On the turn of the thread that holds the baton.
 *
 * A wrapper that passes a point has marked its frame (PCT_ENTER), and above that mark stands the address to which it
 * returns. Where the wrapper was called by another function of ours, the frames above are searched for the first
 * address behind a call that is not in the shim: there is nothing in between but our own few locals. */
#include "sites.h"
#include "callers.h"
#include "environment.h"
#include "kernel.h"
#include "registers.h"
#include "shim.h"
#include <common/forkserver.h>
#include <string.h>

enum { STACKS = 64, STACK_BYTES = 16 << 10, FRAMES_WORDS = 128 };

/* The linker's: where the shim begins and ends in memory. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

static struct {
    bool wanted;
    bool family; /* of child processes, too */
    bool calls;  /* not who called: nobody asks that, and unwinding at each step is a third of what sites cost */
    uint32_t count;
    uint64_t steps[STACKS];
    char *kept;             /* room for the stacks */
    size_t kept_size, last; /* bytes; where the last one begins */
} sites;

bool pct_sites_parse(const char *value)
{
    sites.wanted = true;
    sites.family = !strcmp(value, "family");
    sites.calls = !strcmp(value, "calls");
    if (sites.family || sites.calls || !strcmp(value, "on"))
        return true;
    uint64_t last = 0;
    while (sites.count < STACKS) {
        uint64_t step = 0;
        const char *from = value;
        for (; *value >= '0' && *value <= '9' && value - from < 18; value++)
            step = step * 10 + (uint64_t)(*value - '0');
        if (value == from || step <= last || (*value && *value != ','))
            return false;
        sites.steps[sites.count++] = last = step;
        if (!*value++)
            return true;
    }
    return false;
}

void pct_sites_want(unsigned which)
{
    sites.wanted = which != PCT_FORKSERVER_NO_SITES;
    sites.calls = which == PCT_FORKSERVER_CALLS;
}

bool pct_sites_of_family(void)
{
    return sites.family;
}

void pct_sites_begin(struct pct_sched *s)
{
    if (!sites.wanted)
        return;
    size_t each = sizeof(struct pct_snap_section) + sizeof(struct pct_snap_step) + STACK_BYTES;
    sites.kept = sites.count ? pct_map(sites.count * each) : NULL;
    pct_sites_start(s, !sites.calls, sites.steps, sites.kept ? sites.count : 0);
}

static bool in_shim(uint64_t address)
{
    return address - (uintptr_t)__ehdr_start < (uintptr_t)_end - (uintptr_t)__ehdr_start;
}

/* Whether a call stands before this address: the near one by offset, or one through a register or memory (2 to 7
 * bytes). */
static bool behind_call(uint64_t address)
{
    unsigned char code[7];
    if (address < 4096 || pct_caller_copy(code, address - sizeof code, sizeof code) != sizeof code)
        return false;
    if (code[2] == 0xe8)
        return true;
    for (unsigned i = 0; i <= 5; i++)
        if (code[i] == 0xff && (code[i + 1] >> 3 & 7) == 2)
            return true;
    return false;
}

/* Where the address stands to which the wrapper returns that the thread, which has marked its frame, is in; NULL: it
 * was not found. */
static const uint64_t *find_return(const uint64_t *frame)
{
    if (!in_shim(frame[1]))
        return &frame[1];
    for (unsigned i = 2; i < FRAMES_WORDS; i++)
        if (!in_shim(frame[i]) && behind_call(frame[i]))
            return &frame[i];
    return NULL;
}

uint64_t pct_sites_call(const struct pct_thread *thread)
{
    const uint64_t *frame = pct_shim_of(thread)->inside;
    if (pct_shim_of(thread)->here)
        return pct_shim_of(thread)->here;
    const uint64_t *call = frame ? find_return(frame) : NULL;
    return call ? *call : 0;
}

uint64_t pct_sites_stack_of(const struct pct_thread *thread)
{
    const struct pct_shim_thread *t = pct_shim_of(thread);
    const uint64_t *frame = t->inside, *call = NULL;
    if (!frame)
        return 0;
    if (!t->here)
        call = find_return(frame);
    else if (t->patched > (uintptr_t)frame && t->patched < (uintptr_t)(frame + FRAMES_WORDS))
        return t->patched;
    for (unsigned i = 1; t->here && i < FRAMES_WORDS && !call; i++)
        call = frame[i] == t->here ? &frame[i] : NULL;
    return (uintptr_t)(call ? call + 1 : frame);
}

/* Whether patched code told of where the thread stands, and not something else behind that. */
static bool is_patched(const struct pct_shim_thread *t, uintptr_t frame)
{
    return t->here && t->patched > frame && t->patched - frame < STACK_BYTES &&
           *(const uint64_t *)(t->patched - PCT_PATCHED_PC) + 1 == t->here;
}

/* Where the thread stands in the program's code. False: not known. */
static bool find_stand(const struct pct_thread *thread, struct pct_caller *at)
{
    const struct pct_shim_thread *t = pct_shim_of(thread);
    const uint64_t *frame = t->inside;
    if (!frame)
        return false;
    if (is_patched(t, (uintptr_t)frame)) {
        *at = (struct pct_caller){ t->here, t->patched, *(const uint64_t *)(t->patched - PCT_PATCHED_BP) };
        return true;
    }
    /* A wrapper of ours that marks its frame has a frame pointer, and keeps that of its caller. */
    *at = (struct pct_caller){ frame[1], (uintptr_t)(frame + 2), frame[0] };
    while (in_shim(at->pc))
        if (!pct_caller_next(at))
            return false;
    return !t->here || at->pc == t->here;
}

uint16_t pct_sites_callers(const struct pct_thread *thread)
{
    struct pct_caller at;
    uint16_t callers = 0;
    bool known = find_stand(thread, &at);
    for (unsigned i = 0; known && i < PCT_SITE_CALLERS && pct_caller_next(&at) && !in_shim(at.pc); i++)
        callers = pct_site_add_caller(callers, at.pc);
    return callers;
}

void pct_sites_keep_stack(const struct pct_thread *thread, uint64_t step)
{
    static const int places[8] = { 3, 6, 12, 13, 14, 15, 7, 16 };
    uint64_t regs[8];
    pct_save_registers(regs);
    struct pct_snap_section *head = (void *)(sites.kept + sites.last);
    /* A thread may come to two points before it makes its step: the last one counts. */
    if (sites.kept_size && ((struct pct_snap_step *)(head + 1))->step != step) {
        sites.last = sites.kept_size;
        head = (void *)(sites.kept + sites.last);
    }
    struct pct_snap_step *at = (void *)(head + 1);
    *at = (struct pct_snap_step){ .step = step, .address = regs[6] };
    for (int i = 0; i < 8; i++)
        at->regs[places[i]] = regs[i];
    size_t size = 0;
    /* By pages: a read that crosses into nothing would fail as a whole. */
    while (size < STACK_BYTES) {
        size_t part = 4096 - (at->address + size) % 4096;
        if (part > STACK_BYTES - size)
            part = STACK_BYTES - size;
        if (pct_caller_copy((char *)(at + 1) + size, at->address + size, part) != part)
            break;
        size += part;
    }
    pct_environment_clean(at + 1, at->address, size);
    *head = (struct pct_snap_section){ .type = PCT_SNAP_STEP, .thread = thread->id, .size = sizeof *at + size };
    sites.kept_size = sites.last + ((sizeof *head + sizeof *at + size + 7) & ~(size_t)7);
}

const void *pct_sites_stacks(size_t *size)
{
    *size = sites.kept_size;
    return sites.kept_size ? sites.kept : NULL;
}
