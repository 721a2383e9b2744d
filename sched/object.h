/* Objects that threads wait for, by address; numbered by first use, so that no address reaches a decision or a trace.
 * Called with the baton (in strategy `none`: under the recorder's lock). */
#ifndef PCT_SCHED_OBJECT_H
#define PCT_SCHED_OBJECT_H

#include <pct/trace.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pct_thread;
struct pct_channel;

/* Kin: no process can have it but those that descend from one that has. */
enum { PCT_SHARED_UNKNOWN, PCT_SHARED_NO, PCT_SHARED_YES, PCT_SHARED_KIN };

struct pct_object {
    uintptr_t address;
    uint32_t number;
    uint32_t waiters;                /* how many stand in the queue */
    struct pct_thread *first, *last; /* the queue, in order of arrival */
    struct pct_group *group;         /* all in the queue, if none of them can go on but all can; or NULL */
    uint32_t holder;                 /* the thread that holds it alone, PCT_NO_THREAD */
    uint8_t class_;                  /* enum pct_class */
    uint8_t shared;                  /* with other processes: PCT_SHARED_*; the host finds out */
    bool robust;                     /* the end of its holder gives it up */
    uint32_t away;                   /* waiters that pct_sched_interrupt() has taken out, and that will wait again */
    uint32_t model[3];               /* of those that are modelled: see the family in preload/ */
    struct pct_object *chain;        /* free list; list of objects with waiters is found through threads */
};

/* Keys are addresses with the class in the highest byte, which user space leaves 0: memory that is reused for another
 * class of object without a destroy is another object. */
#define PCT_OBJECT_KEY(address, class_) ((uint64_t)(uintptr_t)(address) | (uint64_t)(class_) << 56)

struct pct_object_slot {
    uint64_t key; /* 0: empty */
    struct pct_object *object;
};

enum { PCT_OBJECTS_RECENT_LOG = 6, PCT_OBJECTS_RECENT = 1 << PCT_OBJECTS_RECENT_LOG };

struct pct_objects {
    struct pct_object_slot *slots; /* open addressing, linear probing, at most half full */
    uint32_t shift;                /* 64 - log2(number of slots) */
    uint32_t count;                /* objects in the table */
    uint32_t numbered;             /* numbers given out */
    struct pct_object *free;
    struct pct_object *chunk; /* the rest of the last allocation */
    uint32_t chunk_left;
    void *(*map)(size_t size);
    struct pct_channel *log; /* where new numbers are told, or NULL */
    /* The mutexes used lately, each in the place that its address hashes to: for the shortcut of mutexes. */
    const volatile void *mutex_at[PCT_OBJECTS_RECENT];
    struct pct_object *mutex[PCT_OBJECTS_RECENT];
};

/* Numbers are as wide as a record has them. */
#define PCT_OBJECT_NUMBER UINT32_C(0x1ffffff)

/* A number of its own for what gets no object here: a location in memory. */
static inline uint32_t pct_object_number(struct pct_objects *objects)
{
    return ++objects->numbered & PCT_OBJECT_NUMBER;
}

int pct_objects_start(struct pct_objects *objects, void *(*map)(size_t size));

/* The slow half of pct_object_at(). */
struct pct_object *pct_objects_find(struct pct_objects *objects, uint64_t key);

/* The object of this address and class if it stands in its own place in the table; NULL: ask pct_object_at(). */
static inline struct pct_object *pct_object_quick(const struct pct_objects *objects, const volatile void *at,
                                                  enum pct_class class_)
{
    uint64_t key = PCT_OBJECT_KEY(at, class_);
    struct pct_object_slot *slot = &objects->slots[(key * UINT64_C(0x9e3779b97f4a7c15)) >> objects->shift];
    return __builtin_expect(slot->key == key, 1) ? slot->object : NULL;
}

static inline uint32_t pct_object_place(const volatile void *at)
{
    return (uint32_t)(uintptr_t)at * UINT32_C(0x9e3779b1) >> (32 - PCT_OBJECTS_RECENT_LOG);
}

/* The same for a mutex, in half the instructions if it was used lately. */
static inline struct pct_object *pct_object_mutex(struct pct_objects *objects, const volatile void *at)
{
    uint32_t place = pct_object_place(at);
    if (__builtin_expect(objects->mutex_at[place] == at, 1)) {
        if (!objects->mutex[place])
            __builtin_unreachable();
        return objects->mutex[place];
    }
    struct pct_object *object = pct_object_quick(objects, at, PCT_CLASS_MUTEX);
    if (object) {
        objects->mutex_at[place] = at;
        objects->mutex[place] = object;
    }
    return object;
}

/* The object of this address and class; it gets a number if it is new. Never NULL: without memory, an object that
 * stands for all others, with number 0. */
static inline struct pct_object *pct_object_at(struct pct_objects *objects, const volatile void *at,
                                               enum pct_class class_)
{
    struct pct_object *object = pct_object_quick(objects, at, class_);
    return object ? object : pct_objects_find(objects, PCT_OBJECT_KEY(at, class_));
}

/* The objects that are known: each stands in one of these places, in the others is NULL. */
static inline uint32_t pct_objects_room(const struct pct_objects *objects)
{
    return UINT32_C(1) << (64 - objects->shift);
}

static inline const struct pct_object *pct_objects_slot(const struct pct_objects *objects, uint32_t place)
{
    return objects->slots[place].object;
}

/* The object if it is known, else NULL. */
struct pct_object *pct_object_known(struct pct_objects *objects, const volatile void *at, enum pct_class class_);

/* It has been initialised anew: a new number, nothing remembered. The same if nobody waits for it; if somebody does,
 * the program is wrong, and the object stays. */
struct pct_object *pct_object_init(struct pct_objects *objects, const volatile void *at, enum pct_class class_);

/* It has been destroyed: forgotten, unless somebody waits for it. */
void pct_object_destroy(struct pct_objects *objects, struct pct_object *object);

#endif
