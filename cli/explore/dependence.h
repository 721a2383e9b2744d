/* Which events commute: the one table on which everything that `pct explore` says rests. Pure. */
#ifndef PCT_CLI_DEPENDENCE_H
#define PCT_CLI_DEPENDENCE_H

#include "execution.h"

/* Two uses of one object, by two threads, one right behind the other: whether the other order leads to the same state
 * and results, and neither order keeps one of them from being made. */
bool pct_uses_commute(enum pct_use a, enum pct_use b);

/* Whether this key is that of a location in memory; whether two touches are of one object, or have a location in
 * common. */
bool pct_touch_is_memory(uint64_t key);
bool pct_touches_meet(const struct pct_touch *a, const struct pct_touch *b);

/* How the event uses what has this key, or some of it; NULL: not. */
const struct pct_touch *pct_event_find_touch(const struct pct_event *event, uint64_t key);

/* Whether any of their touches do. */
bool pct_events_meet(const struct pct_event *a, const struct pct_event *b);

/* Whether two events do not commute: of one thread, or with an object that they use in ways that do not. */
bool pct_events_depend(const struct pct_event *a, const struct pct_event *b);

/* The same, if what they free did not count. */
bool pct_operations_depend(const struct pct_event *a, const struct pct_event *b);

/* The first crashes, and would as it was if it came behind the second. */
bool pct_event_crashes_behind(const struct pct_event *crash, const struct pct_event *event);

/* Whether the first event, known from where it came before the second, can as well come behind it, which was made in
 * its place: as if they did not depend, but for what the first would find then. It is changed to that. */
bool pct_event_passes(struct pct_event *event, const struct pct_event *made);

/* What an operation may do to its object if nothing is known of its result; op, object's key, and the event's thread
 * are set. For pending operations. */
void pct_event_suppose(struct pct_event *event, uint64_t key);

/* The use that an operation made of the object of its record. arg: of the record. False: op has no row here. *none: it
 * uses no object, or one that only its own thread has. */
bool pct_use_of(enum pct_op op, uint32_t arg, enum pct_use *use, bool *none);

/* The key of what it uses, whatever its record says; 0: that has it. */
uint64_t pct_op_key(enum pct_op op);

/* What a thread that is about to do this, on the object of this key, waits for. */
uint64_t pct_wait_key(enum pct_op op, uint64_t key);

/* Whether the event used this between scheduling points, and not by its operation. */
bool pct_touch_is_hidden(const struct pct_event *event, const struct pct_touch *touch);

/* Whether what a thread is about to do may be impossible until somebody else has done something. */
bool pct_op_waits(enum pct_op op);

/* The same event, but as if nothing were known of its result: when others go before it, that may be another. */
struct pct_event pct_event_open(const struct pct_event *event);

#endif
