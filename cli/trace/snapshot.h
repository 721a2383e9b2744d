/* The state of all threads at the end of a run, as a trace's snapshot holds it. Reads the sections once, into arrays
 * that the reports and the unwinder use. The text and the bytes stay inside the trace. */
#ifndef PCT_CLI_SNAPSHOT_H
#define PCT_CLI_SNAPSHOT_H

#include "trace_read.h"

struct pct_snap_memory {
    uint64_t address;
    uint64_t size;
    const unsigned char *bytes;
};

/* Where a thread stood before a step, with a copy of its stack. */
struct pct_snap_stop {
    uint64_t step; /* from 1 */
    uint32_t thread;
    uint64_t regs[17];
    struct pct_snap_memory memory;
};

struct pct_snapshot {
    const char *maps; /* /proc/self/maps, not terminated; NULL if there is none */
    size_t maps_size;
    struct pct_snap_thread *threads; /* in the order of the file */
    size_t thread_count;
    struct pct_snap_memory *memory; /* copies of stacks */
    size_t memory_count;
    struct pct_snap_object *objects;
    size_t object_count;
    const struct pct_site *sites; /* by step from the first; NULL: not recorded */
    uint64_t site_count;
    struct pct_snap_stop *stops;
    size_t stop_count;
    struct pct_snap_point *points; /* names that can be printed, each with a zero behind it */
    size_t point_count;
    struct pct_snap_race *races;
    size_t race_count;
    const struct pct_snap_script_note *script_notes; /* in the order of the run */
    size_t script_note_count;
    uint32_t script_parts;                 /* lines for other processes; those that ended have traces in this one */
    const char *script_name, *script_text; /* each with a zero behind it; NULL: the run had no script */
    const char *script_orders;             /* what all processes did, for the strategy `processes`; NULL: not known */
};

/* Returns 0, or -ENOMEM. A trace without a snapshot gives an empty one. */
int pct_snapshot_read(struct pct_snapshot *snapshot, const struct pct_trace *trace);
void pct_snapshot_free(struct pct_snapshot *snapshot);

/* The thread with this id, or NULL. */
const struct pct_snap_thread *pct_snapshot_thread(const struct pct_snapshot *snapshot, uint32_t id);

/* The object with this number, or NULL. */
const struct pct_snap_object *pct_snapshot_object(const struct pct_snapshot *snapshot, uint32_t number);

/* What the program calls its point that has this number; NULL: not known. */
const char *pct_snapshot_point(const struct pct_snapshot *snapshot, uint32_t number);

/* Where the step of this index (from the trace's first) was made; NULL: not recorded. */
const struct pct_site *pct_snapshot_site(const struct pct_snapshot *snapshot, uint64_t index);

/* The class of what this thread waits for, by the object if it is in the snapshot, else by the operation. */
unsigned pct_snapshot_wait_class(const struct pct_snapshot *snapshot, const struct pct_snap_thread *thread);

/* The thread that this thread waits for: the holder of its object, or the one that it joins. PCT_NO_THREAD if it does
 * not wait, or nobody knows. */
uint32_t pct_snapshot_waits_for(const struct pct_snapshot *snapshot, const struct pct_snap_thread *thread);

/* Find a cycle of threads that wait for each other. Writes at most `max` ids, in the order of waiting, beginning with
 * the smallest; returns how many there are, 0 if there is no cycle. */
size_t pct_snapshot_cycle(const struct pct_snapshot *snapshot, uint32_t *ids, size_t max);

#endif
