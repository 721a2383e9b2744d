/* Who is who in a family, by the forks from its first process, and what they tell each other in the replay of a script
 * of several: see family.h. */
#include "family.h"
#include "family_memory.h"
#include <common/text.h>
#include <preload/core/shim.h>
#include <string.h>

/* The first child of a program that the first process has become has at least this number: the family that those of
 * another one were in is gone. */
enum { CHILDREN_OF_IMAGE = 1000 };

/* The board of a process that has no family yet. */
static struct pct_family_board alone;

void pct_family_name_first(struct pct_slot *me)
{
    pct_family_memory->board = alone;
    me->path[0] = 0;
    me->images = pct_shim.header->images + 1;
    me->children = pct_shim.header->images * CHILDREN_OF_IMAGE;
}

uint32_t pct_family_name_child(uint32_t self, uint32_t ticket)
{
    struct pct_text text;
    if (!self || !ticket)
        return ticket;
    struct pct_slot *me = pct_slot_at(self), *child = pct_slot_at(pct_slot_of(ticket));
    uint32_t number = __atomic_add_fetch(&me->children, 1, __ATOMIC_RELAXED);
    if (me->path[0] == '?' || strlen(me->path) + sizeof ".4294967295" > sizeof child->path)
        return ticket;
    pct_text_init(&text, child->path, sizeof child->path);
    pct_text_add(&text, me->path);
    pct_text_add(&text, me->path[0] ? "." : "");
    pct_text_add_u64(&text, number);
    return ticket;
}

const char *pct_family_path(uint32_t *image)
{
    const struct pct_slot *me = pct_family_slot() ? pct_slot_at(pct_slot_of(pct_family_slot())) : NULL;
    *image = me ? me->images - 1 : pct_shim.header ? pct_shim.header->images : 0;
    if (!me)
        return pct_family_relatives() ? NULL : "";
    return me->path[0] == '?' ? NULL : me->path;
}

void pct_family_path_of(uint32_t slot, char path[PCT_FAMILY_PATH])
{
    path[0] = 0;
    if (slot && pct_family_memory && pct_slot_at(pct_slot_of(slot))->path[0] != '?')
        memcpy(path, pct_slot_at(pct_slot_of(slot))->path, PCT_FAMILY_PATH);
}

struct pct_family_board *pct_family_board(void)
{
    return pct_family_memory ? &pct_family_memory->board : &alone;
}
