/* Keeping a trace: `pct run -t FILE` and --save DIR. The recorder's file has a large record area, most of it a hole;
 * what is kept here is compact, and appears under its name only when it is whole. */
#include "trace_read.h"
#include <cli/base/replacement.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int pct_trace_write(const struct pct_trace *trace, FILE *out)
{
    union {
        struct pct_trace_header header;
        char bytes[PCT_TRACE_HEADER_SIZE];
    } head;
    memset(&head, 0, sizeof head);
    head.header = trace->header;
    head.header.version = PCT_TRACE_FLAT;
    uint64_t records_size = trace->count * sizeof *trace->records;
    uint64_t end = PCT_TRACE_HEADER_SIZE + records_size;
    head.header.records_size = records_size;
    head.header.first = trace->first;
    head.header.snapshot = trace->snapshot ? end : 0;
    head.header.snapshot_size = trace->snapshot ? trace->snapshot_size : 0;
    /* A run that was killed keeps the 0 here, and its records their end: the end of the file. */
    if (head.header.verdict != PCT_VERDICT_RUNNING)
        head.header.file_size = end + head.header.snapshot_size;
    fwrite(&head, sizeof head, 1, out);
    if (records_size)
        fwrite(trace->records, records_size, 1, out);
    if (trace->snapshot)
        fwrite(trace->snapshot, trace->snapshot_size, 1, out);
    return fflush(out) || ferror(out) ? -errno : 0;
}

int pct_trace_save(const struct pct_trace *trace, const char *path, char *error, size_t error_size)
{
    char temporary[4096];
    int fd = pct_replacement_aside(temporary, sizeof temporary, path, 0600);
    if (fd < 0) {
        snprintf(error, error_size, "%s", fd == -ENAMETOOLONG ? "the name is too long" : strerror(-fd));
        return fd;
    }
    FILE *out = fdopen(fd, "w");
    int failed = out ? pct_trace_write(trace, out) : -errno;
    if ((out ? fclose(out) : close(fd)) && !failed)
        failed = -errno;
    if (!failed && rename(temporary, path))
        failed = -errno;
    if (failed) {
        snprintf(error, error_size, "%s", strerror(-failed));
        unlink(temporary);
    }
    return failed;
}
