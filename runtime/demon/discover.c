/* From the objects that others know along the members of the map, breadth first: see discover.h. */
#include "discover.h"

enum { MOST_NODES = 512 };

/* An object that was come to. */
struct node {
    uint64_t address;
    struct pct_demon_found way;
    bool part, head; /* it is a member of one that was come to; it is one of a variable, and no container has it */
    uint32_t of, of_offset; /* of which type that is, and where it is there */
};

static struct {
    bool fresh; /* what is below is of now */
    struct pct_demon_map *map;
    struct node node[MOST_NODES];
    uint32_t count;
    uint32_t function; /* the first thread has entered it last, */
    uint64_t arguments[PCT_DEMON_ARGUMENTS];
    bool unsure; /* of something it is not certain that it is an element */
} search;        /* not on the stack, which is the program's */

static struct node *find_met(uint64_t address, uint32_t type)
{
    for (uint32_t i = 0; i < search.count; i++)
        if (search.node[i].address == address && search.node[i].way.type == type)
            return &search.node[i];
    return NULL;
}

/* NULL: there is none, or no room for it. */
static struct node *meet(uint64_t address, const struct pct_demon_found *way)
{
    struct node *met = address ? find_met(address, way->type) : NULL;
    if (!address || met)
        return met;
    search.map->cut |= search.count == MOST_NODES;
    if (search.count == MOST_NODES)
        return NULL;
    search.node[search.count] = (struct node){ .address = address, .way = *way };
    return &search.node[search.count++];
}

/* Whether what a pointer to a member leads to is one of another structure: the head of a list, where it ends. */
static bool is_head(uint64_t address, const struct pct_demon_field *f)
{
    const struct node *met = find_met(address, f->length_size);
    return met && (met->head || (met->part && (met->of != f->target || met->of_offset != f->length_offset)));
}

/* Whether a variable of the program is an object of this type. */
static bool is_variable(uint64_t address, uint32_t type)
{
    for (uint32_t i = 0; i < search.map->roots; i++) {
        const struct pct_demon_known *root = &search.map->root[i];
        if (root->is == PCT_DEMON_ELEMENT && root->type == type && pct_demon_find(&root->place, NULL) == address)
            return true;
    }
    return false;
}

enum way_round { COMES_TO_HEAD, ENDS, GOES_ROUND };

/* Along this pointer, and so on; *last: what this ends at. */
static enum way_round go_round(uint64_t link, const struct pct_demon_field *along,
                               const struct pct_demon_field *container, uint64_t *last)
{
    uint64_t at = link;
    for (uint32_t i = 0; i < MOST_NODES; i++) {
        *last = at;
        if (!pct_demon_read(at + along->offset, &at, sizeof at) || at == link)
            return GOES_ROUND;
        if (!at)
            return ENDS;
        if (is_head(at, container))
            return COMES_TO_HEAD;
    }
    return GOES_ROUND;
}

/* Whether the function that the first thread has entered last was entered with it. */
static bool is_passed(uint64_t address, uint32_t type)
{
    for (uint32_t i = 0; i < PCT_DEMON_ARGUMENTS; i++)
        if (search.arguments[i] == address && search.map->parameter[search.function][i] == type)
            return true;
    return false;
}

/* Whether a pointer to this structure itself leads to it: it is no head, but may be in a list. */
static bool is_known(uint64_t link, const struct pct_demon_field *f)
{
    const uint64_t address = link - f->length_offset;
    return find_met(address, f->target) || is_variable(address, f->target) || is_passed(address, f->target);
}

/* Whether it is certain that this is the member of such a structure: one is known there; or by the list that it is in:
 * its head is elsewhere; or it ends, and the pointer is not its own; or it has no way back, so that its own pointers
 * lead to no head; or the first and the last of it are known. */
static bool is_element(uint64_t link, const struct pct_demon_field *f, bool declared)
{
    const uint32_t member = f->length_size;
    if (is_head(link, f))
        return false;
    if (is_known(link, f))
        return true;
    uint64_t last;
    uint32_t ends = 0, round = 0, offset = 0, others = 0, strange = 0;
    for (uint32_t i = 0; i < search.map->fields; i++) {
        const struct pct_demon_field *along = &search.map->field[i];
        if (along->type != member || !along->pointer || along->behind || along->count != 1 ||
            (along->target != member && !along->container))
            continue;
        const enum way_round way = go_round(link, along, f, &last);
        if (way == COMES_TO_HEAD)
            return true;
        others += ends && along->offset != offset;
        ends += way == ENDS;
        strange += way == ENDS && !is_known(last, f);
        round += way == GOES_ROUND;
        offset = along->offset;
    }
    const bool certain = ends && !round && (declared || !others || !strange);
    search.unsure |= !certain;
    return certain;
}

/* What kind of object a pointer to void leads to says the function that it is passed to. ANY: nobody does. */
static uint32_t type_passed(uint64_t address)
{
    for (uint32_t i = 0; i < PCT_DEMON_ARGUMENTS; i++)
        if (search.arguments[i] == address)
            return search.map->parameter[search.function][i];
    return PCT_DEMON_ANY;
}

static void follow(const struct node *from, uint32_t field, uint32_t element)
{
    const struct pct_demon_field *f = &search.map->field[field];
    struct pct_demon_found way = from->way;
    const uint32_t behind = f->behind ? element * f->stride : 0;
    const uint32_t offset = f->offset + element * f->stride - behind;
    uint64_t address = from->address + (uint64_t)(int64_t)(int32_t)offset;
    if (way.hops == PCT_DEMON_HOPS || (f->pointer && way.place.steps == PCT_DEMON_STEPS)) {
        search.map->cut = 1;
        return;
    }
    way.hop[way.hops++] = (struct pct_demon_hop){ .field = field, .element = element };
    way.type = f->target;
    way.place.offset += (int32_t)offset;
    if (f->pointer) {
        way.place.step[way.place.steps++] = way.place.offset;
        way.place.offset = (int32_t)behind;
        if (!pct_demon_read(address, &address, sizeof address) || !address)
            return;
        const bool declared = f->type != f->length_size && !f->own;
        if (f->container && !is_element(address, f, declared))
            return;
        if (f->container) {
            address -= f->length_offset;
            way.place.container[way.place.steps] =
                pct_demon_container(f->target, f->length_size, f->length_offset, declared);
        }
        way.place.offset -= f->container ? (int32_t)f->length_offset : 0;
        address += behind;
        way.type = way.type == PCT_DEMON_ANY ? type_passed(address) : way.type;
    }
    struct node *to = way.type != PCT_DEMON_ANY ? meet(address, &way) : NULL;
    if (to && !f->pointer && !to->part) {
        to->part = true;
        to->of = f->type;
        to->of_offset = offset;
    }
}

/* How many elements there are, as far as they are looked at. */
static uint32_t count_elements(const struct node *from, const struct pct_demon_field *f)
{
    uint64_t length = 0;
    if (f->container || !f->length_size)
        return f->count;
    const uint32_t said = f->length_size, size = said & (PCT_DEMON_UNSIGNED - 1);
    const bool has_sign = size == said;
    if (!size || size > sizeof length || !pct_demon_read(from->address + f->length_offset, &length, size) ||
        (has_sign && length >> (size * 8 - 1))) /* below 0 */
        return 0;
    search.map->cut |= length > f->count;
    return length < f->count ? (uint32_t)length : f->count;
}

/* Along members that lead to containers, or along all others. */
static void follow_all(const struct node *from, bool containers)
{
    for (uint32_t f = 0; f < search.map->fields; f++) {
        const struct pct_demon_field *field = &search.map->field[f];
        const bool counts = field->type == from->way.type && field->container == containers && !from->head;
        const uint32_t count = counts ? count_elements(from, field) : 0;
        for (uint32_t e = 0; e < count; e++)
            follow(from, f, e);
    }
}

/* Unless one that is known already leads to it. */
static void keep(const struct node *node)
{
    struct pct_demon_map *map = search.map;
    const bool passed = is_passed(node->address, node->way.type);
    for (uint32_t i = 0; i < map->founds; i++)
        if (map->found[i].type == node->way.type && pct_demon_find(&map->found[i].place, NULL) == node->address) {
            map->found[i].passed |= passed;
            return;
        }
    if (map->founds == PCT_DEMON_FOUND) {
        map->cut = 1;
        return;
    }
    map->found[map->founds] = node->way;
    map->found[map->founds++].passed = passed;
}

/* Where it begins. */
static void meet_roots(enum pct_demon_is is, bool containers)
{
    for (uint32_t i = 0; search.map->wanted && i < search.map->roots; i++) {
        const struct pct_demon_known *root = &search.map->root[i];
        const struct pct_demon_found way = { .place = root->place, .type = root->type };
        const bool counts = root->is == is && (root->place.container[0] != 0) == containers;
        struct node *met = counts ? meet(pct_demon_find(&root->place, NULL), &way) : NULL;
        if (met && is == PCT_DEMON_HEAD)
            met->head = true;
    }
}

static void look(struct pct_demon_map *map)
{
    search.fresh = true;
    search.map = map;
    search.count = 0;
    meet_roots(PCT_DEMON_KNOWN, false);
    for (uint32_t i = 0; i < search.count; i++)
        follow_all(&search.node[i], false);
    meet_roots(PCT_DEMON_HEAD, false);
    /* Last, as all heads of lists must be known; again, as what is known then may show that others are elements. */
    const uint32_t unsure = map->unsure;
    uint32_t before;
    do {
        before = search.count;
        search.unsure = false;
        meet_roots(PCT_DEMON_KNOWN, true);
        for (uint32_t i = 0, others = before; i < search.count; i++) {
            follow_all(&search.node[i], true);
            for (; others < search.count; others++)
                follow_all(&search.node[others], false);
        }
    } while (search.count > before);
    map->unsure = unsure | search.unsure;
}

void pct_demon_entered(uint32_t function, const uint64_t arguments[PCT_DEMON_ARGUMENTS])
{
    search.function = function;
    for (uint32_t i = 0; i < PCT_DEMON_ARGUMENTS; i++)
        search.arguments[i] = arguments[i];
    search.fresh = false;
}

void pct_demon_discover(struct pct_demon_map *map)
{
    look(map);
    for (uint32_t i = 0; i < search.count; i++)
        if (search.node[i].way.hops && search.node[i].way.type < PCT_DEMON_TYPES &&
            map->wanted >> search.node[i].way.type & 1)
            keep(&search.node[i]);
}

void pct_demon_forget(void)
{
    search.fresh = false;
}

bool pct_demon_is_element(struct pct_demon_map *map, uint64_t link, uint32_t container)
{
    const struct pct_demon_field f = { .target = container >> 25 & (PCT_DEMON_TYPES - 1),
                                       .length_size = container >> 20 & (PCT_DEMON_TYPES - 1),
                                       .length_offset = container & ((1U << 20) - 1) };
    if (!search.fresh)
        look(map);
    const bool is = container != PCT_DEMON_NOT_SAID && is_element(link, &f, container >> 30 & 1);
    map->unsure |= search.unsure;
    return is;
}
