/* Reading a trace file: the only way in which the command looks at one. It believes nothing that the file says: after
 * pct_trace_parse() every offset, count and string in struct pct_trace is safe to use, whatever the bytes were.
 * tests/unit/fuzz_trace.c feeds it with noise. The format is in <pct/trace.h> and docs/TRACE.md. */
#ifndef PCT_CLI_TRACE_READ_H
#define PCT_CLI_TRACE_READ_H

#include <pct/trace.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* What pct_trace_parse() finds. */
enum pct_trace_state {
    PCT_TRACE_GOOD,
    PCT_TRACE_EMPTY,   /* nobody wrote a header into it, or only the launcher did: header.pid is 0 */
    PCT_TRACE_FOREIGN, /* not a trace */
    PCT_TRACE_NEWER,   /* of a version that this reader does not know */
    PCT_TRACE_DAMAGED  /* truncated, or its contents contradict each other */
};

struct pct_trace {
    struct pct_trace_header header; /* a copy; its strings are terminated */
    const uint64_t *records;        /* inside the data, or unpacked; NULL if there are none */
    uint64_t count;                 /* records that stand in the file and are whole */
    uint64_t first;                 /* the number, from 0, of the first of them */
    const unsigned char *snapshot;  /* inside the data, 8-byte aligned, or NULL */
    size_t snapshot_size;
    bool complete;  /* all steps of the run are recorded */
    char note[256]; /* what is wrong with a part that the rest can do without, or "" */
    void *map;      /* pct_trace_open(): what pct_trace_close() gives back */
    size_t map_size;
    void *unpacked; /* pct_trace_parse(): likewise */
    size_t unpacked_size;
    void *copy; /* or this, of a small file */
};

/* Look at `size` bytes at `data` (8-byte aligned; they must stay while the trace is used, until pct_trace_close()). On
 * anything but GOOD, error has one line for the user, without the name of the file. EMPTY leaves the trace usable:
 * header, no records. */
enum pct_trace_state pct_trace_parse(struct pct_trace *trace, const void *data, size_t size, char *error,
                                     size_t error_size);

/* The same for a file that is mapped or, if it is small, read. A file that cannot be opened, or is not a regular file,
 * is FOREIGN, with the reason in error. */
enum pct_trace_state pct_trace_open(struct pct_trace *trace, const char *path, char *error, size_t error_size);
enum pct_trace_state pct_trace_open_fd(struct pct_trace *trace, int fd, char *error, size_t error_size);
void pct_trace_close(struct pct_trace *trace);

/* The hash over the first `count` records: docs/TRACE.md. */
uint64_t pct_trace_hash(const uint64_t *records, uint64_t count);

/* The steps of the run; where it was killed before it could count them, those that were recorded. */
uint64_t pct_trace_steps(const struct pct_trace *trace);
/* Its scheduling points as its strategy counts them, which may be fewer. */
uint64_t pct_trace_points(const struct pct_trace *trace);

/* The sections of the snapshot, one after the other: *at is 0 at first. False at the end, or where the section would
 * leave the snapshot. *data has section->size bytes. */
bool pct_trace_next_section(const struct pct_trace *trace, size_t *at, struct pct_snap_section *section,
                            const unsigned char **data);

/* The traces of other processes of the run, which this one has in its snapshot, one after the other: *at is 0 at first.
 * False: no more. *number: the process's. To be closed, before the trace that it is in. */
bool pct_trace_next_process(const struct pct_trace *trace, size_t *at, uint32_t *number, struct pct_trace *process);

/* Likewise those of which it has none, though it was to: they were killed, or went on. */
bool pct_trace_next_missing(const struct pct_trace *trace, size_t *at, uint32_t *number);

/* Whether a file that exists at this path may be replaced by a trace: it is empty, or a trace that this reader
 * understands. If not, error says why. A path without a file is fine, if its directory is there and can be written. */
bool pct_trace_may_replace(const char *path, char *error, size_t error_size);

/* Write the trace, without the room that the recorder left for more records. Returns 0, or a negative errno. */
int pct_trace_write(const struct pct_trace *trace, FILE *out);

/* Write the trace so to a file of its own; an older trace of this name is replaced at once or not at all. Returns 0, or
 * a negative errno with a message in error. */
int pct_trace_save(const struct pct_trace *trace, const char *path, char *error, size_t error_size);

#endif
