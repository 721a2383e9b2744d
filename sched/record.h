/* The trace: records of steps, in blocks, with a running hash by blocks. On the baton holder's turn. */
#ifndef PCT_SCHED_RECORD_H
#define PCT_SCHED_RECORD_H

#include "sched.h"

/* Start recording. header: where the results go (may be private memory). records, max: the record area and how many fit;
 * memory comes from host->populate(). max = 0: keep only the last steps, in a ring. Returns 0 or -ENOMEM. */
int pct_record_start(struct pct_sched *s, struct pct_trace_header *header, uint64_t *records, uint64_t max);

/* The block being filled is full: hash it, and make room for the next one. */
void pct_record_turn(struct pct_sched *s);

/* The hash over all steps so far. */
uint64_t pct_record_hash(const struct pct_sched *s);

/* Write what is known into the header. */
void pct_record_finish(struct pct_sched *s);

/* The last `count` records, oldest first, copied into out; returns how many there are. */
uint32_t pct_record_last(const struct pct_sched *s, uint64_t *out, uint32_t count);

#endif
