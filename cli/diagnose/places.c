/* Places in the code: see places.h. */
#include "places.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

void pct_places_open(struct pct_places *places, const struct pct_snapshot *snapshot)
{
    *places = (struct pct_places){ 0 };
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
        if (places->count == room) {
            room = room ? 2 * room : 64;
            struct pct_mapped *more = realloc(places->mapped, room * sizeof *more);
            if (!more)
                return;
            places->mapped = more;
        }
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

uint64_t pct_places_of(const struct pct_places *places, const struct pct_snapshot *snapshot, uint64_t index)
{
    const struct pct_site *site = pct_snapshot_site(snapshot, index);
    return site && site->call ? portable(places, site->call) : 0;
}

uint64_t pct_places_of_stack(const struct pct_places *places, const struct pct_stack *stack)
{
    return stack->count ? portable(places, stack->frames[0].pc) : 0;
}

uint64_t pct_places_address(const struct pct_snapshot *snapshot, uint64_t place)
{
    struct pct_places places;
    uint64_t found = 0;
    pct_places_open(&places, snapshot);
    for (size_t i = 0; i < places.count && !found; i++) {
        uint64_t address = place + places.mapped[i].bias;
        found = address >= places.mapped[i].begin && address < places.mapped[i].end ? address : 0;
    }
    pct_places_close(&places);
    return found;
}
