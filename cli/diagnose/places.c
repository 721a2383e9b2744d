/* Places in the code: see places.h. */
#include "places.h"
#include <cli/base/grow.h>
#include <cli/trace/frames.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

enum { SEEN = 4096 }; /* a power of two */

/* By portable address, since the same code comes again in each run, and its debug information takes long to read. */
static struct {
    uint64_t code;
    bool known, library; /* library: all that was inlined there, too */
} seen_code[SEEN];

void pct_places_open(struct pct_places *places, const struct pct_snapshot *snapshot, struct pct_unwinder *unwinder)
{
    *places = (struct pct_places){ .unwinder = unwinder };
    const char *line = snapshot->maps, *end = line ? line + snapshot->maps_size : NULL;
    size_t room = 0;
    while (line && line < end) {
        char text[4400], path[4200] = "";
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        size_t length = (size_t)((stop ? stop : end) - line);
        snprintf(text, sizeof text, "%.*s", (int)(length < sizeof text ? length : sizeof text - 1), line);
        line += length + 1;
        uint64_t from, to, offset;
        if (sscanf(text, "%" SCNx64 "-%" SCNx64 " %*4s %" SCNx64 " %*s %*s %4199[^\n]", &from, &to, &offset, path) < 4)
            continue;
        if (!PCT_GROW(places->mapped, places->count, room))
            return;
        places->mapped[places->count++] =
            (struct pct_mapped){ from, to, from - offset - XXH3_64bits(path, strlen(path)) };
    }
}

void pct_places_close(struct pct_places *places)
{
    free(places->mapped);
    *places = (struct pct_places){ 0 };
}

static uint64_t portable(const struct pct_places *places, uint64_t address)
{
    for (size_t i = 0; i < places->count; i++)
        if (address >= places->mapped[i].begin && address < places->mapped[i].end)
            return address - places->mapped[i].bias;
    return address;
}

/* Whether the call that returns to this address is in a library's function, which was not inlined in the program's. */
static bool in_library(const struct pct_places *places, uint64_t address, uint64_t code)
{
    static struct pct_stack stack;
    uint64_t at = (code * UINT64_C(0x9e3779b97f4a7c15) >> 40) & (SEEN - 1);
    if (!places->unwinder)
        return false;
    if (seen_code[at].known && seen_code[at].code == code)
        return seen_code[at].library;
    pct_unwind_place(places->unwinder, address, true, &stack);
    const struct pct_frame *best = pct_frame_best(&stack);
    seen_code[at].code = code;
    seen_code[at].known = true;
    seen_code[at].library = best && pct_frame_is_library(best->function, best->file, best->module);
    return seen_code[at].library;
}

static struct pct_code_place place_of(const struct pct_places *places, uint64_t call, uint16_t callers)
{
    uint64_t code = portable(places, call);
    uint64_t way = callers ? (code ^ callers) * UINT64_C(0x9e3779b97f4a7c15) : code;
    return (struct pct_code_place){ code, way, callers && in_library(places, call, code) ? way : code };
}

struct pct_code_place pct_places_of(const struct pct_places *places, const struct pct_snapshot *snapshot,
                                    uint64_t index)
{
    const struct pct_site *site = pct_snapshot_site(snapshot, index);
    return site && site->call ? place_of(places, site->call, site->callers) : (struct pct_code_place){ 0 };
}

struct pct_code_place pct_places_of_stack(const struct pct_places *places, const struct pct_stack *stack)
{
    uint16_t callers = 0;
    unsigned count = 0;
    /* What was inlined has a frame of its own, at the same address. */
    for (size_t i = 1; i < stack->count && count < PCT_SITE_CALLERS; i++)
        if (stack->frames[i].pc != stack->frames[i - 1].pc) {
            callers = pct_site_add_caller(callers, stack->frames[i].pc);
            count++;
        }
    return stack->count ? place_of(places, stack->frames[0].pc, callers) : (struct pct_code_place){ 0 };
}

uint64_t pct_places_address(const struct pct_snapshot *snapshot, uint64_t place)
{
    struct pct_places places;
    uint64_t found = 0;
    pct_places_open(&places, snapshot, NULL);
    for (size_t i = 0; i < places.count && !found; i++) {
        uint64_t address = place + places.mapped[i].bias;
        found = address >= places.mapped[i].begin && address < places.mapped[i].end ? address : 0;
    }
    pct_places_close(&places);
    return found;
}
