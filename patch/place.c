/* Placing: see place.h. */
#include "place.h"
#include <common/bisect.h>
#include <string.h>

enum {
    ALIGNMENT = 16, /* of trampolines */
    SLACK = 64      /* whoever looks for a trampoline may read a few bytes beyond the last */
};

size_t pct_place_room(uint64_t sites, size_t before)
{
    size_t each = (PCT_TRAMPOLINE_SIZE + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    return (before + sites * each + SLACK + PCT_PLACE_PAGE - 1) & ~(size_t)(PCT_PLACE_PAGE - 1);
}

static bool is_locked(const struct pct_placing *p, uint64_t at)
{
    return p->locked[at / 8] >> at % 8 & 1;
}

static void lock(struct pct_placing *p, uint64_t from, uint64_t size)
{
    for (uint64_t at = from; at < from + size; at++)
        p->locked[at / 8] |= (uint8_t)(1u << at % 8);
}

/* Whether a breakpoint stands in there: a jump with such a byte would lead elsewhere without it. */
static bool breaks(const struct pct_placing *p, uint64_t from, uint64_t to)
{
    for (uint64_t at = from; p->breaks && at < to; at++)
        if (p->breaks[at / 8] >> at % 8 & 1)
            return true;
    return false;
}

/* Make the trampoline. Returns its address, 0 if it cannot be. */
static uint64_t make_trampoline(struct pct_placing *p, struct pct_patched *patched, const uint8_t *code)
{
    if (p->near_used + PCT_TRAMPOLINE_SIZE + SLACK > p->near_size)
        return 0;
    uint64_t at = p->near_address + p->near_used;
    uint64_t start = 0;
    size_t size = pct_emit_trampoline(p->near + p->near_used, at, patched, code, &p->leaves, &start);
    if (!size)
        return 0;
    p->near_used = (p->near_used + size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    return start;
}

/* Pages of islands */

/* make: if it is not there yet. */
static struct pct_place_page *find_page(struct pct_placing *p, uint64_t address, bool make)
{
    uint64_t slot = (address / PCT_PLACE_PAGE * UINT64_C(0x9e3779b97f4a7c15)) >> 40;
    for (;; slot++) {
        uint32_t *number = &p->slots[slot % PCT_PLACE_SLOTS];
        if (*number && p->pages[*number - 1].address != address)
            continue;
        if (*number)
            return &p->pages[*number - 1];
        if (!make || p->page_count == PCT_PLACE_MAX_PAGES)
            return NULL;
        struct pct_place_page *page = &p->pages[p->page_count++];
        *number = p->page_count;
        page->address = address;
        page->memory = p->map(p->context, address);
        return page;
    }
}

/* Where in the page the first PCT_JUMP_SIZE free bytes begin, in [first, end); `end` if nowhere. A module has tens of
 * thousands of islands, and most pages that are asked are nearly full: 64 places at a time. */
static unsigned find_free(const struct pct_place_page *page, unsigned first, unsigned end)
{
    enum { WORDS = sizeof page->used / sizeof page->used[0] };
    for (unsigned word = first / 64; word < WORDS && word * 64 < end; word++) {
        const uint64_t these = ~page->used[word], next = word + 1 < WORDS ? ~page->used[word + 1] : 0;
        uint64_t starts = these;
        for (unsigned i = 1; i < PCT_JUMP_SIZE; i++)
            starts &= these >> i | next << (64 - i);
        if (word == first / 64)
            starts &= ~UINT64_C(0) << first % 64;
        if (starts) {
            const unsigned at = word * 64 + (unsigned)__builtin_ctzll(starts);
            return at < end ? at : end;
        }
    }
    return end;
}

/* Put an island to this trampoline into the page, at an address in [from, to). Returns its address or 0. */
static uint64_t island_in_page(struct pct_placing *p, uint64_t page_address, uint64_t from, uint64_t to,
                               uint64_t trampoline, bool make)
{
    struct pct_place_page *page = find_page(p, page_address, make);
    if (!page || !page->memory)
        return 0;
    unsigned first = from > page_address ? (unsigned)(from - page_address) : 0;
    unsigned end = PCT_PLACE_PAGE - PCT_JUMP_SIZE + 1;
    if (to - page_address < end)
        end = (unsigned)(to - page_address);
    const unsigned at = find_free(page, first, end);
    if (at >= end || !pct_emit_jump(page->memory + at, page_address + at, trampoline))
        return 0;
    for (unsigned i = at; i < at + PCT_JUMP_SIZE; i++)
        page->used[i / 64] |= UINT64_C(1) << i % 64;
    return page_address + at;
}

static uint64_t island(struct pct_placing *p, uint64_t from, uint64_t to, uint8_t high, uint64_t trampoline, bool make)
{
    enum { TRIES = 16 };
    if (to + PCT_PLACE_PAGE > p->avoid_from && from < p->avoid_to)
        return 0;
    uint64_t page = from & ~(uint64_t)(PCT_PLACE_PAGE - 1), found = 0;
    uint64_t recent = p->recent[high];
    if (recent >= page && recent < to)
        found = island_in_page(p, recent, from, to, trampoline, make);
    for (unsigned i = 0; i < TRIES && page < to && !found; i++, page += PCT_PLACE_PAGE) {
        /* In a large window, begin behind the page that is full. */
        if (!i && recent >= page && recent + PCT_PLACE_PAGE < to && to - from > TRIES * PCT_PLACE_PAGE)
            page = recent + PCT_PLACE_PAGE;
        found = island_in_page(p, page, from, to, trampoline, make);
        if (found)
            p->recent[high] = page;
    }
    return found;
}

/* The ways */

static bool jump(struct pct_placing *p, struct pct_patched *patched, uint64_t at)
{
    uint8_t code[PCT_JUMP_SIZE];
    const struct pct_plan_site *site = &patched->site;
    if (site->length < PCT_JUMP_SIZE || !pct_emit_jump(code, site->address, patched->trampoline))
        return false;
    memcpy(p->code + at, code, sizeof code);
    return true;
}

/* The displacement of the jmp ends in bytes that belong to what follows; the site's own bytes are free. */
static bool pun(struct pct_placing *p, struct pct_patched *patched, uint64_t at, bool make)
{
    const struct pct_plan_site *site = &patched->site;
    unsigned own = site->length - 1u, borrowed = PCT_JUMP_SIZE - site->length;
    if (site->length >= PCT_JUMP_SIZE || at + PCT_JUMP_SIZE > p->plan->to - p->plan->from ||
        breaks(p, at + 1, at + PCT_JUMP_SIZE))
        return false;
    int32_t distance = 0;
    memcpy((uint8_t *)&distance + own, p->code + at + site->length, borrowed);
    uint64_t from = site->address + PCT_JUMP_SIZE + (uint64_t)(int64_t)distance;
    uint64_t to = from + (UINT64_C(1) << 8 * own);
    if (to < from || from < UINT64_C(1) << 16 || to >> 47)
        return false;
    uint64_t target = island(p, from, to, p->code[at + PCT_JUMP_SIZE - 1], patched->trampoline, make);
    if (!target)
        return false;
    uint8_t code[PCT_JUMP_SIZE];
    pct_emit_jump(code, site->address, target);
    memcpy(p->code + at, code, site->length);
    lock(p, at + site->length, borrowed);
    return true;
}

/* Five free bytes of a pad, for an island to this trampoline. Returns where in the code, 0 if there are none. */
static uint64_t island_in_pad(struct pct_placing *p, const struct pct_pad *pad, uint64_t low, uint64_t high,
                              uint64_t trampoline)
{
    uint64_t from = pad->address - p->plan->from, end = from + pad->size;
    for (uint64_t at = from < low ? low : from; at + PCT_JUMP_SIZE <= end && at <= high; at++) {
        unsigned run = 0;
        while (run < PCT_JUMP_SIZE && !is_locked(p, at + run) && !breaks(p, at + run, at + run + 1))
            run++;
        if (run < PCT_JUMP_SIZE)
            continue;
        if (!pct_emit_jump(p->code + at, p->bias + p->plan->from + at, trampoline))
            return 0;
        lock(p, at, PCT_JUMP_SIZE);
        return at;
    }
    return 0;
}

static bool short_jump(struct pct_placing *p, struct pct_patched *patched, uint64_t at)
{
    const struct pct_pad *pads = pct_plan_pads(p->plan);
    uint64_t after = at + PCT_SHORT_JUMP_SIZE, low = after > 128 ? after - 128 : 0, high = after + 127;
    for (uint64_t i = PCT_BISECT(pad, 0, p->plan->pads, pads[pad].address + pads[pad].size - p->plan->from <= low);
         i < p->plan->pads && pads[i].address - p->plan->from <= high; i++) {
        uint64_t found = island_in_pad(p, &pads[i], low, high, patched->trampoline);
        if (!found)
            continue;
        p->code[at] = 0xeb;
        p->code[at + 1] = (uint8_t)(found - after);
        return true;
    }
    return false;
}

/* The instructions behind the site move with it. used: of the room for trampolines, before its own, in the place of
 * which comes one with them. */
static bool jump_of_block(struct pct_placing *p, struct pct_patched *patched, uint64_t at, size_t used)
{
    const struct pct_patched alone = *patched;
    const size_t end = p->near_used;
    uint8_t trampoline[PCT_TRAMPOLINE_SIZE];
    if (!p->blocks || !alone.site.more || breaks(p, at + 1, at + alone.site.length + alone.site.more))
        return false;
    memcpy(trampoline, p->near + used, sizeof trampoline);
    p->near_used = used;
    patched->site.length += patched->site.more;
    patched->trampoline = make_trampoline(p, patched, p->code + at);
    if (patched->trampoline && jump(p, patched, at))
        return true;
    memcpy(p->near + used, trampoline, sizeof trampoline);
    p->near_used = end;
    *patched = alone;
    return false;
}

static enum pct_place_way place_site(struct pct_placing *p, struct pct_patched *patched)
{
    struct pct_plan_site *site = &patched->site;
    uint64_t at = site->address - p->plan->from;
    size_t used = p->near_used;
    enum pct_place_way way = PCT_WAY_ALONE;
    site->address += p->bias;
    if (!(site->flags & PCT_SITE_ENTERED))
        patched->trampoline = make_trampoline(p, patched, p->code + at);
    if (!patched->trampoline)
        return PCT_WAY_ALONE;
    /* A page more for islands may be a mapping more, and the system has not many: only where nothing else helps. */
    bool punned = false;
    if (jump(p, patched, at))
        way = PCT_WAY_JUMP;
    else if (!(punned = pun(p, patched, at, false)) && short_jump(p, patched, at))
        way = PCT_WAY_SHORT;
    else if (punned || pun(p, patched, at, true))
        way = PCT_WAY_PUN;
    else if (jump_of_block(p, patched, at, used))
        way = PCT_WAY_BLOCK;
    /* No debugger steps from its own breakpoint over an int3 below that. */
    if (way == PCT_WAY_ALONE && p->traps && patched->trampoline && !breaks(p, at, at + 1)) {
        p->code[at] = PCT_INT3;
        way = PCT_WAY_TRAP;
    }
    if (way == PCT_WAY_ALONE) {
        patched->trampoline = 0;
        p->near_used = used;
    }
    return way;
}

void pct_place_module(struct pct_placing *p)
{
    const struct pct_plan_site *sites = pct_plan_sites(p->plan);
    for (uint64_t i = p->plan->sites; i-- > 0;) {
        p->patched[i] = (struct pct_patched){ .site = sites[i] };
        if (sites[i].kind != PCT_SITE_CALL || p->calls)
            p->ways[place_site(p, &p->patched[i])]++;
    }
}
