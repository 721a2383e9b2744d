/* The trace: records of steps, in blocks, with a running hash by blocks. On the baton holder's turn. */
#ifndef PCT_SCHED_RECORD_H
#define PCT_SCHED_RECORD_H

#include "sched.h"

/* Start recording. header: where the results go (may be private memory). records, max: the record area and how many
 * fit; memory comes from host->populate(). max = 0: keep only the last steps, in a ring. Returns 0 or -ENOMEM. */
int pct_record_start(struct pct_sched *s, struct pct_trace_header *header, uint64_t *records, uint64_t max);

/* After pct_record_start() with an area for PCT_PACK_AREA: when that is full, the end of it is used again, and `size`
 * bytes at `area` (8-byte aligned, zeroed, memory by host->populate()) take what stood there, packed (common/pack.h).
 * The process may be killed at any moment: header and both areas always make a trace. */
void pct_record_pack(struct pct_sched *s, void *area, size_t size);

/* Where the packed blocks end, and a 0 behind them; NULL: none were. */
char *pct_record_packed_end(const struct pct_sched *s);

/* The mapping of the trace is shorter from now on: no record area, and no packed block, goes beyond this address. */
void pct_record_cut(struct pct_sched *s, char *end);

/* Bytes from the header on that must stay mapped: what has memory, or will have before blocks are packed. */
size_t pct_record_held(const struct pct_sched *s);

/* The record before last by `back` (1: the last one), which is at most PCT_TRACE_BLOCK. */
uint64_t pct_record_before(const struct pct_sched *s, uint64_t back);

/* The block being filled is full: hash it, and make room for the next one. Under a scheduler, pct_sched_turn() calls
 * this. */
void pct_record_turn(struct pct_sched *s);

/* The trace is about to be finished, maybe by a thread without the baton: its holder, who may make some steps more,
 * leaves it alone from the end of this block on. Waits for a turn that is under way. */
void pct_record_close(struct pct_sched *s);

/* The process is about to become another program: what the next one's header says of this one (images_open). */
void pct_record_leave(struct pct_sched *s);

/* Write what is known into the header. After pct_record_close(). */
void pct_record_finish(struct pct_sched *s);

/* The last `count` records, oldest first, copied into out; returns how many there are. */
uint32_t pct_record_last(const struct pct_sched *s, uint64_t *out, uint32_t count);

#endif
