/* The log of an explored run (common/exploration.h). All of these do nothing in other runs, and are called with the
 * baton. */
#ifndef PCT_SCHED_LOG_H
#define PCT_SCHED_LOG_H

#include "sched.h"
#include <common/exploration.h>

/* This run is an explored one: what the channel plans is its strategy's plan. Before pct_sched_start(). */
void pct_log_start(struct pct_sched *s, struct pct_channel *channel);

void pct_log_add(struct pct_channel *channel, struct pct_log_entry entry);

/* What a thread, or an object, is called in all runs; memory by its location. */
static inline uint64_t pct_log_key(const struct pct_object *object)
{
    if (!object)
        return 0;
    uint64_t address = object->class_ == PCT_CLASS_THREAD   ? object->number
                       : object->class_ == PCT_CLASS_MEMORY ? object->address & ~(uint64_t)7
                                                            : object->address;
    return PCT_OBJECT_KEY(address, object->class_);
}

static inline void pct_log(const struct pct_sched *s, enum pct_log_kind kind, uint32_t thread, uint32_t value)
{
    if (PCT_UNLIKELY(s->log != NULL))
        pct_log_add(s->log,
                    (struct pct_log_entry){ .kind = (uint8_t)kind, .thread = (uint16_t)thread, .value = value });
}

/* The step that the running thread is making is also this operation on this object. */
static inline void pct_log_touch(const struct pct_sched *s, enum pct_op op, const struct pct_object *object)
{
    if (PCT_UNLIKELY(s->log != NULL))
        pct_log_add(s->log,
                    (struct pct_log_entry){ .kind = PCT_LOG_TOUCH, .op = (uint8_t)op, .key = pct_log_key(object) });
}

/* The same for memory: the locations, of eight aligned bytes, of this many bytes. */
static inline void pct_log_memory(const struct pct_sched *s, enum pct_op op, uintptr_t address, size_t size)
{
    const uintptr_t first = address & ~(uintptr_t)7, last = (address + size - 1) & ~(uintptr_t)7;
    if (PCT_UNLIKELY(s->log != NULL))
        pct_log_add(s->log, (struct pct_log_entry){ .kind = PCT_LOG_TOUCH,
                                                    .op = (uint8_t)op,
                                                    .value = (uint32_t)((last - first) / 8),
                                                    .key = PCT_OBJECT_KEY(first, PCT_CLASS_MEMORY) });
}

/* The running thread gives up a block of this many bytes. */
void pct_log_freed(const struct pct_sched *s, uintptr_t address, size_t size, bool told);

/* Behind an operation on this semaphore, what it counts now; when a thread arrives at this barrier, how many are still
 * to. */
static inline void pct_log_value(const struct pct_sched *s, const struct pct_object *object, uint32_t value)
{
    if (PCT_UNLIKELY(s->log != NULL))
        pct_log_add(s->log,
                    (struct pct_log_entry){ .kind = PCT_LOG_VALUE, .value = value, .key = pct_log_key(object) });
}

/* The running thread comes to its end: which mutexes that gives up. */
void pct_log_end(const struct pct_sched *s, const struct pct_thread *self);

/* The running thread has used, beside its operation, what has this key. read: it has changed nothing. */
void pct_log_hidden(const struct pct_sched *s, uint64_t key, bool read);

/* What is said of all schedules holds only if what the run does here has no part in it. */
static inline void pct_log_assumption(const struct pct_sched *s, enum pct_assumption assumption)
{
    if (PCT_UNLIKELY(s->log != NULL))
        s->log->assumes |= 1u << assumption;
}

/* The run does what exploration cannot see. */
static inline void pct_log_doubt(const struct pct_sched *s, enum pct_doubt doubt)
{
    if (PCT_UNLIKELY(s->log != NULL))
        s->log->doubts |= 1u << doubt;
}

/* Likewise, at this place in the code. */
static inline void pct_log_doubt_at(const struct pct_sched *s, enum pct_doubt doubt, uintptr_t pc)
{
    if (s->log && !(s->log->doubts >> doubt & 1))
        pct_log_add(s->log,
                    (struct pct_log_entry){ .kind = PCT_LOG_DOUBT, .op = (uint8_t)doubt, .value = (uint32_t)pc });
    pct_log_doubt(s, doubt);
}

#endif
