/* Places of steps: see step_places.h. */
#include "step_places.h"
#include <cli/base/grow.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>

struct known {
    uint64_t address;
    bool call; /* it is where a call returns to, not the code itself */
    uint32_t number;
};

struct pct_step_places {
    const struct pct_snapshot *snapshot;
    struct pct_unwinder *unwinder; /* NULL: nothing has a name */
    void *tree;                    /* struct known by address */
    struct pct_frame *frames;      /* by number - 1 */
    uint32_t count, room;
};

static int compare(const void *a, const void *b)
{
    const struct known *x = a, *y = b;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    return (int)x->call - (int)y->call;
}

struct pct_step_places *pct_step_places_open(const struct pct_snapshot *snapshot)
{
    struct pct_step_places *places = calloc(1, sizeof *places);
    if (!places)
        return NULL;
    places->snapshot = snapshot;
    if (snapshot->site_count)
        places->unwinder = pct_unwind_open(snapshot);
    return places;
}

void pct_step_places_close(struct pct_step_places *places)
{
    if (!places)
        return;
    tdestroy(places->tree, free);
    free(places->frames);
    pct_unwind_close(places->unwinder);
    free(places);
}

static uint32_t add(struct pct_step_places *places, const struct known *wanted)
{
    if (!PCT_GROW(places->frames, places->count, places->room))
        return 0;
    struct known *known = malloc(sizeof *known);
    if (!known)
        return 0;
    *known = *wanted;
    known->number = places->count + 1;
    if (!tsearch(known, &places->tree, compare)) {
        free(known);
        return 0;
    }
    pct_unwind_name(places->unwinder, known->address, known->call, &places->frames[places->count++]);
    return known->number;
}

uint32_t pct_step_places_of(struct pct_step_places *places, uint64_t index, uint64_t record)
{
    const struct pct_site *site = pct_snapshot_site(places->snapshot, index);
    if (!site || !site->call || !places->unwinder)
        return 0;
    struct known wanted = { .address = site->call, .call = PCT_RECORD_OP(record) != PCT_OP_THREAD_START };
    struct known **found = tfind(&wanted, &places->tree, compare);
    return found ? (*found)->number : add(places, &wanted);
}

const struct pct_frame *pct_step_places_get(const struct pct_step_places *places, uint32_t number)
{
    return &places->frames[number - 1];
}

uint32_t pct_step_places_count(const struct pct_step_places *places)
{
    return places->count;
}

bool pct_step_places_point(const struct pct_step_places *places, uint32_t number, char *name, size_t size)
{
    const char *point = pct_snapshot_point(places->snapshot, number);
    if (point)
        snprintf(name, size, "%s", point);
    return point;
}

bool pct_step_places_object(const struct pct_step_places *places, uint64_t index, char *name, size_t size)
{
    const struct pct_site *site = pct_snapshot_site(places->snapshot, index);
    return site && site->object && places->unwinder && pct_unwind_object(places->unwinder, site->object, name, size);
}
