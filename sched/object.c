/* Objects by address: see object.h. Linear probing over a table of pairs, at most half full, with backward-shift
 * deletion, so that a look-up is one multiplication and, nearly always, one cache line. */
#include "object.h"
#include "log.h"
#include <errno.h>
#include <pct/strategy.h>

enum { PCT_OBJECTS_FIRST_LOG = 7, PCT_OBJECTS_CHUNK = 64 };

static uint32_t home(const struct pct_objects *o, uint64_t key)
{
    return (uint32_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> o->shift);
}

static uint32_t mask(const struct pct_objects *o)
{
    return (uint32_t)((UINT64_C(1) << (64 - o->shift)) - 1);
}

int pct_objects_start(struct pct_objects *o, void *(*map)(size_t size))
{
    o->map = map;
    o->shift = 64 - PCT_OBJECTS_FIRST_LOG;
    o->slots = map(sizeof(struct pct_object_slot) << PCT_OBJECTS_FIRST_LOG);
    return o->slots ? 0 : -ENOMEM;
}

static struct pct_object_slot *slot_of(struct pct_objects *o, uint64_t key)
{
    uint32_t i = home(o, key);
    while (o->slots[i].key && o->slots[i].key != key)
        i = (i + 1) & mask(o);
    return &o->slots[i];
}

/* Twice the slots. Without memory the table stays as it is: it only gets slower, until it is full. */
static void grow(struct pct_objects *o)
{
    uint32_t old_count = mask(o) + 1;
    struct pct_object_slot *old = o->slots;
    struct pct_object_slot *slots = o->map(sizeof *slots * 2 * old_count);
    if (!slots)
        return;
    o->slots = slots;
    o->shift--;
    for (uint32_t i = 0; i < old_count; i++)
        if (old[i].key)
            *slot_of(o, old[i].key) = old[i];
}

static struct pct_object *allocate(struct pct_objects *o)
{
    struct pct_object *object = o->free;
    if (object) {
        o->free = object->chain;
        return object;
    }
    if (!o->chunk_left) {
        o->chunk = o->map(sizeof *object * PCT_OBJECTS_CHUNK);
        if (!o->chunk)
            return NULL;
        o->chunk_left = PCT_OBJECTS_CHUNK;
    }
    o->chunk_left--;
    return o->chunk++;
}

/* Threads have ids instead of a number. */
static void number_anew(struct pct_objects *o, struct pct_object *object, uint64_t key)
{
    bool thread = key >> 56 == PCT_CLASS_THREAD;
    *object = (struct pct_object){ .address = (uintptr_t)(key & ~(UINT64_C(255) << 56)),
                                   .number = thread ? 0 : pct_object_number(o),
                                   .holder = PCT_NO_THREAD,
                                   .class_ = (uint8_t)(key >> 56) };
    if (PCT_UNLIKELY(o->log != NULL))
        pct_log_add(o->log, (struct pct_log_entry){ .kind = PCT_LOG_NAME, .value = object->number, .key = key });
}

/* For pct_object_mutex(), which looks no further: this one may stand behind others in the table. */
static void remember(struct pct_objects *o, struct pct_object *object)
{
    uint32_t place = pct_object_place((const void *)object->address);
    if (object->class_ != PCT_CLASS_MUTEX)
        return;
    o->mutex_at[place] = (const void *)object->address;
    o->mutex[place] = object;
}

struct pct_object *pct_objects_find(struct pct_objects *o, uint64_t key)
{
    static struct pct_object fallback = { .holder = PCT_NO_THREAD };
    struct pct_object_slot *slot = slot_of(o, key);
    if (slot->key) {
        remember(o, slot->object);
        return slot->object;
    }
    if (2 * (o->count + 1) > mask(o)) {
        grow(o);
        slot = slot_of(o, key);
    }
    struct pct_object *object = o->count < mask(o) ? allocate(o) : NULL;
    if (!object)
        return &fallback;
    number_anew(o, object, key);
    *slot = (struct pct_object_slot){ key, object };
    o->count++;
    return object;
}

struct pct_object *pct_object_known(struct pct_objects *o, const volatile void *at, enum pct_class class_)
{
    return slot_of(o, PCT_OBJECT_KEY(at, class_))->object;
}

struct pct_object *pct_object_init(struct pct_objects *o, const volatile void *at, enum pct_class class_)
{
    uint64_t key = PCT_OBJECT_KEY(at, class_);
    struct pct_object *object = pct_object_known(o, at, class_);
    if (!object)
        return pct_objects_find(o, key);
    if (!object->waiters && !object->away)
        number_anew(o, object, key);
    return object;
}

void pct_object_destroy(struct pct_objects *o, struct pct_object *object)
{
    struct pct_object_slot *slot = slot_of(o, PCT_OBJECT_KEY(object->address, object->class_));
    if (object->waiters || object->away || slot->object != object)
        return;
    uint32_t place = pct_object_place((const void *)object->address);
    if (o->mutex[place] == object)
        o->mutex_at[place] = NULL;
    object->chain = o->free;
    o->free = object;
    o->count--;
    /* Close the gap: an entry whose home is at or before the gap (cyclically) moves into it. */
    uint32_t gap = (uint32_t)(slot - o->slots), i = gap;
    for (;;) {
        i = (i + 1) & mask(o);
        if (!o->slots[i].key)
            break;
        uint32_t h = home(o, o->slots[i].key);
        if (((i - h) & mask(o)) >= ((i - gap) & mask(o))) {
            o->slots[gap] = o->slots[i];
            gap = i;
        }
    }
    o->slots[gap] = (struct pct_object_slot){ 0, NULL };
}
