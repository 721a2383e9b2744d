/* The reader of traces: see trace_read.h. Called by run, replay and report, and by the fuzzer. */
#include "trace_read.h"
#include <common/hash.h>
#include <common/pack.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

_Static_assert(sizeof(struct pct_trace_header) <= PCT_TRACE_HEADER_SIZE, "the header fits");
/* The offsets that docs/TRACE.md tells other readers; a change of the format needs a new PCT_TRACE_VERSION. */
_Static_assert(offsetof(struct pct_trace_header, hash) == 56 && offsetof(struct pct_trace_header, verdict) == 232 &&
                   offsetof(struct pct_trace_header, snapshot) == 264 &&
                   offsetof(struct pct_trace_header, token) == 344 &&
                   offsetof(struct pct_trace_header, command) == 1880 &&
                   offsetof(struct pct_trace_header, places) == 3944 && sizeof(struct pct_place) == 96 &&
                   offsetof(struct pct_trace_header, request) == 5484 && sizeof(struct pct_snap_thread) == 184 &&
                   sizeof(struct pct_snap_object) == 24,
               "docs/TRACE.md describes this format");

static bool is_zero(const void *data, size_t size)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size; i++)
        if (bytes[i])
            return false;
    return true;
}

static void terminate_strings(struct pct_trace_header *header)
{
    header->strategy[sizeof header->strategy - 1] = 0;
    header->token[sizeof header->token - 1] = 0;
    header->message[sizeof header->message - 1] = 0;
    header->command[sizeof header->command - 1] = 0;
    for (unsigned i = 0; i < PCT_PLACES; i++)
        header->places[i].where[sizeof header->places[i].where - 1] = 0;
}

/* How many of the records at `records` are whole: those of a run that was killed end at the first zero. */
static uint64_t count_whole(const uint64_t *records, uint64_t most, bool *bad)
{
    for (uint64_t i = 0; i < most; i++) {
        if (records[i] >> 63 && PCT_RECORD_OP(records[i]) < PCT_OP_COUNT)
            continue;
        *bad = records[i] != 0;
        return i;
    }
    *bad = false;
    return most;
}

/* What the last trace was unpacked to, for the next one: a campaign opens many, and fresh memory costs more than
 * unpacking. */
static struct {
    void *at;
    size_t size;
} spare;

/* *size is rounded up. NULL: errno says why. */
static void *take_memory(size_t *size)
{
    size_t whole = 1 << 16;
    while (whole < *size)
        whole *= 2;
    if (spare.size >= whole) {
        void *at = spare.at;
        *size = spare.size;
        spare.size = 0;
        return at;
    }
    *size = whole;
    void *at = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

static void give_memory(void *at, size_t size)
{
    const size_t most = 64 << 20;
    if (spare.size >= size || size > most) {
        munmap(at, size);
        return;
    }
    if (spare.size)
        munmap(spare.at, spare.size);
    spare.at = at;
    spare.size = size;
}

/* Unpack the records of a trace that has them packed: *records, *room of them, *end behind the last byte that they
 * take. */
static enum pct_trace_state unpack(struct pct_trace *trace, const unsigned char *data, size_t size,
                                   const uint64_t **records, uint64_t *room, size_t *end, char *error,
                                   size_t error_size)
{
    struct pct_packed packed;
    if (!pct_pack_find(&packed, (const void *)data, size - PCT_TRACE_HEADER_SIZE)) {
        snprintf(error, error_size, "the trace is damaged: its packed steps do not end where they should");
        return PCT_TRACE_DAMAGED;
    }
    *room = packed.room;
    *end = PCT_TRACE_HEADER_SIZE + packed.size;
    size_t bytes = *room * sizeof **records;
    void *memory = take_memory(&bytes);
    if (!memory) {
        snprintf(error, error_size, "its steps cannot be unpacked: %s", strerror(errno));
        return PCT_TRACE_DAMAGED;
    }
    trace->unpacked = memory;
    trace->unpacked_size = bytes;
    *records = memory;
    if (pct_pack_open(&packed, memory))
        return PCT_TRACE_GOOD;
    snprintf(error, error_size, "the trace is damaged: its steps cannot be unpacked");
    return PCT_TRACE_DAMAGED;
}

/* *end: behind the last byte that records take. */
static enum pct_trace_state parse_records(struct pct_trace *trace, const unsigned char *data, size_t size, size_t *end,
                                          char *error, size_t error_size)
{
    const struct pct_trace_header *header = &trace->header;
    const uint64_t *records = (const uint64_t *)(const void *)(data + PCT_TRACE_HEADER_SIZE);
    uint64_t room = (size - PCT_TRACE_HEADER_SIZE) / sizeof *records, area = header->records_size / sizeof *records;
    if (header->version == PCT_TRACE_PACKED) {
        enum pct_trace_state state = unpack(trace, data, size, &records, &room, end, error, error_size);
        if (state != PCT_TRACE_GOOD)
            return state;
        area = room;
    }
    bool running = header->verdict == PCT_VERDICT_RUNNING;
    uint64_t expected = header->recorded;
    if (running) {
        expected = area < room ? area : room;
    } else if (expected > room) {
        snprintf(error, error_size, "the trace is truncated: %llu steps should be in it, there is room for %llu",
                 (unsigned long long)expected, (unsigned long long)room);
        return PCT_TRACE_DAMAGED;
    } else if (expected > header->steps || header->first > header->steps - expected) {
        snprintf(error, error_size, "the trace is damaged: more steps recorded than made");
        return PCT_TRACE_DAMAGED;
    }
    bool bad;
    trace->count = count_whole(records, expected, &bad);
    trace->records = trace->count ? records : NULL;
    if (header->version == PCT_TRACE_FLAT)
        *end = PCT_TRACE_HEADER_SIZE + trace->count * sizeof *records;
    if (bad || (!running && trace->count < expected)) {
        snprintf(error, error_size, "the trace is damaged: step %llu is not a record",
                 (unsigned long long)trace->count + 1);
        return PCT_TRACE_DAMAGED;
    }
    trace->first = running ? 0 : header->first;
    trace->complete = running || header->recorded == header->steps;
    if (!running && trace->complete && pct_trace_hash(records, trace->count) != header->hash) {
        snprintf(error, error_size, "the trace is damaged: its steps do not have the hash that its header states");
        return PCT_TRACE_DAMAGED;
    }
    return PCT_TRACE_GOOD;
}

/* from: behind the records. */
static void parse_snapshot(struct pct_trace *trace, const unsigned char *data, size_t from, size_t size)
{
    uint64_t offset = trace->header.snapshot, length = trace->header.snapshot_size;
    if (!offset)
        return;
    if (offset % 8 || offset < from || offset > size || length > size - offset) {
        snprintf(trace->note, sizeof trace->note, "the state at the end is damaged and left out");
        return;
    }
    trace->snapshot = data + offset;
    trace->snapshot_size = length;
}

enum pct_trace_state pct_trace_parse(struct pct_trace *trace, const void *data, size_t size, char *error,
                                     size_t error_size)
{
    memset(trace, 0, sizeof *trace);
    struct pct_trace_header *header = &trace->header;
    if (size < sizeof header->magic + sizeof header->version || memcmp(data, PCT_TRACE_MAGIC, sizeof header->magic)) {
        bool zero = is_zero(data, size < PCT_TRACE_HEADER_SIZE ? size : PCT_TRACE_HEADER_SIZE);
        snprintf(error, error_size, zero ? "not a pct trace: it is empty" : "not a pct trace");
        return zero ? PCT_TRACE_EMPTY : PCT_TRACE_FOREIGN;
    }
    memcpy(header, data, size < sizeof *header ? size : sizeof *header);
    terminate_strings(header);
    if (is_zero(header->uncontrolled, sizeof header->uncontrolled))
        memcpy(header->uncontrolled, header->uncontrolled_first, sizeof header->uncontrolled_first);
    if (header->version > PCT_TRACE_VERSION) {
        snprintf(error, error_size, "written by a newer pct: version %u; this one reads up to %u", header->version,
                 PCT_TRACE_VERSION);
        return PCT_TRACE_NEWER;
    }
    if (!header->version || size < PCT_TRACE_HEADER_SIZE || header->header_size != PCT_TRACE_HEADER_SIZE) {
        snprintf(error, error_size, "the trace is %s",
                 size < PCT_TRACE_HEADER_SIZE ? "truncated: its header is not whole"
                                              : "damaged: its header is not valid");
        return PCT_TRACE_DAMAGED;
    }
    if (!header->pid) {
        snprintf(error, error_size, "nothing was recorded in this trace: pct had no control of the target");
        return PCT_TRACE_EMPTY;
    }
    if (header->verdict >= PCT_VERDICT_COUNT) {
        snprintf(error, error_size, "the trace is damaged: its header is not valid");
        return PCT_TRACE_DAMAGED;
    }
    if (header->file_size > size) {
        snprintf(error, error_size, "the trace is truncated: %llu of its %llu bytes are there",
                 (unsigned long long)size, (unsigned long long)header->file_size);
        return PCT_TRACE_DAMAGED;
    }
    if (header->file_size > PCT_TRACE_HEADER_SIZE)
        size = header->file_size;
    size_t end = PCT_TRACE_HEADER_SIZE;
    enum pct_trace_state state = parse_records(trace, data, size, &end, error, error_size);
    if (state == PCT_TRACE_GOOD)
        parse_snapshot(trace, data, end, size);
    return state;
}

/* A short run takes a fraction of a millisecond; to map its trace, meet a page fault and unmap it is a good part of
 * that. */
enum { SMALL = 1 << 16 };

static enum pct_trace_state open_small(struct pct_trace *trace, int fd, size_t size, char *error, size_t error_size)
{
    char *copy = malloc(size);
    size_t done = 0;
    ssize_t got = 0;
    while (copy && done < size && ((got = pread(fd, copy + done, size - done, (off_t)done)) > 0 || errno == EINTR))
        done += got > 0 ? (size_t)got : 0;
    if (!copy || got < 0) {
        snprintf(error, error_size, "cannot read it: %s", strerror(errno));
        free(copy);
        return PCT_TRACE_FOREIGN;
    }
    enum pct_trace_state state = pct_trace_parse(trace, copy, done, error, error_size);
    trace->copy = copy;
    return state;
}

/* How much of the file is to be read: the scratch file of a run that has ended by itself is as long as a trace may be,
 * also of one that was not recorded. */
static size_t used_size(int fd, size_t size)
{
    struct pct_trace_header header;
    if (size <= SMALL || pread(fd, &header, sizeof header, 0) != sizeof header || !header.launcher)
        return size;
    if (!header.pid)
        return PCT_TRACE_HEADER_SIZE;
    return header.file_size >= PCT_TRACE_HEADER_SIZE && header.file_size <= size ? header.file_size : size;
}

enum pct_trace_state pct_trace_open_fd(struct pct_trace *trace, int fd, char *error, size_t error_size)
{
    struct stat status;
    memset(trace, 0, sizeof *trace);
    if (fstat(fd, &status)) {
        snprintf(error, error_size, "%s", strerror(errno));
        return PCT_TRACE_FOREIGN;
    }
    if (!S_ISREG(status.st_mode)) {
        snprintf(error, error_size, "not a pct trace: not a regular file");
        return PCT_TRACE_FOREIGN;
    }
    if (!status.st_size)
        return pct_trace_parse(trace, "", 0, error, error_size);
    size_t used = used_size(fd, (size_t)status.st_size);
    if (used <= SMALL)
        return open_small(trace, fd, used, error, error_size);
    void *map = mmap(NULL, used, PROT_READ, MAP_PRIVATE, fd, 0);
    if (map == MAP_FAILED) {
        snprintf(error, error_size, "cannot map it: %s", strerror(errno));
        return PCT_TRACE_FOREIGN;
    }
    enum pct_trace_state state = pct_trace_parse(trace, map, used, error, error_size);
    trace->map = map;
    trace->map_size = used;
    return state;
}

enum pct_trace_state pct_trace_open(struct pct_trace *trace, const char *path, char *error, size_t error_size)
{
    /* O_NONBLOCK: a name that turns out to be a pipe must not make us wait. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        memset(trace, 0, sizeof *trace);
        snprintf(error, error_size, "%s", strerror(errno));
        return PCT_TRACE_FOREIGN;
    }
    enum pct_trace_state state = pct_trace_open_fd(trace, fd, error, error_size);
    close(fd);
    return state;
}

void pct_trace_close(struct pct_trace *trace)
{
    if (trace->map)
        munmap(trace->map, trace->map_size);
    if (trace->unpacked)
        give_memory(trace->unpacked, trace->unpacked_size);
    free(trace->copy);
    memset(trace, 0, sizeof *trace);
}

bool pct_trace_next_process(const struct pct_trace *trace, size_t *at, uint32_t *number, struct pct_trace *process)
{
    struct pct_snap_section section;
    const unsigned char *data;
    char error[256];
    while (pct_trace_next_section(trace, at, &section, &data)) {
        *number = section.thread;
        if (section.type != PCT_SNAP_PROCESS)
            continue;
        memset(process, 0, sizeof *process);
        if (pct_trace_parse(process, data, section.size, error, sizeof error) == PCT_TRACE_GOOD)
            return true;
        pct_trace_close(process);
    }
    return false;
}

bool pct_trace_next_missing(const struct pct_trace *trace, size_t *at, uint32_t *number)
{
    struct pct_snap_section section;
    const unsigned char *data;
    while (pct_trace_next_section(trace, at, &section, &data)) {
        *number = section.thread;
        if (section.type == PCT_SNAP_PROCESS && !section.size)
            return true;
    }
    return false;
}

uint64_t pct_trace_hash(const uint64_t *records, uint64_t count)
{
    uint64_t hash = 0;
    for (; count >= PCT_TRACE_BLOCK; records += PCT_TRACE_BLOCK, count -= PCT_TRACE_BLOCK)
        hash = pct_hash_records(records, PCT_TRACE_BLOCK, hash);
    return count ? pct_hash_records(records, count, hash) : hash;
}

uint64_t pct_trace_steps(const struct pct_trace *trace)
{
    return trace->header.verdict == PCT_VERDICT_RUNNING ? trace->count : trace->header.steps;
}

uint64_t pct_trace_points(const struct pct_trace *trace)
{
    return trace->header.points ? trace->header.points : pct_trace_steps(trace);
}

bool pct_trace_next_section(const struct pct_trace *trace, size_t *at, struct pct_snap_section *section,
                            const unsigned char **data)
{
    size_t left = trace->snapshot_size - *at;
    if (!trace->snapshot || *at > trace->snapshot_size || left < sizeof *section)
        return false;
    memcpy(section, trace->snapshot + *at, sizeof *section);
    left -= sizeof *section;
    if (!section->type || section->size > left)
        return false;
    *data = trace->snapshot + *at + sizeof *section;
    uint64_t padded = (section->size + 7) & ~UINT64_C(7);
    *at += sizeof *section + (padded < left ? padded : left);
    return true;
}

/* Whether a file can be made in the directory of this path; errno says why not. */
static bool has_place(const char *path)
{
    char directory[PATH_MAX];
    const char *slash = strrchr(path, '/');
    snprintf(directory, sizeof directory, "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
    return !access(directory, W_OK | X_OK);
}

bool pct_trace_may_replace(const char *path, char *error, size_t error_size)
{
    struct stat status;
    bool there = !lstat(path, &status);
    if ((!there && errno != ENOENT) || !has_place(path)) {
        snprintf(error, error_size, "%s", strerror(errno));
        return false;
    }
    if (!there)
        return true;
    if (!S_ISREG(status.st_mode)) {
        snprintf(error, error_size, "it exists and is not a regular file");
        return false;
    }
    if (!status.st_size)
        return true;
    struct pct_trace trace;
    char reason[256];
    enum pct_trace_state state = pct_trace_open(&trace, path, reason, sizeof reason);
    /* A damaged trace may be all that is left of a failure: keep it too. */
    bool may = state == PCT_TRACE_GOOD;
    pct_trace_close(&trace);
    if (!may)
        snprintf(error, error_size, "it exists and would be overwritten (%s)", reason);
    return may;
}
